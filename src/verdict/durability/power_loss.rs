//! Whether a device keeps what is in its cache when the power goes. No interface tells it, so it is inferred
//! from what the device declares and how long its flushes take, and never claimed.

use super::chain::is_physical;
use super::moved::leaves;
use crate::human;
use crate::record::{Block, DeviceTime, Inferred, PowerLossProtection, Record};

/// Programming a page of flash takes 200 us (one bit a cell) to more than 1 ms (three or four); a drive
/// that acknowledges flushes in less than half of the shortest has not waited for it.
const PROTECTED_BELOW_NS: u64 = 100_000;
/// From here on every flush waits for flash: a protected drive has no reason to.
const WAITING_FROM_NS: u64 = 500_000;
/// The kernel counts a device's time in milliseconds: fewer flushes than these leave too much to rounding.
const FLUSHES_LEAST: u64 = 100;
const MILLISECOND_NS: u64 = 1_000_000;

/// What may be inferred of each device at the bottom of the stack.
pub fn power_loss_protection(record: &Record) -> Vec<PowerLossProtection> {
    let Some(under) = &record.substrate else { return Vec::new() };
    let guest = under.machine.virtualised != Some(false);
    let disks = leaves(under).into_iter().filter(|leaf| leaf.kind == "disk");
    let of = |leaf: &Block| {
        let (inferred, from) = infer(record, leaf, guest);
        PowerLossProtection { node: leaf.name.clone(), inferred, from }
    };
    disks.map(of).collect()
}

fn infer(record: &Record, leaf: &Block, guest: bool) -> (Inferred, String) {
    let unknown = |why: &str| (Inferred::Unknown, why.to_owned());
    if !is_physical(leaf) {
        return unknown("the device behind it is not seen");
    }
    if guest {
        return unknown(
            "not known to be a physical machine: the device may be its host's invention",
        );
    }
    if leaf.rotational != Some(false) {
        return unknown(
            "not known to be flash: a disk with moving parts tells nothing by its flushes",
        );
    }
    let declares = |cache: &str| leaf.declared_cache.as_deref() == Some(cache);
    let by = leaf.declared_by.as_deref().unwrap_or("its own word");
    if declares("write through") {
        let from = format!("flash that declares no volatile write cache ({by})");
        return (Inferred::Yes, from);
    }
    let is_flushed = leaf.write_cache.as_deref() == Some("write back");
    let Some(flush_ns) = mean_flush_ns(record, leaf).filter(|_| is_flushed) else {
        return unknown("it declares a cache or tells nothing, and no run has timed its flushes");
    };
    let took = human::time(flush_ns);
    if flush_ns < PROTECTED_BELOW_NS {
        let from =
            format!("its flushes take {took} on average; programming flash takes 200us or more");
        return (Inferred::Yes, from);
    }
    if flush_ns >= WAITING_FROM_NS {
        let from = format!("its flushes take {took} on average: they wait for the flash");
        return (Inferred::No, from);
    }
    unknown(&format!("its flushes take {took} on average, which fits either"))
}

/// The mean of the run's interval by the kernel's own accounts, rounded up; nothing beside a load, which flushes
/// wait behind, nor where flushes without a write before them are in it, which cost nothing.
fn mean_flush_ns(record: &Record, leaf: &Block) -> Option<u64> {
    let devices = &record.interval.as_ref()?.devices;
    let device: &DeviceTime = devices.iter().find(|device| device.node == leaf.name)?;
    let tells = device.flushes >= FLUSHES_LEAST && device.writes >= device.flushes;
    if record.load.is_some() || !tells {
        return None;
    }
    Some((device.flush_ms + 1).saturating_mul(MILLISECOND_NS) / device.flushes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Interval, LoadReport};
    use crate::verdict::sample_record;

    fn record(change: impl FnOnce(&mut Block), flush_ms: u64) -> Record {
        let mut record = sample_record::barriers(&[vec![2_000_000; 200]]);
        let mut leaf = Block {
            name: "nvme0n1".into(),
            kind: "disk".into(),
            transport: Some("nvme".into()),
            rotational: Some(false),
            write_cache: Some("write back".into()),
            declared_cache: Some("write back".into()),
            ..Block::default()
        };
        change(&mut leaf);
        let under = record.substrate.as_mut().unwrap();
        under.machine.virtualised = Some(false);
        under.block = vec![leaf];
        let (writes, flushes) = (1_000, 1_000);
        let node = "nvme0n1".to_owned();
        let device = DeviceTime { node, writes, flushes, flush_ms, ..DeviceTime::default() };
        record.interval = Some(Interval { devices: vec![device], ..Interval::default() });
        record
    }

    fn inferred(record: &Record) -> (Inferred, String) {
        let found = power_loss_protection(record);
        assert_eq!(found.len(), 1);
        (found[0].inferred, found[0].from.clone())
    }

    #[test]
    fn what_is_declared_and_how_long_flushes_take_is_all_that_speaks() {
        let declared = record(
            |leaf| {
                leaf.declared_cache = Some("write through".into());
                leaf.declared_by = Some("NVMe identify controller".into());
            },
            0,
        );
        let (state, from) = inferred(&declared);
        assert_eq!(state, Inferred::Yes);
        assert!(from.contains("NVMe identify controller"), "{from}");
        let (state, from) = inferred(&record(|_| (), 30));
        assert_eq!(state, Inferred::Yes);
        assert!(from.contains("31.0us on average"), "{from}");
        assert_eq!(inferred(&record(|_| (), 99)).0, Inferred::Unknown, "100 us is the edge");
        assert_eq!(inferred(&record(|_| (), 300)).0, Inferred::Unknown);
        assert_eq!(inferred(&record(|_| (), 2_000)).0, Inferred::No);
    }

    #[test]
    fn nothing_is_inferred_where_something_else_may_explain_it() {
        let fast = |change: &dyn Fn(&mut Block)| inferred(&record(|leaf| change(leaf), 30)).0;
        assert_eq!(fast(&|leaf| leaf.transport = Some("virtio".into())), Inferred::Unknown);
        assert_eq!(fast(&|leaf| leaf.rotational = Some(true)), Inferred::Unknown);
        assert_eq!(fast(&|leaf| leaf.rotational = None), Inferred::Unknown);
        assert_eq!(
            fast(&|leaf| leaf.write_cache = Some("write through".into())),
            Inferred::Unknown
        );
        let mut guest = record(|_| (), 30);
        guest.substrate.as_mut().unwrap().machine.virtualised = Some(true);
        assert_eq!(inferred(&guest).0, Inferred::Unknown);
        let mut loaded = record(|_| (), 2_000);
        loaded.load = Some(LoadReport::default());
        assert_eq!(inferred(&loaded).0, Inferred::Unknown);
        let mut few = record(|_| (), 2_000);
        few.interval.as_mut().unwrap().devices[0].flushes = 99;
        assert_eq!(inferred(&few).0, Inferred::Unknown);
        let mut empty = record(|_| (), 30);
        empty.interval.as_mut().unwrap().devices[0].writes = 10;
        assert_eq!(inferred(&empty).0, Inferred::Unknown, "flushes of an empty cache cost nothing");
        few.substrate = None;
        assert_eq!(power_loss_protection(&few), []);
    }
}
