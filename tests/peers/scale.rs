//! Many workers and many samples: that it works, and that memory is what the plan says beforehand.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::Options;
use crate::contest::Bar;
use crate::figures::is_trial;
use crate::memory::watched;
use crate::place::directory;

/// All of it.
pub fn run(options: &Options) -> Result<()> {
    let tmpfs = directory(Path::new("/dev/shm"))?;
    let disk = directory(options.disk())?;
    println!("\nmany workers, 20 pairs each");
    let (many, rings) = if is_trial() { (20, 10) } else { (1_000, 500) };
    for (name, dir) in [("tmpfs", tmpfs.path()), ("disk", disk.path())] {
        workers(name, dir, "syscall/fdatasync", many)?;
        workers(name, dir, "uring-linked/fdatasync", rings)?;
    }
    samples(tmpfs.path())
}

fn workers(name: &str, dir: &Path, arm: &str, count: u64) -> Result<()> {
    let start = Instant::now();
    let count = count.to_string();
    let (record, peak) =
        watched(dir, &["--arm", arm, "--workers", &count, "--iters", "20", "--timeout", "5m"])?;
    let (seconds, mib) = (start.elapsed().as_secs_f64(), peak.together >> 20);
    let pairs = integer(&record, "counters", "pairs")?;
    let code = integer(&record, "verdict", "exit_code")?;
    println!(
        "  {name:<6} {arm:<24} {count:>5} workers: {pairs} pairs, exit {code}, {seconds:.1} s, {mib} MiB"
    );
    Ok(())
}

/// What a run takes above the same run of hardly any samples is what its samples take.
fn samples(dir: &Path) -> Result<()> {
    let many = if is_trial() { 100_000 } else { 10_000_000 };
    println!("\nmany samples on tmpfs");
    let mut base = 0;
    for count in [500, many] {
        let count = count.to_string();
        let start = Instant::now();
        let (record, peak) =
            watched(dir, &["--iters", &count, "--layout", "overwrite", "--pin", "0"])?;
        let seconds = start.elapsed().as_secs_f64();
        let wall = record["wall_ns"].as_f64().context("no wall_ns")? / 1e9;
        let planned = integer(&record, "plan", "memory_bytes")?;
        let [parent, child, together] = [peak.parent, peak.child, peak.together].map(mib);
        println!("  {count} samples: {seconds:.1} s, {wall:.1} s of them measured");
        println!("    peak: parent {parent:.1} MiB, child {child:.1}, together {together:.1}");
        if base == 0 {
            base = peak.together;
            continue;
        }
        let taken = peak.together.saturating_sub(base);
        let share = taken as f64 / planned as f64;
        let bar = Bar::AtMost(1.0).judged(share);
        let (taken, planned) = (mib(taken), mib(planned));
        println!(
            "    above the small run {taken:.1} MiB of {planned:.1} planned: {share:.3}  {bar}"
        );
    }
    Ok(())
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn integer(record: &Value, part: &str, key: &str) -> Result<u64> {
    record[part][key].as_u64().with_context(|| format!("no {part}.{key}"))
}
