//! What child and parent say to each other.

use serde::{Deserialize, Serialize};
use synctail_bench::{Fault, Plan, RunReport};

use crate::evidence::Counter;
use crate::record::{Facts, Proof};

/// From the child, in this order; any of them may be the last.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The path exists and is a directory.
    Looked {
        /// What it is.
        facts: Facts,
        /// CPUs that the child may run on.
        allowed_cpus: Vec<u64>,
    },
    /// The clock that the run will use.
    Clock {
        /// Its name in the record.
        source: String,
        /// Offset between the CPUs in use, where it could be measured.
        skew_ns: Option<u64>,
        /// What the tool itself adds to a pair, at the median.
        floor_ns: Option<u64>,
    },
    /// What dead runs left behind.
    Leftovers(Leftovers),
    /// There is a place to write to.
    Created {
        /// The work directory's path; none on a raw device.
        directory: Option<Vec<u8>>,
    },
    /// Bare pairs before the run.
    Probed(Proof),
    /// All workers have ended.
    Finished {
        /// How.
        report: RunReport,
        /// Of the child's threads.
        scheduling_class: Option<String>,
    },
    /// The work directory is removed.
    Cleaned {
        /// Why it is not, if it is not.
        left: Option<String>,
    },
    /// Something failed before the workers started.
    Failed {
        /// What.
        fault: Fault,
    },
}

/// Work directories of dead runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftovers {
    /// Still there.
    pub found: Vec<String>,
    /// Removed.
    pub removed: Vec<String>,
}

/// From the parent, once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// What to do.
    pub plan: Plan,
    /// What to watch while probing.
    pub counters: Vec<Counter>,
    /// Whether to measure a device that does nothing instead.
    pub null: bool,
    /// Whether the kernel trusts the TSC.
    pub tsc_is_stable: bool,
}
