//! How long one waits: from the command to its first write, and to its verdict, with defaults.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::Options;
use crate::contest::Bar;
use crate::figures::{Spread, is_trial};
use crate::place::directory;
use crate::tool::{SYNCTAIL, is_there};

/// Both figures on the disk.
pub fn run(options: &Options) -> Result<()> {
    let dir = directory(options.disk())?;
    let runs = if is_trial() { 1 } else { 15 };
    println!("\nsynctail check with defaults, {runs} runs, median [quartiles]");
    let walls: Result<Vec<f64>> = (0..runs).map(|_| to_verdict_ms(dir.path())).collect();
    let wall = Spread::of(walls?);
    let bar = Bar::AtMost(1_000.0).judged(wall.median);
    println!("  start to verdict      {wall:.1} ms  {bar}");
    if !is_there("strace")? {
        return Ok(());
    }
    let firsts: Result<Vec<f64>> = (0..runs).map(|_| to_first_write_ms(dir.path())).collect();
    let first = Spread::of(firsts?);
    let bar = Bar::AtMost(30.0).judged(first.median);
    println!("  start to first write  {first:.1} ms  {bar} (strace's own time included)");
    Ok(())
}

fn to_verdict_ms(dir: &Path) -> Result<f64> {
    let start = Instant::now();
    let status = Command::new(SYNCTAIL).arg("check").arg(dir).stdout(Stdio::null()).status()?;
    let wall = start.elapsed();
    ensure!(matches!(status.code(), Some(0 | 1 | 4)), "synctail: {status}");
    Ok(wall.as_secs_f64() * 1e3)
}

/// From execve to the first pwrite64, by strace's clock. Only these two calls stop the program.
fn to_first_write_ms(dir: &Path) -> Result<f64> {
    let log = dir.join("strace");
    let status = Command::new("strace")
        .args(["-f", "--seccomp-bpf", "-ttt", "-e", "trace=execve,pwrite64", "-o"])
        .arg(&log)
        .args([SYNCTAIL, "check"])
        .arg(dir)
        .args(["--iters", "10"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    ensure!(matches!(status.code(), Some(0 | 1 | 4)), "strace: {status}");
    let trace = std::fs::read_to_string(&log)?;
    let first = |call: &str| {
        let line = trace.lines().find(|line| line.contains(call));
        let time = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        time.with_context(|| format!("no {call} in strace's output"))
    };
    Ok((first("pwrite64(")? - first("execve(")?) * 1e3)
}
