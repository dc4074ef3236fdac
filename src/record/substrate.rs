//! What lies under the path, as recorded.

use serde::{Deserialize, Serialize};

use super::Block;
use crate::device::RawDevice;

/// Mount, filesystem, block stack and machine under the measured path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Substrate {
    /// Type from mountinfo, with the FUSE subtype (`ext4`, `fuse.sshfs`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<String>,
    /// The mount that holds the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mount: Option<Mount>,
    /// Type of the filesystem that holds an overlay's upper layer, where that is seen from here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper_filesystem: Option<String>,
    /// Every node of the block stack once, the filesystem's device first.
    #[serde(default)]
    pub block: Vec<Block>,
    /// Limits of control groups on these devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<IoLimit>,
    /// The dataset and its pool; only on ZFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zfs: Option<Zfs>,
    /// The machine.
    pub machine: Machine,
    /// What could not be found out, and why.
    #[serde(default)]
    pub unknown: Vec<Unknown>,
}

/// One line of mountinfo, decoded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mount {
    /// Mount id.
    pub id: u64,
    /// `major:minor` of the filesystem.
    pub device: String,
    /// The subtree of the filesystem that is mounted (bind mounts, subvolumes).
    pub root: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// Per-mount options.
    pub options: String,
    /// Per-filesystem options.
    pub super_options: String,
    /// The source as the kernel names it.
    pub source: String,
}

/// A ZFS dataset as far as it could be asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Zfs {
    /// Its name.
    pub dataset: String,
    /// Its pool.
    pub pool: String,
    /// `standard`, `always` or `disabled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<String>,
    /// `latency` or `throughput`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logbias: Option<String>,
    /// Largest block of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recordsize_bytes: Option<u64>,
    /// Such as `lz4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<String>,
    /// Paths of the log devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log_devices: Vec<String>,
    /// Paths of the devices that hold data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_devices: Vec<String>,
    /// Seconds between transaction groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub txg_timeout_s: Option<u64>,
}

/// The machine that ran the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `uname -r`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// First `model name` of /proc/cpuinfo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// Whether a hypervisor is visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtualised: Option<bool>,
    /// The kernel's clock source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clocksource: Option<String>,
    /// The container that this process is in, as far as its marks tell: `docker`, `podman`, `lxc`...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Vendor and product by the firmware, which names the hypervisor or cloud of a virtual machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The frequency governors in force, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frequency_governors: Vec<String>,
    /// What puts idle CPUs to sleep, such as `intel_idle` or `haltpoll`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_driver: Option<String>,
    /// The state of those that are not switched off from which a CPU takes the longest to wake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deepest_idle: Option<IdleState>,
    /// Nodes that have CPUs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numa_nodes: Vec<NumaNode>,
}

/// A sleep state of a CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleState {
    /// Such as `C6`.
    pub name: String,
    /// The longest that waking up from it takes, by the kernel's table.
    pub exit_latency_us: u64,
}

/// A NUMA node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumaNode {
    /// Its number.
    pub node: u64,
    /// The kernel's list, such as `0-3,8`.
    pub cpus: String,
}

/// A limit of a control group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoLimit {
    /// The device's name.
    pub node: String,
    /// Such as `wiops=50`.
    pub limit: String,
    /// The file that says so.
    pub source: String,
}

/// A fact that could not be found out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unknown {
    /// Such as `block`.
    pub fact: String,
    /// Why.
    pub reason: String,
}

/// What the measuring child found out about the path itself; the parent never touches it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The resolved path's bytes.
    pub path: Vec<u8>,
    /// Mount id by statx, where the kernel tells it.
    pub mount_id: Option<u64>,
    /// `st_dev`, major and minor.
    pub device_major: u64,
    /// See `device_major`.
    pub device_minor: u64,
    /// statfs `f_type`; absent where statfs is refused.
    pub filesystem_magic: Option<u64>,
    /// Bytes that this user may still write; absent where statfs is refused or counts no blocks.
    pub free_bytes: Option<u64>,
    /// A raw device in place of a directory.
    #[serde(default)]
    pub device: Option<RawDevice>,
}
