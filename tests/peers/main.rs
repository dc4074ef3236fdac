//! synctail beside its peers on the same work: whole processes, interleaved, ratios within each round.
//!
//! `cargo bench --bench peers -- [tmpfs|ext4|chains|startup|scale|tools|all] [--path DIR] [--rounds N] [--fifo]`.
//! Nothing here fails on a figure: a shared machine cannot hold one. It prints what was reached beside
//! what was promised.

mod chains; // one submission for write and barrier, against two system calls
mod contest; // rounds forward and backward, and the tables of their ratios
mod disk; // fio on a real disk, one worker and eight
mod enters; // io_uring_enter, counted by us and by strace
#[path = "../../sys/benches/figures/mod.rs"]
mod figures;
mod lineup; // who takes part in the table of tools
mod memory; // the peak of parent and child, from /proc
mod output; // what each program printed, read
mod place; // directories and loop devices that vanish again
mod program; // every peer as a command line, its version, one run
mod report; // docs/peers.md
mod scale; // many workers, many samples
mod startup; // from the command to the first write and to the verdict
mod table; // the peers' figures and ratios as text
mod tmpfs; // fio where only the tool itself costs time
mod tool; // synctail, fio and strace as commands
mod tools; // every peer there is on one directory, and docs/peers.md

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Parser, ValueEnum};

use figures::is_trial;

/// What to run, and how long.
#[derive(Debug, Parser)]
pub struct Options {
    /// Which figures
    #[arg(value_enum, default_values_t = [Set::All])]
    sets: Vec<Set>,
    /// Directory on the disk [default: the present one; for tools /var/tmp]
    #[arg(long)]
    path: Option<PathBuf>,
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
    Tools,
    All,
}

impl Options {
    /// Where to measure the disk.
    fn disk(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new("."))
    }

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
    let sets: [(Set, Run); 6] = [
        (Set::Tmpfs, tmpfs::run),
        (Set::Ext4, disk::run),
        (Set::Chains, chains::run),
        (Set::Startup, startup::run),
        (Set::Scale, scale::run),
        (Set::Tools, tools::run),
    ];
    for (_, run) in sets.into_iter().filter(|&(set, _)| wanted(set)) {
        run(&options)?;
    }
    Ok(())
}
