//! Distributions and samples as recorded.

use serde::{Deserialize, Serialize};
use synctail_bench::Distribution;

/// The distributions of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distributions {
    /// All workers' samples merged, then ranked.
    pub pooled: Parts,
    /// Each worker's own.
    pub workers: Vec<WorkerDistributions>,
}

/// The parts of a pair; a part that the arm cannot time is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// The write alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Distribution>,
    /// The barrier alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub barrier: Option<Distribution>,
    /// The pair; in an open loop from its intended start, pairs that were due and had not begun at the
    /// end included with what they had waited.
    pub total: Distribution,
    /// The pair from its actual start; only in an open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Distribution>,
    /// From the intended start to the actual one; only in an open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<Distribution>,
}

/// One worker's distributions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerDistributions {
    /// From 0.
    pub worker: u64,
    /// The CPU it was pinned to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u64>,
    /// Start of its first measured pair after the run's common start.
    pub started_ns: u64,
    /// End of its last completed pair, on the same axis.
    pub ended_ns: u64,
    /// Its parts.
    #[serde(flatten)]
    pub parts: Parts,
}

/// Every sample of a run, in columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// One entry a worker.
    pub workers: Vec<WorkerSamples>,
}

/// One worker's samples in order of completion; all columns have the same length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSamples {
    /// From 0.
    pub worker: u64,
    /// Intended start of the pair after the run's common start; only in an open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intended_ns: Option<Vec<u64>>,
    /// Start of the write after the run's common start.
    pub start_ns: Vec<u64>,
    /// Duration of the write; absent where the arm cannot time it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_ns: Option<Vec<u64>>,
    /// Duration of the barrier; absent where the arm cannot time it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub barrier_ns: Option<Vec<u64>>,
    /// Duration of the pair, in an open loop from its intended start.
    pub total_ns: Vec<u64>,
}
