//! A file system that knows the answer: delays and faults below the file-system call, by a script, and
//! a ledger of when they really happened.
//!
//! A measuring instrument is compared with the ledger and not with the script: what the script asks
//! for is late by what the scheduler adds, what the ledger says is what the caller waited for.
//! README.md shows the script format and the program for trying it by hand.

#![forbid(unsafe_code)]

mod draw;
mod gate;
mod ledger;
mod mount;
mod schedule;
mod script;
mod serve;
mod tree;
mod wait;

pub use ledger::{Entry, Kind, Ledger, Outcome};
pub use mount::Rig;
pub use script::{
    Bimodal, Effect, Fault, FsyncMode, Hang, Lognormal, Rules, Script, ScriptError, Span, Stall,
};
