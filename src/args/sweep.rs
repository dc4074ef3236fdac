//! Arguments of `sweep`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use synctail_bench::{Arm, Plan};

use super::value::{block_size, positive_size, positive_time, within};
use super::{DeviceArgs, FormatArg, LayoutArg};

/// Tables that people know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// All rows of pg_test_fsync: one write and two, 16 KiB in pieces, another descriptor, no sync
    Pg,
    /// 512 B to 8 MiB as FreeBSD's diskinfo -wS writes to a log device
    Slog,
    /// What etcd's write-ahead log appends
    Etcd,
    /// What JetStream appends for payloads of 128 B to 64 KiB, on 1 to 8 streams
    Jetstream,
    /// Every arm; ring arms at depth 1, 4 and 16
    Paths,
}

/// Arguments of `sweep`.
#[derive(Clone, Debug, Args)]
pub struct SweepArgs {
    /// Directory to measure
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// A device in place of the directory
    #[command(flatten)]
    pub device: DeviceArgs,
    /// A table that people know, in place of axes
    #[arg(long, value_enum, conflicts_with_all = ["arm", "block_size", "workers", "depth", "layout"])]
    pub preset: Option<Preset>,
    /// Arms, separated by commas or by repeating the flag [default: syscall/fdatasync]
    #[arg(long, value_name = "ARM,...", value_delimiter = ',')]
    pub arm: Vec<Arm>,
    /// Bytes per write [default: 4KiB]
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', value_parser = block_size)]
    pub block_size: Vec<u64>,
    /// Threads [default: 1]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = |t: &str| within(t, 1, Plan::WORKERS_MAX))]
    pub workers: Vec<u64>,
    /// Chains in flight; system calls are measured with 1 only [default: 1]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = |t: &str| within(t, 1, Plan::DEPTH_MAX))]
    pub depth: Vec<u64>,
    /// How files grow [default: append]
    #[arg(long, value_enum, value_delimiter = ',')]
    pub layout: Vec<LayoutArg>,
    /// How often each cell is measured; each round has an order of its own [default: 3]
    #[arg(long, value_name = "N", value_parser = |t: &str| within(t, 1, 1_000))]
    pub rounds: Option<u64>,
    /// Pairs per worker, cell and round [default: 500; slog: 100]
    #[arg(long, value_name = "N", value_parser = |t: &str| within(t, 1, 1 << 40))]
    pub iters: Option<u64>,
    /// Measure each cell and round for this long instead
    #[arg(long, value_name = "TIME", value_parser = positive_time, conflicts_with = "iters")]
    pub duration: Option<u64>,
    /// Size of each worker's file or segment
    #[arg(long, value_name = "SIZE", value_parser = positive_size)]
    pub file_size: Option<u64>,
    /// Most bytes that all files of a cell may hold at once [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = positive_size)]
    pub max_bytes: Option<u64>,
    /// Longest that one operation may take [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = positive_time)]
    pub timeout: Option<u64>,
    /// Policy of the bands, for the knee [default: jetstream; preset etcd: etcd]
    #[arg(long, value_name = "NAME|FILE")]
    pub policy: Option<PathBuf>,
    /// Seed of the order and of the data [default: drawn]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Keep the state there after each run, whole and synced; at the end it is the result
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Go on with what --save FILE holds of the same sweep
    #[arg(long, requires = "save")]
    pub resume: bool,
    /// text for a person, json for a program
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub format: FormatArg,
    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
}
