//! The rig: what was injected below the file-system call is what the program reports.
//!
//! Samples are compared with the rig's ledger, which knows what each operation really took, and not with
//! the script that it was asked for.

// Helpers of tests fail as tests do; clippy's exemption knows only functions marked as tests.
#![allow(clippy::unwrap_used)]

mod accuracy; // samples against the ledger, one by one
mod errors; // EIO, EINTR, ENOSPC, EDQUOT, short writes: the first one ends the run
mod hangs; // operations that never return, and --timeout
mod itself; // the rig does what it says
mod rates; // open and closed loops on the same stall
mod samples; // what a saved record and the ledger say of each operation
mod signals; // SIGINT and SIGTERM while an operation hangs
mod stalls; // the rare long ones
mod stand; // a mounted rig, a run against it, and what came of it
