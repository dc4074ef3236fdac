//! Every arm on real filesystems: it runs, or says in one clear message why it cannot; and the record
//! names what lies under the path.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

mod layered; // overlay, bind mounts, loops on loops, memory in disguise
mod plain; // ext4, xfs, btrfs, tmpfs

use std::path::Path;

use serde_json::Value;

use crate::support::{ARMS, Cmd, assert_clean, heavy, rings_are_used};

/// What a filesystem is expected to be.
struct Expected {
    /// Its type in the record.
    filesystem: &'static str,
    /// Whether a power cut would take what was flushed.
    not_durable: bool,
}

/// Runs every arm in `place` and returns the record of the first one.
fn every_arm_runs(place: &Path, expected: &Expected) -> Value {
    let _rings = rings_are_used();
    let mut first = None;
    for arm in ARMS {
        let outcome = Cmd::check_json(place).args("--iters 20 --arm").arg(arm).run();
        let (all, record) = (outcome.all(), outcome.json());
        assert_eq!(record["substrate"]["filesystem"], expected.filesystem, "{all}");
        assert_clean(place);
        if record["status"] == "failed" {
            is_clear_refusal(&record, &all);
            assert!(arm.ends_with("+direct"), "only direct I/O may be refused: {all}");
            outcome.exits(3);
            continue;
        }
        assert_eq!(record["status"], "complete", "{all}");
        assert_eq!(record["counters"]["pairs"], 20, "{all}");
        let not_durable = expected.not_durable || arm.contains("/none");
        let durability = if not_durable { "not_durable" } else { "unproved" };
        assert_eq!(record["verdict"]["durability"], durability, "{all}");
        // A second and more for the slowest of 20 pairs: then the disk is broken, and not we.
        let broken = record["verdict"]["band"] == "BROKEN";
        outcome.exits(if not_durable { 4 } else { i32::from(broken) });
        first.get_or_insert(record);
    }
    first.expect("at least the buffered arms run")
}

fn is_clear_refusal(record: &Value, all: &str) {
    let error = &record["error"];
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("direct") || message.contains("EINVAL"), "{all}");
    assert!(error["remedy"].as_str().is_some_and(|text| text.contains("+direct")), "{all}");
}

/// Names of the block stack, the filesystem's own device first.
fn block_names(record: &Value) -> Vec<String> {
    let nodes = record["substrate"]["block"].as_array().unwrap();
    nodes.iter().map(|node| node["name"].as_str().unwrap().to_owned()).collect()
}

/// Why a fact of the substrate is missing.
fn unknown(record: &Value, fact: &str) -> Option<String> {
    let all = record["substrate"]["unknown"].as_array().unwrap();
    let entry = all.iter().find(|entry| entry["fact"] == fact)?;
    Some(entry["reason"].as_str().unwrap().to_owned())
}

/// The lock under which these tests run, one at a time.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    heavy()
}
