//! Every key of the document, with its type: what a program that reads it relies on.

use std::fs;

use serde_json::Value;

use crate::support::{Cmd, Folder, rings_are_used};

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Text,
    Whole,
    Number,
    Truth,
    List,
    Map,
}
use Kind::{List, Map, Number, Text, Truth, Whole};

fn kind_is(value: &Value, kind: Kind) -> bool {
    match kind {
        Text => value.as_str().is_some_and(|text| !text.is_empty()),
        Whole => value.is_u64(),
        Number => value.as_f64().is_some_and(f64::is_finite),
        Truth => value.is_boolean(),
        List => value.is_array(),
        Map => value.is_object(),
    }
}

#[track_caller]
fn has(record: &Value, keys: &[(&str, Kind)]) {
    for (pointer, kind) in keys {
        let value = record.pointer(pointer);
        let value = value.unwrap_or_else(|| panic!("no {pointer} in {record:#}"));
        assert!(kind_is(value, *kind), "{pointer} is no {kind:?}: {value}");
    }
}

/// In every document, whatever became of the run.
const ALWAYS: &[(&str, Kind)] = &[
    ("/schema", Text),
    ("/tool/name", Text),
    ("/tool/version", Text),
    ("/tool/target", Text),
    ("/started_at", Text),
    ("/command", List),
    ("/command/0", Text),
    ("/status", Text),
    ("/in_flight", List),
];

/// Once a path is known.
const PLANNED: &[(&str, Kind)] = &[
    ("/plan/path", Text),
    ("/plan/arm", Text),
    ("/plan/block_size_bytes", Whole),
    ("/plan/workers", Whole),
    ("/plan/iterations", Whole),
    ("/plan/warmup", Whole),
    ("/plan/layout", Text),
    ("/plan/files", Text),
    ("/plan/file_size_bytes", Whole),
    ("/plan/max_bytes", Whole),
    ("/plan/depth", Whole),
    ("/plan/metric", Text),
    ("/plan/policy", Text),
    ("/plan/pin", Text),
    ("/plan/seed", Whole),
    ("/effective/cpus", List),
    ("/effective/cpus/0", Whole),
    ("/effective/scheduling_class", Text),
    ("/clock/source", Text),
    ("/clock/read_ns", Number),
    ("/clock/drift_ppm", Number),
    ("/substrate/filesystem", Text),
    ("/substrate/mount", Map),
    ("/substrate/mount/source", Text),
    ("/substrate/block", List),
    ("/substrate/machine", Map),
    ("/substrate/machine/kernel", Text),
    ("/substrate/unknown", List),
    ("/counters", Map),
    ("/counters/pairs", Whole),
];

/// Once a pair was completed.
const MEASURED: &[(&str, Kind)] = &[
    ("/distributions/pooled", Map),
    ("/distributions/workers/0/worker", Whole),
    ("/distributions/workers/0/cpu", Whole),
    ("/wall_ns", Whole),
    ("/pairs_per_s", Number),
];

/// Of every distribution with enough samples.
const DISTRIBUTION: &[(&str, Kind)] = &[
    ("/count", Whole),
    ("/min_ns", Whole),
    ("/mean_ns", Number),
    ("/p50_ns", Whole),
    ("/p90_ns", Whole),
    ("/p95_ns", Whole),
    ("/p99_ns", Whole),
    ("/p99_9_ns", Whole),
    ("/max_ns", Whole),
    ("/too_few_samples", List),
];

/// Once it was judged.
const JUDGED: &[(&str, Kind)] = &[
    ("/verdict/policy", Text),
    ("/verdict/metric", Text),
    ("/verdict/judged", Text),
    ("/verdict/judged_on", Text),
    ("/verdict/p99_ns", Whole),
    ("/verdict/band", Text),
    ("/verdict/durability", Text),
    ("/verdict/confidence", Text),
    ("/verdict/pass", Truth),
    ("/verdict/exit_code", Whole),
    ("/verdict/recommendation", Map),
    ("/verdict/recommendation/reason", Text),
    ("/verdict/prediction/server_ns", Whole),
    ("/verdict/prediction/deadline_ns", Whole),
    ("/verdict/prediction/pub_ack/0/replicas", Whole),
    ("/verdict/prediction/pub_ack/0/server", Text),
    ("/verdict/prediction/pub_ack/0/flushes", Whole),
    ("/verdict/prediction/pub_ack/0/p50_ns", Whole),
    ("/verdict/prediction/pub_ack/0/p99_ns", Whole),
    ("/verdict/prediction/create_stream/0/replicas", Whole),
    ("/verdict/prediction/create_stream/0/clustered", Truth),
    ("/verdict/prediction/create_stream/0/server", Text),
    ("/verdict/prediction/create_stream/0/sync", Text),
    ("/verdict/prediction/create_stream/0/flushes", Whole),
    ("/verdict/prediction/create_stream/0/mean_ns", Whole),
    ("/verdict/prediction/create_stream/0/exceeds_deadline", Truth),
    ("/verdict/prediction/intervals/0/sync_interval", Text),
    ("/verdict/prediction/intervals/0/at_risk_ns", Whole),
    ("/verdict/prediction/intervals/0/stall_share", Number),
    ("/verdict/prediction/intervals/0/stall_share_r3", Number),
    ("/verdict/findings", List),
];

