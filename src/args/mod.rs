//! The command line as typed. Nothing is looked up here and no default is applied.

mod device;
mod judge;
mod pin;
mod powercut;
mod qualify;
mod report;
mod sweep;

pub use device::DeviceArgs;
pub use judge::JudgeFilesArgs;
pub use pin::Pin;
pub use powercut::{KeeperArgs, PowercutCommand, VerifyArgs, WitnessArgs, WriteArgs};
pub use qualify::QualifyArgs;
pub use report::{ReportArgs, ReportFormat};
pub use sweep::{Preset, SweepArgs};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use synctail_bench::{Arm, Iowq, Layout, Plan, Rate};

use crate::load::Mix;
use crate::policy::parse_band;
use crate::quantity::{parse_count, parse_duration_ns, parse_rate, parse_size_bytes};
use crate::record::{Band, Metric};

/// Measures how long storage takes to make a write durable, and judges it.
#[derive(Debug, Parser)]
#[command(name = "synctail", version, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure PATH and judge it: may a service fsync on every write here?
    #[command(after_help = CHECK_EXIT_CODES)]
    Check(Box<CheckArgs>),
    /// Say what lies under PATH and whether a flush there can be trusted; write nothing
    #[command(after_help = INSPECT_EXIT_CODES)]
    Inspect(InspectArgs),
    /// Judge saved records, or what fio and other tools measured
    #[command(after_help = CHECK_EXIT_CODES)]
    Judge(JudgeFilesArgs),
    /// Show saved records in another form; many of them as one table, worst first
    Report(ReportArgs),
    /// Do acknowledged writes survive when the power goes?
    #[command(subcommand)]
    Powercut(PowercutCommand),
    /// Qualify storage by a written-down procedure with limits
    #[command(after_help = QUALIFY_EXIT_CODES)]
    Qualify(QualifyArgs),
    /// Measure many combinations: arms, block sizes, workers, depths, layouts
    Sweep(Box<SweepArgs>),
    /// The process of `--load`; it takes its orders from standard input
    #[command(hide = true)]
    Load,
}

const QUALIFY_EXIT_CODES: &str = "\
Exit codes: 0 every limit holds and nothing was skipped; 1 not; 2 usage; 3 could not measure;
4 not durable; 130 and 143 interrupted (--resume goes on).";

const INSPECT_EXIT_CODES: &str = "\
Exit codes: 0 nothing speaks against it; 2 usage; 3 the path cannot be looked at; 4 not durable.";

/// Arguments of `inspect`.
#[derive(Clone, Debug, Args)]
pub struct InspectArgs {
    /// Directory to look at
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// text for a person, json for a program
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub format: FormatArg,
    /// Serial numbers of devices as well
    #[arg(long)]
    pub show_serials: bool,
    /// Longest that the path may take to answer [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = positive_time)]
    pub timeout: Option<u64>,
}

const CHECK_EXIT_CODES: &str = "\
Exit codes: 0 pass; 1 the policy is not met; 2 usage; 3 could not measure; 4 not durable;
130 and 143 interrupted (the partial result is printed).";

/// Arguments of `check`.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Directory to measure; files are made in a directory of their own below it, and removed
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// What to measure
    #[command(flatten)]
    pub work: WorkArgs,
    /// A device in place of the directory
    #[command(flatten)]
    pub device: DeviceArgs,
    /// How to judge it
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Where the result goes
    #[command(flatten)]
    pub output: OutputArgs,
}

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

/// How to judge.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Judging")]
pub struct JudgeArgs {
    /// jetstream, etcd, or a TOML file (docs/policy.md)
    #[arg(long, value_name = "NAME|FILE", default_value = "jetstream")]
    pub policy: PathBuf,
    /// Which part of the pair is judged [default: the policy's]
    #[arg(long, value_enum)]
    pub metric: Option<MetricArg>,
    /// This band and worse ones fail [default: the policy's]
    #[arg(long, value_name = "BAND", value_parser = parse_band)]
    pub fail_at: Option<Band>,
    /// Fail (exit 4) unless it is proved that flushes reach the device
    #[arg(long)]
    pub require_proof: bool,
    /// How long a client waits for JetStream's CreateStream [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = positive_time)]
    pub deadline: Option<u64>,
    /// Say which sync interval to configure, why, and what it costs
    #[arg(long)]
    pub recommend: bool,
}

