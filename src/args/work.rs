//! What to measure.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use synctail_bench::{Arm, Iowq, Layout, Plan, Rate, SyncFd};

use super::Pin;
use super::value::{block_size, positive_size, positive_time, within};
use crate::load::Mix;
use crate::quantity::parse_rate;

/// What to measure.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Measuring")]
pub struct WorkArgs {
    /// Submission path and barrier, such as syscall/fdatasync or uring-linked/fsync+direct
    #[arg(long, value_name = "ENGINE/BARRIER[+direct]")]
    pub arm: Option<Arm>,
    /// Bytes per write [default: 4KiB]
    #[arg(long, value_name = "SIZE", value_parser = block_size)]
    pub block_size: Option<u64>,
    /// Writes before the barrier: all of them are one pair (system calls) [default: 1]
    #[arg(long, value_name = "N", value_parser = |t: &str| within(t, 1, Plan::WRITES_MAX))]
    pub writes_per_barrier: Option<u64>,
    /// By which descriptor the barrier is called (fsync and fdatasync as system calls) [default: own]
    #[arg(long, value_enum)]
    pub sync_fd: Option<SyncFdArg>,
    /// Threads, each with its own file [default: 1]
    #[arg(long, value_name = "N", value_parser = |t: &str| within(t, 1, Plan::WORKERS_MAX))]
    pub workers: Option<u64>,
    /// Pairs per worker [default: 500]
    #[arg(long, value_name = "N", value_parser = |t: &str| within(t, 1, 1 << 40))]
    pub iters: Option<u64>,
    /// Measure for this long instead of a number of pairs
    #[arg(long, value_name = "TIME", value_parser = positive_time, conflicts_with = "iters")]
    pub duration: Option<u64>,
    /// Discarded pairs per worker before the start [default: 5]
    #[arg(long, value_name = "N", value_parser = |t: &str| within(t, 1, 1 << 40))]
    pub warmup: Option<u64>,
    /// How the file grows [default: append]
    #[arg(long, value_enum)]
    pub layout: Option<LayoutArg>,
    /// Size of each worker's file (overwrite, unwritten; default 16MiB) or segment (append; 8MiB)
    #[arg(long, value_name = "SIZE", value_parser = positive_size)]
    pub file_size: Option<u64>,
    /// Most bytes that all files may hold at once [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = positive_size)]
    pub max_bytes: Option<u64>,
    /// Chains in flight per worker, ring arms only [default: 1]
    #[arg(long, value_name = "N", value_parser = |t: &str| within(t, 1, Plan::DEPTH_MAX))]
    pub depth: Option<u64>,
    /// Begin pairs at fixed moments, so many a second of all workers together (open loop)
    #[arg(long, value_name = "N/s", value_parser = parse_rate)]
    pub rate: Option<Rate>,
    /// Let a kernel thread take submissions (ring arms)
    #[arg(long)]
    pub sqpoll: bool,
    /// Register file and buffer with the ring (ring arms)
    #[arg(long)]
    pub registered: bool,
    /// CPUs of the ring's worker pool [default: what it inherits from the submitter]
    #[arg(long, value_enum)]
    pub iowq: Option<IowqArg>,
    /// CPUs of the workers, round robin: auto (all allowed), none, or a list such as 0,2-5
    #[arg(long, value_name = "CPUS", default_value = "auto")]
    pub pin: Pin,
    /// Longest that one operation may take [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = positive_time)]
    pub timeout: Option<u64>,
    /// Longest that the whole command may take
    #[arg(long, value_name = "TIME", value_parser = positive_time)]
    pub max_duration: Option<u64>,
    /// Most samples to keep, 24 bytes each [default: 20000000]
    #[arg(long, value_name = "N", value_parser = |t: &str| within(t, 1, 1 << 36))]
    pub max_samples: Option<u64>,
    /// Seed of the data [default: drawn]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Measure a device that does nothing: what remains is the tool itself, on this machine
    #[arg(long, conflicts_with = "device")]
    pub null: bool,
    /// Say what each of the worst pairs waited for, by the kernel's own trace (root; costs a little)
    #[arg(long, conflicts_with = "null")]
    pub trace: bool,
    /// Let noisy neighbours work beside the run
    #[arg(long, value_enum, value_name = "MIX", conflicts_with = "null")]
    pub load: Option<Mix>,
    /// Where they work [default: PATH]
    #[arg(long, value_name = "DIR", requires = "load")]
    pub load_path: Option<PathBuf>,
    /// First remove what dead runs left behind in PATH
    #[arg(long, conflicts_with = "device")]
    pub clean: bool,
    /// End when this process does, which started it
    #[arg(long, hide = true, value_name = "PID")]
    pub end_with: Option<i32>,
}

/// `--layout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LayoutArg {
    /// Each write extends the file, as JetStream and etcd do
    Append,
    /// Written blocks are written again, as PostgreSQL's recycled WAL
    Overwrite,
    /// Allocated blocks are written for the first time
    Unwritten,
}

/// `--sync-fd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SyncFdArg {
    /// That of the write
    Own,
    /// Another one of the same file, open all the time
    Other,
    /// Open, write, close; open, barrier, close
    AfterClose,
    /// Open, write; barrier, close, and open and close once more
    BeforeClose,
}

/// `--iowq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IowqArg {
    /// The submitter's CPU
    Same,
    /// Any allowed CPU but the submitter's
    Other,
    /// Any allowed CPU
    Any,
}

impl From<LayoutArg> for Layout {
    fn from(layout: LayoutArg) -> Layout {
        match layout {
            LayoutArg::Append => Layout::Append,
            LayoutArg::Overwrite => Layout::Overwrite,
            LayoutArg::Unwritten => Layout::Unwritten,
        }
    }
}

impl From<SyncFdArg> for SyncFd {
    fn from(sync_fd: SyncFdArg) -> SyncFd {
        match sync_fd {
            SyncFdArg::Own => SyncFd::Own,
            SyncFdArg::Other => SyncFd::Other,
            SyncFdArg::AfterClose => SyncFd::AfterClose,
            SyncFdArg::BeforeClose => SyncFd::BeforeClose,
        }
    }
}

impl From<IowqArg> for Iowq {
    fn from(iowq: IowqArg) -> Iowq {
        match iowq {
            IowqArg::Same => Iowq::Same,
            IowqArg::Other => Iowq::Other,
            IowqArg::Any => Iowq::Any,
        }
    }
}
