//! What each program printed, read. Functions of text alone: `tests/peers.rs` holds them to copies.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// What one run of one program gave; nothing where it does not tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Writes made durable, by the wall clock.
    pub ops_per_s: f64,
    /// Median of what it times.
    pub p50_ns: Option<f64>,
    /// Tail of the same.
    pub p99_ns: Option<f64>,
}

/// The barrier alone, from a record of ours.
pub fn synctail_barrier(record: &str) -> Result<Reading> {
    synctail(record, "barrier")
}

/// Write and barrier, from a record of ours.
pub fn synctail_pair(record: &str) -> Result<Reading> {
    synctail(record, "total")
}

fn synctail(record: &str, part: &str) -> Result<Reading> {
    let record: Value = serde_json::from_str(record).context("synctail's record")?;
    let status = record["status"].as_str().unwrap_or("?");
    ensure!(status == "complete", "synctail's run is {status}");
    let part = &record["distributions"]["pooled"][part];
    Ok(Reading {
        ops_per_s: record["pairs_per_s"].as_f64().context("no pairs_per_s")?,
        p50_ns: part["p50_ns"].as_f64(),
        p99_ns: part["p99_ns"].as_f64(),
    })
}

/// The barrier alone, from fio's JSON. Notes may stand before it.
pub fn fio(printed: &str) -> Result<Reading> {
    let start = printed.find('{').context("no JSON of fio")?;
    let json: Value = serde_json::from_str(&printed[start..]).context("fio's JSON")?;
    let job = &json["jobs"][0];
    let percentile = |key| job["sync"]["lat_ns"]["percentile"][key].as_f64();
    Ok(Reading {
        ops_per_s: job["write"]["iops"].as_f64().context("no iops in fio's JSON")?,
        p50_ns: percentile("50.000000"),
        p99_ns: percentile("99.000000"),
    })
}

/// The first row named fdatasync: one write of 8 KiB. Later ones write twice.
pub fn pg_test_fsync(printed: &str) -> Result<Reading> {
    let mut words = printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let row = words.find(|words| words.first() == Some(&"fdatasync"));
    let row = row.context("no fdatasync in pg_test_fsync's table")?;
    let rate = row.get(1).and_then(|rate| rate.parse().ok());
    let ops_per_s = rate.filter(|_| row.get(2) == Some(&"ops/sec"));
    let ops_per_s = ops_per_s.with_context(|| format!("no ops/sec in {row:?}"))?;
    Ok(Reading { ops_per_s, p50_ns: None, p99_ns: None })
}

/// Each request of `ioping -J` apart from its warm-up, ranked as ours are; the rate of its `load`, which
/// counts the time between requests too.
pub fn ioping(printed: &str) -> Result<Reading> {
    let json: Value = serde_json::from_str(printed).context("ioping's JSON")?;
    let entries = json.as_array().context("ioping's JSON is no list")?;
    let timed = entries.iter().filter(|entry| entry["io"]["ignored"] == false);
    let mut times_ns: Vec<f64> = timed.filter_map(|entry| entry["io"]["time"].as_f64()).collect();
    times_ns.sort_by(f64::total_cmp);
    let at = |percent| times_ns.get(rank(times_ns.len(), percent)?).copied();
    let rate = entries.iter().find_map(|entry| entry["load"]["iops"].as_f64());
    Ok(Reading {
        ops_per_s: rate.context("no load in ioping's JSON")?,
        p50_ns: at(50),
        p99_ns: at(99),
    })
}

/// Whole events, from the histogram of `sysbench --histogram=on`: its one percentile is not enough.
pub fn sysbench(printed: &str) -> Result<Reading> {
    let rate = printed.lines().find_map(|line| line.trim().strip_prefix("writes/s:"));
    let rate = rate.and_then(|rate| rate.trim().parse().ok());
    let buckets: Vec<(f64, usize)> = printed.lines().filter_map(bucket).collect();
    let count = buckets.iter().map(|&(_, count)| count).sum();
    let at = |percent| {
        let mut left = rank(count, percent)?;
        let found = buckets.iter().find(|&&(_, count)| {
            let here = left < count;
            left = left.saturating_sub(count);
            here
        });
        found.map(|&(value_ms, _)| value_ms * 1e6)
    };
    Ok(Reading {
        ops_per_s: rate.context("no writes/s in sysbench's output")?,
        p50_ns: at(50),
        p99_ns: at(99),
    })
}

/// `value |***** count`
fn bucket(line: &str) -> Option<(f64, usize)> {
    let (value, bar) = line.split_once('|')?;
    Some((value.trim().parse().ok()?, bar.split_whitespace().last()?.parse().ok()?))
}

/// Where a percentile stands among `count` sorted samples, by the rule of docs/measuring.md; nothing where
/// too few would have to carry it.
fn rank(count: usize, percent: usize) -> Option<usize> {
    (count >= 100 / (100 - percent)).then(|| (count * percent / 100).saturating_sub(1))
}
