//! Signals at any moment: the program always ends, says how far it came, and leaves nothing behind.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

mod moments; // SIGINT and SIGTERM from start to end, once and twice
mod others; // stopped, continued, and signals that mean nothing to a measurement
mod partial; // what an interrupted run reports

use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::support::{Outcome, Running, assert_clean, eventually, measuring_in, names_in};

/// How long anything may take that ends by itself.
const PATIENCE: Duration = Duration::from_secs(10);

/// The exit code that a signal leads to.
fn code_of(signal: Signal) -> i32 {
    128 + signal as i32
}

/// Waits until a run has begun to write in `place`.
fn until_it_writes(place: &Path) {
    let begun = || {
        let dirs = names_in(place).into_iter().map(|name| place.join(name));
        dirs.into_iter().any(|dir| dir.join("w00000-000000").exists())
    };
    assert!(eventually(PATIENCE, begun), "nothing was made in {}", place.display());
}

/// Sends `signal`, once or more often, and waits for an end that must come soon.
fn end_by(mut running: Running, signal: Signal, times: u32) -> Outcome {
    for _ in 0..times {
        running.signal(signal);
    }
    let outcome = running.wait_for(PATIENCE);
    outcome.unwrap_or_else(|| panic!("not over {PATIENCE:?} after {signal}"))
}

/// Asserts that neither files nor processes of a run in `place` are left, soon after its end.
#[track_caller]
fn leaves_nothing(place: &Path, outcome: &Outcome) {
    let gone = || measuring_in(place).is_empty();
    assert!(eventually(PATIENCE, gone), "a process is left: {}", outcome.all());
    assert_clean(place);
}
