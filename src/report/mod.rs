//! Reports: a record as text and as a page for a person, as JSON for a program.
//!
//! Pure: the same record gives the same bytes, on any machine.

mod axis;
pub mod csv;
pub mod fleet;
pub mod hdr;
pub mod html;
pub mod imported;
pub mod json;
pub mod plot;
pub mod prometheus;
pub mod text;
mod trace;

mod advice;
pub mod details;
mod lanes;
pub mod lines;
mod nines;
