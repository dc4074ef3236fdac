//! What a filesystem, a limit or a neighbour may do to a run: one clear message, the right code, one
//! JSON document, nothing left behind and nothing overwritten.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

mod contention; // a CPU that others use
mod direct; // O_DIRECT refused or misaligned
mod leftovers; // parent or child killed; two runs in one directory
mod limits; // open files, processes, memory
mod quota; // EDQUOT on btrfs
mod rights; // read-only mounts and foreign directories
mod short; // file size limits: short writes and EFBIG
mod space; // ENOSPC

use serde_json::Value;

use crate::support::{Cmd, assert_clean};

/// A run that is to fail while it measures, with what it had measured kept: its record, in which the
/// error is not looked at yet.
#[track_caller]
fn fails_while_measuring(cmd: Cmd, place: &std::path::Path) -> Value {
    let outcome = cmd.run();
    let all = outcome.all();
    let record = outcome.failure();
    let error = &record["error"];
    assert_eq!(error["stage"], "measure", "{all}");
    let pairs = record["counters"]["pairs"].as_u64().unwrap();
    assert!(pairs > 0, "{all}");
    assert_eq!(record["distributions"]["pooled"]["total"]["count"], pairs, "{all}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(&format!("after {pairs} complete pairs")), "{all}");
    assert!(error["remedy"].as_str().is_some_and(|text| !text.is_empty()), "{all}");
    assert_clean(place);
    record
}

/// Asserts an errno by number and by name.
#[track_caller]
fn has_errno(record: &Value, errno: i32, name: &str) {
    let error = &record["error"];
    assert_eq!((&error["errno"], &error["errno_name"]), (&errno.into(), &name.into()), "{error}");
    assert!(error["message"].as_str().unwrap().contains(name), "{error}");
}
