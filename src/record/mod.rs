//! The record: the saved, self-contained result of a run.
//!
//! Verdict and report are functions of this value alone. A key that is absent means "not known" or
//! "does not apply"; it is never 0, NaN or "". Keys end in their unit.

mod block;
mod distributions;
mod interval;
mod load;
mod prediction;
mod proof;
mod source;
mod substrate;
mod trace;
mod verdict;

pub use block::{Block, Completion};
pub use distributions::{Distributions, Parts, Samples, WorkerDistributions, WorkerSamples};
pub use interval::{DeviceTime, Interval};
pub use load::{LoadPlan, LoadReport};
pub use prediction::{CreateStreamPrediction, IntervalPrice, Prediction, PubAckPrediction};
pub use proof::{CounterKind, CounterMoved, Proof, SymbolRecord};
pub use source::{Figures, Source, SourcePart};
pub use substrate::{Facts, IdleState, IoLimit, Machine, Mount, NumaNode, Substrate, Unknown, Zfs};
pub use trace::{Tail, Trace, TracedDevice, TracedPair, TracedRequest, Waits};
pub use verdict::{
    Band, Basis, Confidence, Durability, Finding, Inferred, Judged, JudgedOn, Metric,
    PowerLossProtection, Recommendation, Severity, Verdict,
};

use serde::{Deserialize, Serialize};
use synctail_bench::{Arm, Layout, SyncFd};

/// The value of `schema` in every record of this version.
pub const SCHEMA: &str = "synctail.record/1";

/// One run: what was asked, what was in force, what was measured and what follows from it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Who measured.
    pub tool: Tool,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The command line as typed, one element an argument (lossy where it is not UTF-8).
    pub command: Vec<String>,
    /// How the run ended.
    pub status: Status,
    /// Why, if it failed or timed out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorReport>,
    /// What was to be measured; absent if the command failed before that was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanRecord>,
    /// What was really in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective: Option<Effective>,
    /// The clock that timed the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockReport>,
    /// What lies under the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub substrate: Option<Substrate>,
    /// Exact distributions; absent if no pair was completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distributions: Option<Distributions>,
    /// What was seen of barriers on their way down, before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// What the machine did meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// What the load beside it did; only under `--load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadReport>,
    /// What the kernel's trace said of its pairs; only under `--trace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Operations that had not returned when the run ended.
    pub in_flight: Vec<InFlight>,
    /// Counts of what happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
    /// From the common start to the last completion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_ns: Option<u64>,
    /// Completed pairs of all workers over `wall_ns`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs_per_s: Option<f64>,
    /// The file it was read from; only in what `judge` and `report` print.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Facts about the run that become findings of the verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Finding>,
    /// The judgement; null, with `error`, when nothing can be judged.
    pub verdict: Option<Verdict>,
    /// Every pair, in columns; only in saved records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
}

/// Name, version and build target of the program that measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tool {
    /// `synctail`.
    pub name: String,
    /// Semantic version.
    pub version: String,
    /// Such as `x86_64-linux`.
    pub target: String,
}

