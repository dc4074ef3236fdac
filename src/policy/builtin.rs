//! The policies that come with the program.

use synctail_bench::{Arm, Layout};

use super::{Kind, PlanDefaults, Policy};
use crate::record::{Band, Metric};

const MS: u64 = 1_000_000;

/// 1 ms, 5 ms, 50 ms and 1 s. They separate the known classes of devices: flash with power-loss
/// protection, consumer flash, disks behind a log device, bare disks and loaded shared storage.
/// From 1.25 s per flush on, the four flushes in series of one CreateStream exceed the 5 s that
/// clients wait by default.
const EDGES_NS: [u64; 4] = [MS, 5 * MS, 50 * MS, 1_000 * MS];

/// NATS JetStream with `sync_interval: always`, one flush per acknowledged message.
pub fn jetstream() -> Policy {
    Policy {
        name: "jetstream".to_owned(),
        metric: Metric::Barrier,
        edges_ns: EDGES_NS,
        sentences: [
            "SyncAlways is safe on this storage",
            "SyncAlways is safe on this storage",
            "watch bursty load",
            "use a sync interval",
            "fix the storage; CreateStream would time out",
        ]
        .map(str::to_owned),
        pass_below_ns: None,
        fail_at: Band::Broken,
        plan: PlanDefaults::default(),
        kind: Kind::Jetstream,
    }
}

/// etcd's write-ahead log: the p99 of its fdatasync should be below 10 ms (etcd's FAQ, "what does
/// the etcd warning 'failed to send out heartbeat on time' mean"). The recipe its hardware page
/// points to appends 2300 bytes at a time.
pub fn etcd() -> Policy {
    Policy {
        name: "etcd".to_owned(),
        metric: Metric::Barrier,
        edges_ns: EDGES_NS,
        sentences: [
            "far below the 10ms that etcd asks for",
            "below the 10ms that etcd asks for",
            "near or above the 10ms that etcd asks for",
            "too slow for etcd; expect slow requests and lost leaders",
            "unusable for etcd; fix the storage",
        ]
        .map(str::to_owned),
        pass_below_ns: Some(10 * MS),
        fail_at: Band::Broken,
        plan: PlanDefaults {
            // syscall/fdatasync; on macOS the call that etcd makes there instead, F_FULLFSYNC.
            arm: Some(Arm::DEFAULT),
            block_size_bytes: Some(2_300),
            layout: Some(Layout::Append),
            iterations: None,
            workers: None,
        },
        kind: Kind::Generic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jetstream_says_safe_for_the_two_best_bands_only() {
        let policy = jetstream();
        let safe = |band| policy.sentence(band) == "SyncAlways is safe on this storage";
        assert!(safe(Band::Ideal) && safe(Band::Good));
        for band in [Band::Workable, Band::Marginal, Band::Broken] {
            assert!(!policy.sentence(band).contains("safe"), "{band:?}");
        }
    }

    #[test]
    fn etcd_measures_appends_of_2300_bytes_and_draws_its_line_at_10_ms() {
        let policy = etcd();
        assert_eq!(policy.pass_below_ns, Some(10_000_000));
        assert_eq!(policy.plan.block_size_bytes, Some(2_300));
        assert_eq!(policy.plan.layout, Some(Layout::Append));
        assert_eq!(policy.edges_ns, jetstream().edges_ns);
        #[cfg(target_os = "linux")]
        assert_eq!(policy.plan.arm.unwrap().to_string(), "syscall/fdatasync");
    }
}
