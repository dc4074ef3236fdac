//! Who takes part: each program's command line, what it times, and which row of ours does the same.

use std::path::Path;

use anyhow::Result;

use crate::output::{
    Reading, fio, ioping, pg_test_fsync, synctail_barrier, synctail_pair, sysbench,
};
use crate::program::{self, Program, version};
use crate::tool::Fio;

/// A program that runs once a round.
pub struct Entry {
    /// The tool.
    pub key: &'static str,
    /// As it names itself, or why it cannot be run.
    pub version: Result<String, String>,
    /// Before all rounds.
    pub preparation: Option<Program>,
    /// In each.
    pub program: Program,
    /// One row each.
    pub parts: Vec<Part>,
}

/// One thing that a program times.
pub struct Part {
    /// In the table.
    pub name: &'static str,
    /// What lies between its clock reads.
    pub times: &'static str,
    /// Of one write.
    pub block: &'static str,
    /// The name and the times of the row of ours that does the same.
    pub against: Option<(&'static str, &'static str)>,
    /// Out of what was printed.
    pub read: fn(&str) -> Result<Reading>,
    /// Why a figure is missing, and what else one must know.
    pub notes: &'static [&'static str],
}

const BARRIER: &str = "barrier";
const PAIR: &str = "write + barrier";
const WRITE: &str = "write";
const OURS: &str = "synctail fdatasync";
const OURS_8K: &str = "synctail fdatasync, 8 KiB";
const O_DSYNC: &str = "synctail o_dsync";
const O_SYNC: &str = "synctail o_sync";

const AGAIN: &str = "the same program again, elsewhere in the round: how far two runs of one tool differ \
     on this disk";
const FIO: &str = "fio keeps write and fdatasync in two histograms, which do not add up to percentiles \
     of the pair; its buckets are up to 1.6 % wide";
const SYSBENCH: &str = "sysbench times the pair as one event, never the barrier alone; both percentiles \
     are ranked from its histogram (buckets 1.8 % wide, printed to 1 us), as it prints only one itself";
const IOPING: &str = "ioping prints min, avg, max and mdev, no percentile: they are ranked here from the \
     requests that -J lists; its rate includes printing that list";
const DONTNEED: &str = "without -C ioping calls fdatasync after each write, and drops the block's page \
     from the cache before it";
const PG_DASH: &str = "pg_test_fsync counts operations of a whole run and keeps no single time: no \
     percentiles; it writes blocks of 8 KiB (its WAL block, not to be changed), always the file's first";

/// Neighbours are those that are compared: drift between them is smallest.
pub fn entries(dir: &Path, run_ms: u64) -> Result<Vec<Entry>> {
    let ours = |more: &str, parts: Vec<Part>| ours(run_ms, more, parts);
    let pair = |name| part(name, PAIR, synctail_pair);
    let write = |name| part(name, WRITE, synctail_pair);
    let dsync = part("ioping -W -C -y", WRITE, ioping).against(O_DSYNC).notes(&[IOPING]);
    let sync = part("ioping -W -C -Y", WRITE, ioping).against(O_SYNC).notes(&[IOPING]);
    let uncached = part("ioping -W", PAIR, ioping).against(OURS).notes(&[IOPING, DONTNEED]);
    let again = pair("synctail fdatasync, again").against(OURS).notes(&[AGAIN]);
    Ok(vec![
        ours("", vec![part(OURS, BARRIER, synctail_barrier), pair(OURS)]),
        fio_entry(dir, run_ms)?,
        sysbench_entry(run_ms),
        ioping_entry(run_ms, "", uncached),
        ours("", vec![again]),
        ours(" --block-size 8KiB", vec![Part { block: "8 KiB", ..pair(OURS_8K) }]),
        pg_test_fsync_entry(run_ms),
        ours(" --arm syscall/o_dsync", vec![write(O_DSYNC)]),
        ioping_entry(run_ms, " -C -y", dsync),
        ours(" --arm syscall/o_sync", vec![write(O_SYNC)]),
        ioping_entry(run_ms, " -C -Y", sync),
    ])
}

