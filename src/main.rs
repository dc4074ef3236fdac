//! The `synctail` program.
#![allow(dead_code, unused_imports)]
mod policy;
mod record;
mod report;
mod substrate;
mod verdict;
fn main() {}