impl Tool {
    /// This program.
    pub fn this() -> Tool {
        Tool {
            name: "synctail".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All that was asked was measured, or a stated bound ended it.
    Complete,
    /// A signal ended it: partial.
    Interrupted,
    /// One operation exceeded `--timeout`.
    TimedOut,
    /// An error ended it.
    Failed,
}

/// What was attempted, on what, why it failed and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    /// `usage`, `prepare`, `probe`, `warmup`, `measure`, `output`, `internal`.
    pub stage: String,
    /// Such as `fdatasync`.
    pub operation: String,
    /// The number of this system's errno.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errno: Option<i32>,
    /// Its name, such as `ENOSPC`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errno_name: Option<String>,
    /// One line: what, on what, why.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// Of records before there was a choice.
fn one() -> u64 {
    1
}

/// The plan as recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlanRecord {
    /// The measured directory, resolved; lossy where it is not UTF-8.
    pub path: String,
    /// The path's bytes; only where `path` is lossy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_bytes_hex: Option<String>,
    /// What is compared.
    pub arm: Arm,
    /// Bytes per write.
    pub block_size_bytes: u64,
    /// Writes of a pair.
    #[serde(default = "one")]
    pub writes_per_barrier: u64,
    /// By which descriptor the barrier was called.
    #[serde(default)]
    pub sync_fd: SyncFd,
    /// Threads, each with its own file.
    pub workers: u64,
    /// Pairs per worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u64>,
    /// Instead of `iterations`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<u64>,
    /// Discarded pairs per worker before the start.
    pub warmup: u64,
    /// How the file grows.
    pub layout: Layout,
    /// `own`: one file per worker.
    pub files: String,
    /// Size of one file (overwrite, unwritten) or segment (append).
    pub file_size_bytes: u64,
    /// Bound of all files together.
    pub max_bytes: u64,
    /// Chains in flight per worker.
    pub depth: u64,
    /// Pairs per second of the whole run, if the loop is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// What is judged.
    pub metric: Metric,
    /// Name of the policy.
    pub policy: String,
    /// What was to work beside it; only under `--load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadPlan>,
    /// A device that does nothing was measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub null: bool,
    /// `auto`, `none` or a CPU list.
    pub pin: String,
    /// Seed of the data and of everything random.
    pub seed: u64,
    /// Bound of one operation.
    pub timeout_ns: u64,
    /// Bound of the samples of all workers.
    pub max_samples: u64,
    /// The most bytes that the files will hold at once.
    pub bytes_on_disk: u64,
    /// The bytes that will be written; absent for a run by time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_written: Option<u64>,
    /// The most memory that samples and their analysis will take.
    pub memory_bytes: u64,
}

/// What was in force, as probed or read back, not as asked.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Effective {
    /// The CPU of each worker; null where it is not pinned.
    pub cpus: Vec<Option<u64>>,
    /// Such as `SCHED_OTHER`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling_class: Option<String>,
    /// Only for ring arms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<RingEffective>,
    /// Alignment in force for `+direct`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct_alignment_bytes: Option<u64>,
}

/// The ring that ran.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RingEffective {
    /// Set-up flags in the kernel's words, lower case: `single_issuer`, `defer_taskrun`, `sqpoll`.
    pub flags: Vec<String>,
    /// Registered file and buffer.
    pub registered: bool,
    /// `same`, `other`, `any`, or `inherited` from the submitter.
    pub iowq: String,
    /// Whether a successful write of a linked pair posts no completion of its own (depth above 1).
    pub cqe_skip: bool,
}

/// The clock that timed the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClockReport {
    /// `tsc` or `clock_monotonic`.
    pub source: String,
    /// Cost of one read.
    pub read_ns: f64,
    /// Ticks per second by CLOCK_MONOTONIC_RAW over this run.
    pub ticks_per_s: f64,
    /// The start-up calibration's error against that scale.
    pub drift_ppm: f64,
    /// What the tool itself adds to a pair of this arm, at the median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor_ns: Option<u64>,
    /// Largest measured offset between the CPUs in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skew_ns: Option<u64>,
    /// The kernel's own clock source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_clocksource: Option<String>,
}

/// An operation that had not returned when the run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlight {
    /// From 0.
    pub worker: u64,
    /// `prepare`, `probe`, `warmup`, `measure` or `cleanup`.
    pub stage: String,
    /// The system call, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// A lower bound of its latency.
    pub at_least_ns: u64,
}

/// Counts of what happened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Completed pairs of all workers.
    pub pairs: u64,
    /// Pairs that were due and had not begun when the run ended; only in an open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_started: Option<u64>,
    /// Discarded warm-up pairs of all workers.
    pub warmup_pairs: u64,
    /// Bytes written by the completed pairs.
    pub bytes_written: u64,
    /// Files created by all workers.
    pub segments: u64,
    /// io_uring_enter calls of the measured part; only for ring arms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enters: Option<u64>,
    /// Share of the wall time during which every worker ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap_share: Option<f64>,
    /// Times a worker had to wait for sample memory, outside the timed region.
    pub sample_memory_waits: u64,
}
