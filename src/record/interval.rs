//! What the machine did while the run lasted, as recorded.

use serde::{Deserialize, Serialize};

/// Counters of the whole machine over the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// From before the first file to the end of the last worker.
    pub wall_ns: u64,
    /// Share of it in which some task of the machine waited for I/O (PSI).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_pressure_share: Option<f64>,
    /// Share of it in which some task waited for a CPU (PSI).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pressure_share: Option<f64>,
    /// Share of all CPU time that the hypervisor gave to others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_share: Option<f64>,
    /// How long a control group's CPU limit held this process back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_us: Option<u64>,
    /// Dirty pages of the machine at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
    /// Pages under writeback at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writeback_bytes: Option<u64>,
    /// Every device of the stack but partitions.
    #[serde(default)]
    pub devices: Vec<DeviceTime>,
    /// How long the workers were ready to run and waited for a CPU, all together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay_ns: Option<u64>,
}

/// What a device did, by the kernel's own accounts: the time of requests, which may overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceTime {
    /// Its name.
    pub node: String,
    /// Completed writes.
    pub writes: u64,
    /// Their time, queueing included.
    pub write_ms: u64,
    /// Completed flushes; 0 where the kernel counts none.
    pub flushes: u64,
    /// Their time.
    pub flush_ms: u64,
    /// Time with any request in flight.
    pub busy_ms: u64,
}