const FINDING: &[(&str, Kind)] = &[("/code", Text), ("/severity", Text), ("/text", Text)];

/// Nothing in the document is a stand-in for an absent value.
fn has_no_stand_ins(value: &Value, at: &str) {
    match value {
        Value::Null => assert!(
            at == "/verdict" || at.starts_with("/effective/cpus/"),
            "{at} is null: absent is absent"
        ),
        Value::String(text) => {
            assert!(!text.is_empty() || at.starts_with("/command/"), "{at} is empty");
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, v)| has_no_stand_ins(v, &format!("{at}/{i}")));
        }
        Value::Object(map) => {
            map.iter().for_each(|(key, v)| has_no_stand_ins(v, &format!("{at}/{key}")));
        }
        Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn a_complete_run_has_every_key() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    let file = folder.at("record.json");
    let cmd = Cmd::check(&place).args("--iters 1000 --arm syscall/fdatasync --save").arg(&file);
    let outcome = cmd.run();
    let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{e}: {}", outcome.all()));
    let record: Value = serde_json::from_str(&text).unwrap();
    for keys in [ALWAYS, PLANNED, MEASURED, JUDGED] {
        has(&record, keys);
    }
    for part in ["write", "barrier", "total"] {
        has(&record["distributions"]["pooled"][part], DISTRIBUTION);
        has(&record["distributions"]["workers"][0][part], DISTRIBUTION);
        has(&record["samples"]["workers"][0], &[(&format!("/{part}_ns"), List)]);
    }
    for finding in record["verdict"]["findings"].as_array().unwrap() {
        has(finding, FINDING);
    }
    assert!(record.get("error").is_none(), "only of a run that failed");
    assert_eq!(
        (&record["schema"], &record["status"]),
        (&"synctail.record/1".into(), &"complete".into())
    );
    has_no_stand_ins(&record, "");
    has_utc_time(&record["started_at"]);
}

fn has_utc_time(text: &Value) {
    let text = text.as_str().unwrap();
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00Z", "{text}");
}

#[test]
fn a_ring_says_what_is_in_force() {
    let _rings = rings_are_used();
    let folder = Folder::in_memory();
    let cmd = Cmd::check_json(folder.path()).args("--arm uring-linked/fsync --iters 100");
    let outcome = cmd.args("--depth 4 --registered --iowq other").run().exits(4);
    let record = outcome.json();
    has(&record, &[("/effective/ring/flags", List), ("/effective/ring/flags/0", Text)]);
    has(&record, &[("/counters/enters", Whole)]);
    assert_eq!(record["effective"]["ring"]["registered"], true);
    assert_eq!(record["effective"]["ring"]["iowq"], "other");
    let outcome = Cmd::check_json(folder.path()).args("--iters 100").run().exits(4);
    assert!(outcome.json()["effective"].get("ring").is_none(), "{}", outcome.all());
}

#[test]
fn a_failure_has_its_error_and_nothing_made_up() {
    let folder = Folder::new();
    for (path, args, code) in [
        (folder.at("none"), "", 3),
        (folder.path().to_owned(), "--iters 0", 2),
        (folder.path().to_owned(), "--depth 3", 2),
        (folder.path().to_owned(), "--arm syscall/fsync+direct --block-size 2300", 3),
    ] {
        let outcome = Cmd::check_json(&path).args(args).run().exits(code);
        let record = outcome.json();
        has(&record, ALWAYS);
        has(
            &record,
            &[("/error/stage", Text), ("/error/operation", Text), ("/error/message", Text)],
        );
        assert_eq!(record["status"], "failed", "{}", outcome.all());
        assert!(record["verdict"].is_null() && record.as_object().unwrap().contains_key("verdict"));
        assert!(record.get("distributions").is_none(), "{}", outcome.all());
        has_no_stand_ins(&record, "");
    }
}
