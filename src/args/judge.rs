//! Arguments of `judge`.

use std::path::PathBuf;

use clap::Args;

use super::{FormatArg, JudgeArgs, OutputArgs, PlotArgs};
use crate::quantity::{TimeUnit, parse_time_unit};

/// Arguments of `judge`.
#[derive(Clone, Debug, Args)]
pub struct JudgeFilesArgs {
    /// Records of synctail, or what fio, pg_test_fsync, Prometheus and others printed
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Unit of numbers that have none: ns, us, ms or s
    #[arg(long, value_name = "UNIT", value_parser = parse_time_unit)]
    pub unit: Option<TimeUnit>,
    /// How to judge them
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// text for a person, json for a program
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub format: FormatArg,
    /// Write the result there instead of to standard output
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Every finding, with its evidence
    #[arg(long, short)]
    pub verbose: bool,
    /// Plots for a terminal
    #[command(flatten)]
    pub plot: PlotArgs,
}

impl JudgeFilesArgs {
    /// Where the result goes, as `check` has it.
    pub fn output(&self) -> OutputArgs {
        OutputArgs {
            format: self.format,
            output: self.output.clone(),
            save: None,
            report: None,
            verbose: self.verbose,
            quiet: false,
        }
    }
}
