//! The command line as typed. Nothing is looked up here and no default is applied.

mod device;
mod judge;
mod judging;
mod output;
mod pin;
mod plot;
mod powercut;
mod qualify;
mod report;
mod sweep;
mod value;
mod work;

pub use device::DeviceArgs;
pub use judge::JudgeFilesArgs;
pub use judging::JudgeArgs;
pub use output::{FormatArg, OutputArgs};
pub use pin::Pin;
pub use plot::PlotArgs;
pub use powercut::{KeeperArgs, PowercutCommand, VerifyArgs, WitnessArgs, WriteArgs};
pub use qualify::QualifyArgs;
pub use report::{ReportArgs, ReportFormat};
pub use sweep::{Preset, SweepArgs};
pub use work::{LayoutArg, WorkArgs};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use value::positive_time;

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
    /// Prints what an NVMe controller says of itself; a child, since one that is dead holds who asks
    #[command(hide = true)]
    Identify {
        /// Its namespace
        device: PathBuf,
    },
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
    /// Plots for a terminal
    #[command(flatten)]
    pub plot: PlotArgs,
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
