//! A node of the block stack, as recorded.

use serde::{Deserialize, Serialize};

/// One node of the block stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The kernel's name, such as `nvme0n1`.
    pub name: String,
    /// `major:minor`.
    pub device: String,
    /// `partition`, `disk`, `loop`, `dm`, `md`, `zram`, `ram`.
    pub kind: String,
    /// Names of the nodes right below.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<String>,
    /// `write back` or `write through`, as the kernel believes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
    /// Whether the device takes forced-unit-access writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fua: Option<bool>,
    /// Spinning disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// Logical sector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_block_size_bytes: Option<u64>,
    /// Physical sector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_block_size_bytes: Option<u64>,
    /// The scheduler in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// The device's own word on its cache: `write back` or `write through`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_cache: Option<String>,
    /// Where it says so: `NVMe identify controller`, `SCSI caching page`, `virtio`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_by: Option<String>,
    /// Bit 0 of VWC in the identify data of an NVMe controller: 1 where it has a volatile write cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvme_vwc: Option<u64>,
    /// T10 protection information of a SCSI disk: 0 for none, else its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection_type: Option<u64>,
    /// How it is attached: `nvme`, `sata`, `sas`, `scsi`, `usb`, `mmc`, `virtio`, `xen`, `hyperv`, `virtual`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// Firmware revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// NUMA node of the controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numa_node: Option<u64>,
    /// Serial number; only where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// 0 merges all, 1 only simple ones, 2 none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nomerges: Option<u64>,
    /// Target of writeback throttling; 0 switches it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wbt_lat_us: Option<u64>,
    /// Vendor's model string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// A loop device's file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing_file: Option<String>,
    /// Filesystem type that holds the backing file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing_filesystem: Option<String>,
    /// Its mount options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backing_options: Option<String>,
    /// The CPUs that served this disk's completion interrupts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<Completion>,
}

/// Where a disk's completion interrupts land.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// CPUs that served at least one tenth of them, busiest first.
    pub cpus: Vec<u64>,
    /// The lines of /proc/interrupts that were counted.
    pub interrupts: Vec<String>,
}
