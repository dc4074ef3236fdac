//! The plan: complete, within limits, immutable; known before the first write.

use serde::{Deserialize, Serialize};

use crate::{Arm, Rate};

/// How a worker's file grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Each write extends the file; a new segment when the old one is full.
    Append,
    /// Blocks that were written and synced beforehand are written again, in order.
    Overwrite,
    /// Blocks that were only allocated are written for the first time.
    Unwritten,
}

impl Layout {
    /// The name on the command line and in the record.
    pub const fn name(self) -> &'static str {
        match self {
            Layout::Append => "append",
            Layout::Overwrite => "overwrite",
            Layout::Unwritten => "unwritten",
        }
    }
}

/// By which descriptor the barrier is called. What it opens and closes is timed with the call that it stands beside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SyncFd {
    /// By that of the write.
    #[default]
    Own,
    /// By another one of the same file; both stay open.
    Other,
    /// Open, write, close; open, barrier, close.
    AfterClose,
    /// Open, write; barrier, close, and open and close once more: the calls of [`SyncFd::AfterClose`].
    BeforeClose,
}

impl SyncFd {
    /// The name on the command line and in the record.
    pub const fn name(self) -> &'static str {
        match self {
            SyncFd::Own => "own",
            SyncFd::Other => "other",
            SyncFd::AfterClose => "after-close",
            SyncFd::BeforeClose => "before-close",
        }
    }

    /// Whether it is that of the write.
    pub fn is_own(&self) -> bool {
        *self == SyncFd::Own
    }
}

/// When a worker stops by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// After this many pairs per worker; at least 1.
    Iterations(u64),
    /// After this many nanoseconds from the common start; at least 1.
    DurationNs(u64),
}

/// Where io-wq, the ring's worker pool, may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Iowq {
    /// On the submitter's CPU.
    Same,
    /// On any allowed CPU but the submitter's.
    Other,
    /// On any allowed CPU.
    Any,
}

/// Ring options that change the submission path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingOptions {
    /// A kernel thread takes submissions.
    pub sqpoll: bool,
    /// Registered file and buffer.
    pub registered: bool,
    /// CPUs of io-wq; `None` leaves what it inherits from the submitter.
    pub iowq: Option<Iowq>,
}

/// What the workers of one run do. Made by the program, checked by [`Plan::check`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What is measured.
    pub arm: Arm,
    /// Bytes per write; 1 to [`Plan::BLOCK_SIZE_BYTES_MAX`].
    pub block_size_bytes: u64,
    /// Writes of a pair; 1 to [`Plan::WRITES_MAX`], 1 for rings. All of them fit into a segment.
    pub writes_per_barrier: u64,
    /// By which descriptor the barrier is called; `Own` unless it is a system call after one write.
    pub sync_fd: SyncFd,
    /// Threads; 1 to [`Plan::WORKERS_MAX`].
    pub workers: u64,
    /// When a worker stops by itself.
    pub length: Length,
    /// Discarded pairs per worker; at least 1.
    pub warmup: u64,
    /// How the file grows.
    pub layout: Layout,
    /// Size of one segment (append, unwritten) or of the whole file (overwrite).
    pub segment_bytes: u64,
    /// Segments that one worker keeps at once; at least 1, and exactly 1 for overwrite.
    pub segments_kept: u64,
    /// Chains in flight per worker; 1 to [`Plan::DEPTH_MAX`], 1 for system calls.
    pub depth: u64,
    /// Ring options; all off for system calls.
    pub ring: RingOptions,
    /// The CPU of each worker, `None` where it is not pinned; one entry a worker.
    pub cpus: Vec<Option<u64>>,
    /// Samples kept per worker.
    pub samples_per_worker: u64,
    /// Pairs per second of all workers together, for an open loop.
    pub rate: Option<Rate>,
    /// Seed of the data.
    pub seed: u64,
}

impl Plan {
    /// Largest block: 256 MiB.
    pub const BLOCK_SIZE_BYTES_MAX: u64 = 256 << 20;
    /// Most writes of a pair.
    pub const WRITES_MAX: u64 = 1_024;
    /// Most workers.
    pub const WORKERS_MAX: u64 = 10_000;
    /// Most chains in flight per worker.
    pub const DEPTH_MAX: u64 = 1_024;

    /// Bytes of all writes of a pair.
    pub fn pair_bytes(&self) -> u64 {
        self.block_size_bytes.saturating_mul(self.writes_per_barrier)
    }

    fn most_segments_kept(&self) -> u64 {
        if self.layout == Layout::Overwrite { 1 } else { u64::MAX >> 1 }
    }

    fn length_value(&self) -> u64 {
        match self.length {
            Length::Iterations(value) | Length::DurationNs(value) => value,
        }
    }

    /// Pairs that `worker` is to measure; nothing where only time ends it.
    pub fn pairs_of(&self, worker: u64) -> Option<u64> {
        match (self.length, self.rate) {
            (Length::Iterations(pairs), _) => Some(pairs),
            (Length::DurationNs(ns), Some(rate)) => {
                Some(rate.pairs_within(ns).saturating_sub(worker).div_ceil(self.workers))
            }
            (Length::DurationNs(_), None) => None,
        }
    }

    /// Whether every field is within its range; says which is not.
    pub fn check(&self) -> Result<(), PlanError> {
        let ring = self.arm.uses_ring();
        let several = self.writes_per_barrier > 1;
        let other_fd = u64::from(self.arm.has_bare_barrier() && !several);
        let cases = [
            ("block_size_bytes", self.block_size_bytes, 1, Self::BLOCK_SIZE_BYTES_MAX),
            (
                "writes_per_barrier",
                self.writes_per_barrier,
                1,
                if ring { 1 } else { Self::WRITES_MAX },
            ),
            ("sync_fd", u64::from(!self.sync_fd.is_own()), 0, other_fd),
            ("segment_bytes", self.segment_bytes, self.pair_bytes(), u64::MAX >> 1),
            ("workers", self.workers, 1, Self::WORKERS_MAX),
            ("depth", self.depth, 1, if ring { Self::DEPTH_MAX } else { 1 }),
            ("segments_kept", self.segments_kept, 1, self.most_segments_kept()),
            ("length", self.length_value(), 1, u64::MAX),
            ("warmup", self.warmup, 1, u64::MAX >> 1),
            ("samples_per_worker", self.samples_per_worker, 1, u64::MAX >> 8),
            ("rate", self.rate.map_or(1, |rate| rate.0), Rate::LEAST.0, Rate::MOST.0),
            ("cpus", self.cpus.len() as u64, self.workers, self.workers),
        ];
        for (field, value, low, high) in cases {
            if value < low || value > high {
                return Err(PlanError { field, value, low, high });
            }
        }
        Ok(())
    }
}

/// A field of a plan that is out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("plan: {field} is {value}, must be {low} to {high}")]
pub struct PlanError {
    /// Name of the field.
    pub field: &'static str,
    /// What it is.
    pub value: u64,
    /// The least it may be.
    pub low: u64,
    /// The most it may be.
    pub high: u64,
}
