//! Whether the flush happened: swallowed ones are caught, and honest ones are not accused.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

mod bar; // twenty fakes, sixty honest runs
mod preloaded; // libraries that answer in the kernel's place
mod swallowed; // devices and options that keep a flush from the disk

use std::path::Path;

use serde_json::Value;

use crate::support::{Cmd, Outcome, rings_are_used};

/// A short run of `arm`, with its record.
fn run(cmd: Cmd, arm: &str) -> (Outcome, Value) {
    let _rings = rings_are_used();
    let outcome = cmd.args("--iters 120 --arm").arg(arm).run();
    let record = outcome.json();
    (outcome, record)
}

/// Not durable, for the reason `code`, whatever the latency.
fn is_caught(outcome: &Outcome, record: &Value, code: &str) {
    let all = outcome.all();
    assert_eq!(record["verdict"]["durability"], "not_durable", "{all}");
    assert_eq!(outcome.code, Some(4), "{all}");
    let findings = record["verdict"]["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["code"] == code), "{code}: {all}");
}

/// Unproved, with what is missing, or proved; never accused.
fn is_not_accused(place: &Path, arm: &str) -> Value {
    let (outcome, record) = run(Cmd::check_json(place), arm);
    let all = outcome.all();
    assert_eq!(record["status"], "complete", "{all}");
    assert_ne!(record["verdict"]["durability"], "not_durable", "{arm}: {all}");
    let evidence = record["verdict"]["durability_evidence"].as_str().unwrap();
    assert!(!evidence.is_empty(), "{all}");
    record
}

/// Flushes that the last device of the stack completed for each barrier of the probe, others' included: no
/// honest device completes fewer than one.
fn flushes_per_barrier(record: &Value) -> f64 {
    let proof = &record["proof"];
    let of = |value: &Value| value.as_u64().unwrap() as f64;
    let last = record["substrate"]["block"].as_array().unwrap().last().unwrap()["name"].clone();
    let counters = proof["counters"].as_array().unwrap();
    let counter = counters.iter().find(|c| c["kind"] == "flushes" && c["node"] == last).unwrap();
    let barriers = of(&proof["libc_barriers"]) + of(&proof["raw_barriers"]);
    (of(&counter["libc"]) + of(&counter["raw"])) / barriers
}
