//! The programs that are compared, as commands with their JSON.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::contest::Figures;

/// The binary under measurement, built like a release.
pub const SYNCTAIL: &str = env!("CARGO_BIN_EXE_synctail");

/// A program, under SCHED_FIFO if that is wanted.
pub fn command(program: impl AsRef<std::ffi::OsStr>, fifo: bool) -> Command {
    if !fifo {
        return Command::new(program);
    }
    let mut command = Command::new("chrt");
    command.args(["-f", "10"]).arg(program);
    command
}

/// `synctail check` with JSON; a result that does not pass is a result.
pub fn check(dir: &Path, args: &[&str], fifo: bool) -> Result<Value> {
    let output = command(SYNCTAIL, fifo)
        .arg("check")
        .arg(dir)
        .args(args)
        .args(["--format", "json", "--quiet"])
        .stdin(Stdio::null())
        .output()
        .context("synctail")?;
    record(&output)
}

/// The record on standard output.
pub fn record(output: &Output) -> Result<Value> {
    let complaint = String::from_utf8_lossy(&output.stderr);
    if !matches!(output.status.code(), Some(0 | 1 | 4)) {
        bail!("synctail: {}: {complaint}", output.status);
    }
    serde_json::from_slice(&output.stdout).with_context(|| format!("no JSON: {complaint}"))
}

/// Figures of a record, with the percentiles of `part`; NaN where a short run does not carry one.
pub fn figures(record: &Value, part: &str) -> Result<Figures> {
    let part = &record["distributions"]["pooled"][part];
    Ok(Figures {
        pairs_per_s: record["pairs_per_s"].as_f64().context("no pairs_per_s")?,
        p50_ns: part["p50_ns"].as_f64().unwrap_or(f64::NAN),
        p99_ns: part["p99_ns"].as_f64().unwrap_or(f64::NAN),
    })
}

/// Work for fio that is the same as ours: whole files beforehand, then 4 KiB in order over them.
#[derive(Clone, Debug)]
pub struct Fio {
    engine: &'static str,
    jobs: usize,
    dir: PathBuf,
    run_ms: u64,
    fifo: bool,
}

/// As large as ours by default.
const FILE_BYTES: usize = 16 << 20;

impl Fio {
    /// Writes one file for each job, so that fio finds written blocks and lays out nothing itself.
    pub fn prepare(engine: &'static str, jobs: usize, dir: &Path, run_ms: u64) -> Result<Fio> {
        let mut seed = 0x9e37_79b9_7f4a_7c15u64;
        let random = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed.to_ne_bytes()
        };
        let bytes: Vec<u8> =
            std::iter::repeat_with(random).take(FILE_BYTES / 8).flatten().collect();
        for job in 0..jobs {
            let file = dir.join(format!("fio.{job}"));
            std::fs::write(&file, &bytes)?;
            std::fs::File::open(&file)?.sync_all()?;
        }
        Ok(Fio { engine, jobs, dir: dir.to_owned(), run_ms, fifo: false })
    }

    /// Whether to run it under SCHED_FIFO.
    pub fn fifo(self, fifo: bool) -> Fio {
        Fio { fifo, ..self }
    }

    /// The command line, threads pinned to CPU 0.
    pub fn line(&self) -> String {
        let Fio { engine, jobs, run_ms, .. } = self;
        format!(
            "fio --name=fio --filename_format=fio.$jobnum --rw=write --bs=4k --size=16m \
             --fdatasync=1 --iodepth=1 --time_based --thread --cpus_allowed=0 --group_reporting \
             --output-format=json --ioengine={engine} --numjobs={jobs} --runtime={run_ms}ms"
        )
    }

    /// One run.
    pub fn run(&self) -> Result<Figures> {
        let output = command("fio", self.fifo)
            .current_dir(&self.dir)
            .args(self.line().split(' ').skip(1))
            .stdin(Stdio::null())
            .output()
            .context("fio")?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            bail!("fio: {}: {complaint}", output.status);
        }
        let reading = crate::output::fio(&String::from_utf8(output.stdout)?)?;
        Ok(Figures {
            pairs_per_s: reading.ops_per_s,
            p50_ns: reading.p50_ns.context("fio's sync percentiles")?,
            p99_ns: reading.p99_ns.context("fio's sync percentiles")?,
        })
    }
}

/// Whether a program can be run here. If not, that is said, and is an error where it is required.
pub fn is_there(program: &str) -> Result<bool> {
    match Command::new(program).arg("--version").stdout(Stdio::null()).status() {
        Ok(_) => Ok(true),
        Err(error) => skip(program, &error.to_string()).map(|()| false),
    }
}

/// Says what cannot be shown here; an error where SYNCTAIL_REQUIRE names it.
pub fn skip(what: &str, why: &str) -> Result<()> {
    println!("skipped: {what}: {why}");
    let required = std::env::var("SYNCTAIL_REQUIRE").unwrap_or_default();
    if required.split(',').any(|name| name.trim() == what) {
        bail!("SYNCTAIL_REQUIRE names {what}: {why}");
    }
    Ok(())
}
