//! What was seen of barriers on their way down, as recorded. What follows from it is the verdict's.

use serde::{Deserialize, Serialize};

/// The probe before the run: slices of bare pairs with and without barriers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// Barriers by the C library, as a service makes them.
    pub libc_barriers: u64,
    /// Barriers by the system call, past the library.
    pub raw_barriers: u64,
    /// Writes without a barrier, in slices of the same length.
    pub bare_writes: u64,
    /// The very first barrier, which is in no other figure.
    pub first_barrier_ns: u64,
    /// Median of pwrite.
    pub write_p50_ns: u64,
    /// Median of the C library's fdatasync.
    pub libc_barrier_p50_ns: u64,
    /// Median of the system call past the library.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_barrier_p50_ns: Option<u64>,
    /// Counters of the machine, and how far the slices moved them.
    pub counters: Vec<CounterMoved>,
    /// Where the calls of the C library lead.
    pub symbols: Vec<SymbolRecord>,
    /// Whether fdatasync and fsync refused a descriptor that is none.
    pub refuses_bad_descriptor: bool,
}

/// A counter and how far it moved in all slices of a kind together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterMoved {
    /// What is counted.
    pub kind: CounterKind,
    /// Of which node.
    pub node: String,
    /// Its value after the probe.
    pub value: u64,
    /// In slices with the C library's barriers.
    pub libc: u64,
    /// In slices with raw barriers.
    pub raw: u64,
    /// In slices without barriers: what others moved.
    pub none: u64,
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterKind {
    /// Flush requests that a block device completed.
    Flushes,
    /// Transactions of a jbd2 journal.
    Jbd2Commits,
    /// Forces of the XFS log.
    XfsLogForces,
    /// Full commits of btrfs; an fsync needs none of them.
    BtrfsCommits,
    /// Commits of the ZFS intent log.
    ZilCommits,
    /// Its records written to the pool's own devices.
    ZilNormal,
    /// Its records written to a log device.
    ZilSlog,
    /// Its records whose data was written in place.
    ZilIndirect,
}

/// A call of the C library and the object that provides it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymbolRecord {
    /// Such as `fdatasync`.
    pub name: String,
    /// The object's path; absent where the linker does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
}
