//! How to judge.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::value::positive_time;
use crate::policy::parse_band;
use crate::record::{Band, Metric};

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

/// `--metric`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MetricArg {
    /// The barrier alone
    Barrier,
    /// Write and barrier
    Total,
}

impl From<MetricArg> for Metric {
    fn from(metric: MetricArg) -> Metric {
        match metric {
            MetricArg::Barrier => Metric::Barrier,
            MetricArg::Total => Metric::Total,
        }
    }
}
