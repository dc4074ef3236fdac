//! Peers on the same work.

fn main() {}
