//! Arguments of `qualify`.

use std::path::PathBuf;

use clap::Args;

use super::FormatArg;

/// Arguments of `qualify`.
#[derive(Clone, Debug, Args)]
pub struct QualifyArgs {
    /// quick, slog, jetstream-node, or a TOML file (docs/qualify.md)
    #[arg(value_name = "SPEC.toml|NAME")]
    pub spec: PathBuf,
    /// Directory to qualify [default: the spec's target, or .]
    pub path: Option<PathBuf>,
    /// Say what it will do, how long and how many bytes; do nothing
    #[arg(long)]
    pub explain: bool,
    /// Go on where an earlier process was interrupted
    #[arg(long)]
    pub resume: bool,
    /// Folder for the records and the document [default: qualification-NAME]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// text for a person, json for a program; the folder has both
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub format: FormatArg,
    /// Draw the document as one page there as well; the folder has it in any case
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
}
