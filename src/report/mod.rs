//! Reports: a record as text for a person and as JSON for a program.
//!
//! Pure: the same record gives the same bytes, on any machine.

pub mod json;
pub mod text;
mod trace;

mod advice;
pub mod details;
pub mod lines;
