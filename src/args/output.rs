//! Where the result goes, and in what form.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

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
