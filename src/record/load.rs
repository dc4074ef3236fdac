//! What else worked on the storage while the run measured, as recorded.

use serde::{Deserialize, Serialize};

/// The load that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadPlan {
    /// Name of the mix.
    pub mix: String,
    /// Directory where it works; lossy where it is not UTF-8.
    pub path: String,
    /// What works there, one word a neighbour: `buffered_writer`, `fsync_storm`,
    /// `sequential_reader`, `random_reader`.
    pub neighbours: Vec<String>,
    /// The most bytes that its files hold at once; absent where it did not come to that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}

/// What the load did during the run, and nothing of its own preparation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadReport {
    /// Between the two moments at which its counters were read.
    pub interval_ns: u64,
    /// Bytes that its writes moved, into the page cache at least.
    pub bytes_written: u64,
    /// Bytes that its reads moved.
    pub bytes_read: u64,
    /// Writes that returned.
    pub writes: u64,
    /// Reads that returned.
    pub reads: u64,
    /// Flushes that returned.
    pub fsyncs: u64,
    /// Files that were made, renamed and, sooner or later, removed.
    pub files_made: u64,
    /// Why neighbours ended before the run did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
}
