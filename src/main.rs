//! The `synctail` program.
#![allow(dead_code, unused_imports)]
mod policy;
mod quantity;
mod record;
mod report;
mod substrate;
mod verdict;
fn main() {}
