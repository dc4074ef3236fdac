//! What the kernel's own trace said of the run, as recorded.

use serde::{Deserialize, Serialize};

/// The trace of a run, matched to its pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The kernel's name of the clock that stamped it.
    pub clock: String,
    /// Events that were used.
    pub events: u64,
    /// Events that were lost, by the kernel or because there were too many to keep.
    pub events_lost: u64,
    /// Pairs that lie within the trace; the rest has no part in what follows.
    pub pairs: u64,
    /// Where the time of all of them went.
    pub all: Waits,
    /// Where the time of those in the tail went; absent where none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
    /// The worst of them, worst first.
    pub worst: Vec<TracedPair>,
    /// Requests that were seen to come and go, by device.
    pub devices: Vec<TracedDevice>,
}

/// The pairs at and beyond the p99 of their total.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// How many.
    pub pairs: u64,
    /// The least of them.
    pub at_least_ns: u64,
    /// Where their time went.
    pub waits: Waits,
}

/// Time by what it was spent on; the parts sum up to the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// On a CPU, in the kernel or not.
    pub cpu_ns: u64,
    /// Ready, while others had the CPU.
    pub run_queue_ns: u64,
    /// Paused by the kernel because too much was dirty.
    pub throttled_ns: u64,
    /// Asleep while a flush was at a device.
    pub flush_ns: u64,
    /// Asleep while a write that somebody waits for was at a device.
    pub write_ns: u64,
    /// Asleep while a request waited behind others' at a device.
    pub other_requests_ns: u64,
    /// Asleep while a thread of the kernel that could carry things on (the journal's, a worker of a queue)
    /// was ready and others had the CPU.
    pub kernel_run_queue_ns: u64,
    /// Asleep while a request was on its way to an idle device.
    pub queue_ns: u64,
    /// Asleep while the journal committed and no device had anything.
    pub journal_ns: u64,
    /// Asleep for something that the trace does not show.
    pub unseen_ns: u64,
}

impl Waits {
    /// Each part with the words for it.
    pub fn parts(&self) -> [(&'static str, u64); 10] {
        [
            ("on a CPU", self.cpu_ns),
            ("ready, waiting for a CPU", self.run_queue_ns),
            ("held back, too much dirty", self.throttled_ns),
            ("a flush at the device", self.flush_ns),
            ("a write at the device", self.write_ns),
            ("behind others' requests", self.other_requests_ns),
            ("a kernel thread waiting for a CPU", self.kernel_run_queue_ns),
            ("on the way to the device", self.queue_ns),
            ("the journal's commit", self.journal_ns),
            ("not shown by the trace", self.unseen_ns),
        ]
    }

    /// All parts together.
    pub fn sum_ns(&self) -> u64 {
        self.parts().iter().map(|(_, ns)| ns).sum()
    }

    /// The greatest part, its words and its share; nothing where there is no time at all.
    pub fn main(&self) -> Option<(&'static str, f64)> {
        let sum_ns = self.sum_ns();
        let (words, ns) = self.parts().into_iter().max_by_key(|&(_, ns)| ns)?;
        (sum_ns > 0).then(|| (words, ns as f64 / sum_ns as f64))
    }
}

/// One of the worst pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracedPair {
    /// From 0.
    pub worker: u64,
    /// Start of its write after the run's common start.
    pub start_ns: u64,
    /// From its actual start to its end.
    pub total_ns: u64,
    /// Where that time went.
    pub waits: Waits,
    /// The request that was at a device for the longest meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_request: Option<TracedRequest>,
}

/// A request that a device had while a pair waited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedRequest {
    /// The device's name.
    pub node: String,
    /// `flush`, `write` or another.
    pub operation: String,
    /// Length; absent of a flush.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The thread that asked for it.
    pub asked_by: String,
    /// How long the device had it.
    pub at_device_ns: u64,
}

/// A device's requests within the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedDevice {
    /// Its name.
    pub node: String,
    /// Flushes.
    pub flushes: u64,
    /// Writes without forced unit access.
    pub writes: u64,
    /// Writes with forced unit access.
    pub fua_writes: u64,
}
