//! Arguments of `powercut`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use synctail_bench::Arm;

use super::value::{block_size, positive_size, positive_time, within};
use super::{FormatArg, LayoutArg};

/// The least that a record needs to say whose it is.
const BLOCK_SIZE_BYTES_MIN: u64 = 64;
/// A witness has a thread for each.
const WORKERS_MAX: u64 = 1_000;

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum PowercutCommand {
    /// Keep acknowledgements for writers, on a machine that does not lose its power
    Witness(WitnessArgs),
    /// Write numbered records to PATH and have each acknowledged, until the power goes
    #[command(
        after_help = "Exit codes: 0 ended by --duration; 2 usage; 3 could not write, or the \
        acknowledgements could not be kept;\n130 and 143 stopped by a signal."
    )]
    Write(WriteArgs),
    /// After it is back: is every acknowledged record still there?
    #[command(
        after_help = "Exit codes: 0 nothing that was acknowledged is missing; 2 usage; 3 cannot tell; \
        4 acknowledged records are missing."
    )]
    Verify(VerifyArgs),
}

/// Arguments of `powercut witness`.
#[derive(Clone, Debug, Args)]
pub struct WitnessArgs {
    /// Address and port to listen on, such as 192.168.1.5:7777
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: SocketAddr,
    /// File that keeps the acknowledgements; appended to
    #[arg(long, value_name = "FILE", default_value = "synctail-witness.log")]
    pub store: PathBuf,
    /// File with the secret that writers must know [default: $SYNCTAIL_TOKEN, or one is made and printed]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

/// Where acknowledgements are.
#[derive(Clone, Debug, Args)]
pub struct KeeperArgs {
    /// The witness
    #[arg(long, value_name = "HOST:PORT", required_unless_present = "local")]
    pub witness: Option<String>,
    /// A file on another disk instead of a witness
    #[arg(long, value_name = "FILE", conflicts_with = "witness")]
    pub local: Option<PathBuf>,
    /// File with the secret of the witness [default: $SYNCTAIL_TOKEN]
    #[arg(long, value_name = "FILE", conflicts_with = "local")]
    pub token_file: Option<PathBuf>,
}

/// Arguments of `powercut write`.
#[derive(Clone, Debug, Args)]
pub struct WriteArgs {
    /// Directory on the storage that loses its power
    pub path: PathBuf,
    /// Where acknowledgements go
    #[command(flatten)]
    pub keeper: KeeperArgs,
    /// Workers, each with its own files; of several arms, layouts and sizes they take turns [default: 4]
    #[arg(long, value_name = "N", value_parser = |t: &str| within(t, 1, WORKERS_MAX))]
    pub workers: Option<u64>,
    /// Submission path and barrier; may be repeated [default: syscall/fdatasync]
    #[arg(long = "arm", value_name = "ENGINE/BARRIER[+direct]")]
    pub arms: Vec<Arm>,
    /// How files grow; may be repeated [default: append and overwrite]
    #[arg(long = "layout", value_enum)]
    pub layouts: Vec<LayoutArg>,
    /// Bytes of a record; may be repeated [default: 4KiB and 16KiB]
    #[arg(long = "block-size", value_name = "SIZE", value_parser = record_size)]
    pub block_sizes: Vec<u64>,
    /// Bytes of a file; an appending worker keeps up to five [default: 8MiB]
    #[arg(long, value_name = "SIZE", value_parser = positive_size)]
    pub file_size: Option<u64>,
    /// End after this long; else it goes on until the power goes
    #[arg(long, value_name = "TIME", value_parser = positive_time)]
    pub duration: Option<u64>,
    /// text for a person, json for a program
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub format: FormatArg,
    /// No progress on standard error
    #[arg(long, short)]
    pub quiet: bool,
}

/// Arguments of `powercut verify`.
#[derive(Clone, Debug, Args)]
pub struct VerifyArgs {
    /// Directory that was given to `write`
    pub path: PathBuf,
    /// Where acknowledgements are
    #[command(flatten)]
    pub keeper: KeeperArgs,
    /// Id of the run [default: the last one]
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    /// Remove the run's directory afterwards, unless something is missing
    #[arg(long)]
    pub remove: bool,
    /// text for a person, json for a program
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub format: FormatArg,
}

fn record_size(text: &str) -> Result<u64, String> {
    match block_size(text)? {
        bytes if bytes < BLOCK_SIZE_BYTES_MIN => {
            Err(format!("a record needs {BLOCK_SIZE_BYTES_MIN} bytes"))
        }
        bytes => Ok(bytes),
    }
}