/// Where the result goes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// text for a person, json for a program
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub format: FormatArg,
    /// Write the result there instead of to standard output
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Save the record with every sample
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Draw the result as one page of HTML that needs nothing else
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Every part, worker, pin, clock and finding
    #[arg(long, short, conflicts_with = "quiet")]
    pub verbose: bool,
    /// No progress and no warnings on standard error
    #[arg(long, short)]
    pub quiet: bool,
}

impl OutputArgs {
    /// Whether something is asked for that is made from every sample.
    pub fn needs_samples(&self) -> bool {
        self.save.is_some() || self.report.is_some()
    }
}

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// For a person, 80 columns.
    Text,
    /// One document.
    Json,
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

/// `--metric`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MetricArg {
    /// The barrier alone
    Barrier,
    /// Write and barrier
    Total,
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

impl From<IowqArg> for Iowq {
    fn from(iowq: IowqArg) -> Iowq {
        match iowq {
            IowqArg::Same => Iowq::Same,
            IowqArg::Other => Iowq::Other,
            IowqArg::Any => Iowq::Any,
        }
    }
}

impl From<MetricArg> for Metric {
    fn from(metric: MetricArg) -> Metric {
        match metric {
            MetricArg::Barrier => Metric::Barrier,
            MetricArg::Total => Metric::Total,
        }
    }
}

fn within(text: &str, low: u64, high: u64) -> Result<u64, String> {
    let value = parse_count(text)?;
    if (low..=high).contains(&value) { Ok(value) } else { Err(format!("must be {low} to {high}")) }
}

fn block_size(text: &str) -> Result<u64, String> {
    let bytes = parse_size_bytes(text)?;
    let most = Plan::BLOCK_SIZE_BYTES_MAX;
    if (1..=most).contains(&bytes) { Ok(bytes) } else { Err(format!("must be 1 to {most} bytes")) }
}

fn positive_size(text: &str) -> Result<u64, String> {
    let bytes = parse_size_bytes(text)?;
    // Offsets in files are signed 64-bit numbers.
    if (1..=1 << 62).contains(&bytes) { Ok(bytes) } else { Err("must be 1 byte to 4EiB".into()) }
}

fn positive_time(text: &str) -> Result<u64, String> {
    match parse_duration_ns(text)? {
        0 => Err("must be above 0".into()),
        ns => Ok(ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn check(args: &[&str]) -> Result<CheckArgs, String> {
        let all = ["synctail", "check"].iter().chain(args);
        let cli = Cli::try_parse_from(all).map_err(|error| error.to_string())?;
        match cli.command {
            Command::Check(check) => Ok(*check),
            _ => Err("not a check".to_owned()),
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_is_typed_is_what_is_held() {
        let args = check(&["/x", "--iters", "1_000", "--block-size", "2300", "--timeout", "500ms"]);
        let args = args.unwrap();
        assert_eq!(args.path, PathBuf::from("/x"));
        assert_eq!(args.work.iters, Some(1_000));
        assert_eq!((args.work.block_size, args.work.timeout), (Some(2_300), Some(500_000_000)));
        assert_eq!(check(&[]).unwrap().work.workers, None);
    }

    #[test]
    fn a_number_that_cannot_be_meant_is_refused_with_the_flag() {
        for (flag, value) in [
            ("--iters", "0"),
            ("--iters", "-1"),
            ("--workers", "0"),
            ("--workers", "1e9"),
            ("--block-size", "0"),
            ("--block-size", "1TiB"),
            ("--duration", "0s"),
            ("--duration", "5"),
            ("--timeout", "0ms"),
            ("--rate", "0/s"),
            ("--rate", "5/m"),
            ("--depth", "0"),
            ("--depth", "100000"),
            ("--warmup", "0"),
            ("--file-size", "0"),
            ("--max-bytes", "0"),
            ("--pin", "3-1"),
            ("--arm", "fio/fsync"),
            ("--fail-at", "bad"),
            ("--max-samples", "0"),
        ] {
            let why = check(&[&format!("{flag}={value}")]).unwrap_err();
            assert!(why.contains(flag), "{flag} {value}: {why}");
        }
        assert!(check(&["--iters", "5", "--duration", "5s"]).is_err());
    }
}
