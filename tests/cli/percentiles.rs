//! Every percentile again, from the saved samples and by nothing but its definition.

use std::fs;

use serde_json::Value;

use crate::support::{Cmd, Folder, rings_are_used};

/// Key, and the quantile as a fraction: the integer arithmetic of the definition.
const PERCENTILES: [(&str, u64, u64); 6] = [
    ("p50_ns", 50, 100),
    ("p90_ns", 90, 100),
    ("p95_ns", 95, 100),
    ("p99_ns", 99, 100),
    ("p99_9_ns", 999, 1_000),
    ("p99_99_ns", 9_999, 10_000),
];

/// The sample at index `max(0, floor(n * q) - 1)` of the ascending samples.
fn exact(sorted: &[u64], numerator: u64, denominator: u64) -> u64 {
    let rank = sorted.len() as u64 * numerator / denominator;
    sorted[rank.saturating_sub(1) as usize]
}

fn column(worker: &Value, part: &str) -> Option<Vec<u64>> {
    let values = worker.get(format!("{part}_ns"))?.as_array()?;
    Some(values.iter().map(|value| value.as_u64().unwrap()).collect())
}

fn check_distribution(d: &Value, samples: &[u64], what: &str) {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let n = sorted.len() as u64;
    assert_eq!(d["count"], n, "{what}");
    assert_eq!(d["min_ns"], sorted[0], "{what}");
    assert_eq!(d["max_ns"], sorted[sorted.len() - 1], "{what}");
    let mean = sorted.iter().sum::<u64>() as f64 / n as f64;
    let recorded = d["mean_ns"].as_f64().unwrap();
    assert!((recorded - mean).abs() <= mean * 1e-9, "{what}: mean {recorded}, not {mean}");
    let mut missing = Vec::new();
    let mut last = sorted[0];
    for (key, numerator, denominator) in PERCENTILES {
        // At least one sample must lie above the percentile.
        if n * (denominator - numerator) < denominator {
            assert!(d.get(key).is_none(), "{what}: {key} of {n} samples");
            missing.push(key);
            continue;
        }
        let expected = exact(&sorted, numerator, denominator);
        assert_eq!(d[key], expected, "{what}: {key} of {n} samples");
        assert!(last <= expected, "{what}: {key} falls");
        last = expected;
    }
    assert!(last <= sorted[sorted.len() - 1], "{what}: above the maximum");
    let named: Vec<&str> = match d.get("too_few_samples") {
        Some(names) => names.as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect(),
        None => Vec::new(),
    };
    assert_eq!(named, missing, "{what}");
    check_interval(d, &sorted, what);
}

fn check_interval(d: &Value, sorted: &[u64], what: &str) {
    let Some(interval) = d.get("p99_interval_ns") else { return };
    let bounds: Vec<u64> =
        interval.as_array().unwrap().iter().map(|ns| ns.as_u64().unwrap()).collect();
    let p99 = d["p99_ns"].as_u64().unwrap();
    assert!(bounds[0] <= p99 && p99 <= bounds[1], "{what}: {bounds:?} around {p99}");
    assert!(bounds.iter().all(|ns| sorted.binary_search(ns).is_ok()), "{what}: {bounds:?}");
}

/// Runs, and compares every distribution of the record with its samples.
fn check_run(args: &str, parts: &[&str]) -> Value {
    let folder = Folder::in_memory();
    let (place, file) = (folder.with_dir("place"), folder.at("record.json"));
    let outcome = Cmd::check(&place).args(args).arg("--save").arg(&file).run().exits(4);
    let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{e}: {}", outcome.all()));
    let record: Value = serde_json::from_str(&text).unwrap();
    let samples = record["samples"]["workers"].as_array().unwrap();
    let workers = record["distributions"]["workers"].as_array().unwrap();
    for part in ["write", "barrier", "total"] {
        let has = parts.contains(&part);
        let mut pooled = Vec::new();
        for (own, distribution) in samples.iter().zip(workers) {
            assert_eq!(own["worker"], distribution["worker"]);
            let own = column(own, part);
            assert_eq!(own.is_some(), has, "{args}: {part}");
            assert_eq!(distribution.get(part).is_some(), has, "{args}: {part}");
            let Some(own) = own else { continue };
            let what = format!("{args}: {part} of worker {}", distribution["worker"]);
            check_distribution(&distribution[part], &own, &what);
            pooled.extend(own);
        }
        let recorded = record["distributions"]["pooled"].get(part);
        assert_eq!(recorded.is_some(), has, "{args}: pooled {part}");
        if let Some(recorded) = recorded {
            check_distribution(recorded, &pooled, &format!("{args}: {part} pooled"));
        }
    }
    record
}

#[test]
fn percentiles_are_samples_at_the_defined_index_for_any_count() {
    for pairs in [1, 2, 9, 10, 19, 20, 99, 100, 101, 500, 999, 1_000, 1_001, 9_999, 10_000] {
        check_run(&format!("--iters {pairs}"), &["write", "barrier", "total"]);
    }
}

#[test]
fn pooled_means_merged_and_the_worst_worker_decides() {
    for workers in [2, 5] {
        let args = format!("--iters 300 --workers {workers}");
        let record = check_run(&args, &["write", "barrier", "total"]);
        let own = record["distributions"]["workers"].as_array().unwrap();
        let worst = own.iter().map(|w| w["barrier"]["p99_ns"].as_u64().unwrap()).max();
        assert_eq!(record["verdict"]["judged"], "worst_worker");
        assert_eq!(record["verdict"]["p99_ns"].as_u64(), worst);
    }
}

#[test]
fn an_arm_has_exactly_the_parts_that_it_can_time() {
    let _rings = rings_are_used();
    for (arm, parts) in [
        ("syscall/fsync", &["write", "barrier", "total"][..]),
        ("syscall/dsync", &["total"]),
        ("syscall/o_sync", &["total"]),
        ("syscall/none", &["write", "total"]),
        ("uring/fdatasync", &["write", "barrier", "total"]),
        ("uring/dsync", &["total"]),
        ("uring-linked/fdatasync", &["total"]),
        ("uring-linked/fsync --depth 8", &["total"]),
        ("uring/fsync --depth 4 --workers 2", &["write", "barrier", "total"]),
    ] {
        check_run(&format!("--iters 150 --arm {arm}"), parts);
    }
}

#[test]
fn a_pair_is_at_least_its_parts_and_pairs_follow_each_other() {
    let folder = Folder::in_memory();
    let (place, file) = (folder.with_dir("place"), folder.at("record.json"));
    Cmd::check(&place).args("--iters 2000 --save").arg(&file).run().exits(4);
    let record: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let own = &record["samples"]["workers"][0];
    let starts = column(own, "start").unwrap();
    let [write, barrier, total] = ["write", "barrier", "total"].map(|p| column(own, p).unwrap());
    for i in 0..total.len() {
        // Each part is scaled from ticks by itself, so that each may be cut by a nanosecond.
        assert!(total[i] + 2 >= write[i] + barrier[i], "pair {i}");
        if i > 0 {
            assert!(starts[i] + 2 >= starts[i - 1] + total[i - 1], "pair {i} overlaps at depth 1");
        }
    }
    let end = starts[total.len() - 1] + total[total.len() - 1];
    let wall = record["wall_ns"].as_u64().unwrap();
    assert!(wall.abs_diff(end) <= 2, "wall {wall}, last end {end}");
}
