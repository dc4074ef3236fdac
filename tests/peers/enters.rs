//! io_uring_enter calls per pair: as the record counts them, and as strace does.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::Options;
use crate::figures::{is_trial, judge};
use crate::place::directory;
use crate::tool::{SYNCTAIL, is_there, record};

/// One depth after the other.
pub fn run(options: &Options) -> Result<()> {
    let dir = directory(options.disk())?;
    let pairs = if is_trial() { 20 } else { 2_000 };
    println!("\nio_uring_enter calls of {pairs} linked pairs (strace: warm-up included)");
    let with_strace = is_there("strace")?;
    for depth in [1, 4, 16] {
        let count = counted(dir.path(), depth, pairs, with_strace)?;
        let Count { enters, pairs, warmup, traced } = count;
        let share = enters as f64 / pairs as f64;
        let bar = match depth {
            1 => format!("exactly 1: {}", judge(enters == pairs)),
            _ => format!("below 1: {}", judge(share < 1.0)),
        };
        println!("  depth {depth:<3} counted {enters} / {pairs} = {share:.3}  {bar}");
        if let Some(traced) = traced {
            // At depth 1 warm-up pairs cost one call each as well.
            let agreed = depth > 1 || traced == enters + warmup;
            println!("            strace {traced}, warm-up {warmup} pairs  {}", judge(agreed));
        }
    }
    Ok(())
}

struct Count {
    enters: u64,
    pairs: u64,
    warmup: u64,
    traced: Option<u64>,
}

fn counted(dir: &Path, depth: u64, pairs: u64, with_strace: bool) -> Result<Count> {
    let log = dir.join("strace");
    let mut command = Command::new(if with_strace { "strace" } else { SYNCTAIL });
    if with_strace {
        command.args(["-f", "-c", "-e", "trace=io_uring_enter", "-o"]).arg(&log).arg(SYNCTAIL);
    }
    let (depth, pairs) = (depth.to_string(), pairs.to_string());
    command
        .arg("check")
        .arg(dir)
        .args(["--arm", "uring-linked/fdatasync", "--layout", "overwrite", "--pin", "0"])
        .args(["--depth", &depth, "--iters", &pairs, "--format", "json", "--quiet"])
        .stdin(Stdio::null());
    let counters = record(&command.output()?)?["counters"].clone();
    let number = |key: &str| counters[key].as_u64().with_context(|| format!("no counter {key}"));
    let traced = with_strace.then(|| calls_in(&std::fs::read_to_string(&log)?)).transpose()?;
    Ok(Count {
        enters: number("enters")?,
        pairs: number("pairs")?,
        warmup: number("warmup_pairs")?,
        traced,
    })
}

/// The fourth column of strace's line: share, seconds, microseconds a call, calls.
fn calls_in(summary: &str) -> Result<u64> {
    let line = summary.lines().find(|line| line.ends_with("io_uring_enter"));
    let calls = line.and_then(|line| line.split_whitespace().nth(3)?.parse().ok());
    calls.with_context(|| format!("no io_uring_enter in strace's summary:\n{summary}"))
}