fn part(name: &'static str, times: &'static str, read: fn(&str) -> Result<Reading>) -> Part {
    Part { name, times, block: "4 KiB", against: None, read, notes: &[] }
}

impl Part {
    /// Ours that times the same.
    fn against(self, name: &'static str) -> Part {
        Part { against: Some((name, self.times)), ..self }
    }

    fn notes(self, notes: &'static [&'static str]) -> Part {
        Part { notes, ..self }
    }
}

fn entry(key: &'static str, asks_version: &str, program: Program, part: Part) -> Entry {
    let version = version(key, asks_version).map_err(|error| format!("{error:#}"));
    Entry { key, version, preparation: None, program, parts: vec![part] }
}

fn ours(run_ms: u64, more: &str, parts: Vec<Part>) -> Entry {
    let line = format!(
        "synctail check . --layout overwrite --pin 0 --duration {run_ms}ms --format json \
         --quiet{more}"
    );
    let version = version(crate::tool::SYNCTAIL, "--version").map_err(|error| format!("{error:#}"));
    Entry { key: "synctail", version, preparation: None, program: Program::new(&line), parts }
}

fn fio_entry(dir: &Path, run_ms: u64) -> Result<Entry> {
    let program = Program::new(&Fio::prepare("psync", 1, dir, run_ms)?.line());
    let part = part("fio psync fdatasync=1", BARRIER, fio).against(OURS).notes(&[FIO]);
    Ok(entry("fio", "--version", program, part))
}

/// It knows whole seconds only.
fn sysbench_entry(run_ms: u64) -> Entry {
    let line = |command: &str| {
        let seconds = run_ms.div_ceil(1_000);
        Program::pinned(&format!(
            "sysbench fileio --file-num=1 --file-total-size=16M --file-block-size=4096 \
             --file-test-mode=seqrewr --file-io-mode=sync --file-fsync-all=on \
             --file-fsync-mode=fdatasync --file-fsync-end=off --threads=1 --events=0 \
             --time={seconds} --percentile=99 --histogram=on {command}"
        ))
    };
    let part = part("sysbench fileio seqrewr", PAIR, sysbench).against(OURS).notes(&[SYSBENCH]);
    let entry = entry("sysbench", "--version", line("run"), part);
    Entry { preparation: Some(line("prepare")), ..entry }
}

/// Its file is written beforehand and kept (-k): with O_SYNC that would take longer than the run.
fn ioping_entry(run_ms: u64, more: &str, part: Part) -> Entry {
    let line =
        |flags: &str| Program::pinned(&format!("ioping -W -k -L -s 4k -S 16m -i 0 {flags} ."));
    let entry = entry("ioping", "-v", line(&format!("-a 5 -w {run_ms}ms -J{more}")), part);
    Entry { preparation: Some(line("-C -c 1 -q")), ..entry }
}

/// It knows whole seconds only, and goes through all methods: enough after the second.
fn pg_test_fsync_entry(run_ms: u64) -> Entry {
    let path = program::pg_test_fsync();
    let seconds = run_ms.div_ceil(1_000);
    let program = Program::pinned(&format!("{path} -s {seconds} -f pg_test_fsync.out"));
    let program = Program { enough: Some("fdatasync"), ..program };
    let part = part("pg_test_fsync fdatasync", PAIR, pg_test_fsync).against(OURS_8K);
    let part = Part { block: "8 KiB", ..part.notes(&[PG_DASH]) };
    let version = version(&path, "--version").map_err(|error| format!("{error:#}"));
    Entry { key: "pg_test_fsync", version, preparation: None, program, parts: vec![part] }
}

/// What an entry needs before its first round; one that cannot have it is out.
pub fn prepare(entry: &mut Entry, dir: &Path) {
    if let (Ok(_), Some(preparation)) = (&entry.version, &entry.preparation)
        && let Err(error) = preparation.run(dir, false)
    {
        entry.version = Err(format!("{error:#}"));
    }
}
