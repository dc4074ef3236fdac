//! Arguments of `report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::PlotArgs;

/// Arguments of `report`.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// Records that --save or --format json wrote
    #[arg(required = true, value_name = "RECORD")]
    pub records: Vec<PathBuf>,
    /// What to make of them
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// Write it there, complete or not at all, instead of to standard output
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Every part, worker, pin, clock and finding
    #[arg(long, short)]
    pub verbose: bool,
    /// Plots for a terminal
    #[command(flatten)]
    pub plot: PlotArgs,
}

/// `--format` of `report`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For a person; of several records one table, worst first
    Text,
    /// One document
    Json,
    /// One row a sample, or one a percentile where samples were not saved
    Csv,
    /// HdrHistogram V2 log, values in nanoseconds (needs samples)
    Hdr,
    /// Percentile distribution that HdrHistogram plotters open (needs samples)
    Hgrm,
    /// For the node exporter's textfile collector
    Prometheus,
    /// One page that needs nothing else (one record)
    Html,
}
