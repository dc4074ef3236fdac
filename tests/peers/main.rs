//! synctail beside its peers on the same work: whole processes, interleaved, ratios within each round.
//!
//! `cargo bench --bench peers -- [tmpfs|ext4|chains|startup|scale|all] [--path DIR] [--rounds N] [--fifo]`.
//! Nothing here fails on a figure: a shared machine cannot hold one. It prints what was reached beside
//! what was promised.

mod chains; // one submission for write and barrier, against two system calls
mod contest; // rounds forward and backward, and the tables of their ratios
mod disk; // fio on a real disk, one worker and eight
mod enters; // io_uring_enter, counted by us and by strace
#[path = "../../sys/benches/figures/mod.rs"]
mod figures;
mod memory; // the peak of parent and child, from /proc
mod place; // directories and loop devices that vanish again
mod scale; // many workers, many samples
mod startup; // from the command to the first write and to the verdict
mod tmpfs; // fio where only the tool itself costs time
mod tool; // synctail, fio and strace as commands

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, ValueEnum};

use figures::is_trial;

/// What to run, and how long.
#[derive(Debug, Parser)]
pub struct Options {
    /// Which figures
    #[arg(value_enum, default_values_t = [Set::All])]
    sets: Vec<Set>,
    /// Directory on the disk
    #[arg(long, default_value = ".")]
    path: PathBuf,
    /// Rounds of each contest
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Run every contestant under SCHED_FIFO, so that other programs of a busy machine wait
    #[arg(long)]
    fifo: bool,
    /// What cargo passes
    #[arg(long, hide = true)]
    bench: bool,
    /// Show only that all of it works
    #[arg(long)]
    test: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Set {
    Tmpfs,
    Ext4,
    Chains,
    Startup,
    Scale,
    All,
}

impl Options {
    /// Rounds of a contest.
    fn rounds(&self) -> usize {
        if is_trial() { 1 } else { self.rounds }
    }

    /// Milliseconds of one run, if `ms` is long enough to be worth something.
    fn run_ms(&self, ms: u64) -> u64 {
        if is_trial() { 50 } else { ms }
    }
}

fn main() -> Result<()> {
    let options = Options::parse();
    let wanted = |set| options.sets.iter().any(|&given| given == set || given == Set::All);
    type Run = fn(&Options) -> Result<()>;
    let sets: [(Set, Run); 5] = [
        (Set::Tmpfs, tmpfs::run),
        (Set::Ext4, disk::run),
        (Set::Chains, chains::run),
        (Set::Startup, startup::run),
        (Set::Scale, scale::run),
    ];
    for (_, run) in sets.into_iter().filter(|&(set, _)| wanted(set)) {
        run(&options)?;
    }
    Ok(())
}
