//! Each reason alone, and what is not to be accused.

use super::*;
use crate::record::{
    Block, CounterKind, CounterMoved, DeviceTime, Interval, Mount, Proof, SymbolRecord, Trace,
    TracedDevice, Waits, Zfs,
};
use crate::verdict::sample_record::{self, FDATASYNC};
use synctail_bench::Barrier;
use synctail_bench::{Arm, Engine};

fn with_arm(barrier: Barrier, target: &str) -> Record {
    let arm = Arm { engine: Engine::Syscall, barrier, direct: false };
    let mut record = sample_record::pairs(arm, &[vec![(1_000, 2_000_000); 200]]);
    record.tool.target = target.to_owned();
    record
}

fn codes(record: &Record) -> Vec<String> {
    durability(record).2.into_iter().map(|finding| finding.code).collect()
}

#[test]
fn without_evidence_it_is_unproved() {
    let record = with_arm(FDATASYNC.barrier, "x86_64-linux");
    let (state, evidence, findings) = durability(&record);
    assert_eq!(state, Durability::Unproved);
    assert_eq!(evidence, "no proof of a flush was collected in this run");
    assert_eq!(findings, []);
}

#[test]
fn memory_and_no_barrier_are_not_durable_and_both_are_said() {
    let mut record = with_arm(FDATASYNC.barrier, "x86_64-linux");
    record.substrate.as_mut().unwrap().filesystem = Some("tmpfs".into());
    assert_eq!(durability(&record).0, Durability::NotDurable);
    assert!(durability(&record).1.contains("tmpfs"));
    assert_eq!(codes(&record), ["ram_backed"]);

    let mut record = with_arm(Barrier::None, "x86_64-linux");
    assert_eq!(durability(&record).0, Durability::NotDurable);
    assert_eq!(codes(&record), ["no_barrier"]);
    record.substrate.as_mut().unwrap().filesystem = Some("tmpfs".into());
    assert_eq!(codes(&record), ["no_barrier", "ram_backed"]);
    assert!(durability(&record).1.starts_with("no barrier was issued; "));
}

#[test]
fn fsync_is_durable_on_linux_and_not_on_macos() {
    for target in ["aarch64-macos", "aarch64-apple-darwin"] {
        assert_eq!(codes(&with_arm(Barrier::Fsync, target)), ["not_durable_on_macos"]);
        assert_eq!(codes(&with_arm(Barrier::FBarrierfsync, target)), ["not_durable_on_macos"]);
        assert!(codes(&with_arm(Barrier::FFullfsync, target)).is_empty());
    }
    assert_eq!(durability(&with_arm(Barrier::Fsync, "x86_64-linux")).0, Durability::Unproved);
}

#[test]
fn the_median_alone_makes_a_run_implausible_and_5_us_is_the_edge() {
    let code = |ns: u64| codes(&sample_record::barriers(&[vec![ns; 100]]));
    assert_eq!(code(4_999), ["implausibly_fast"]);
    assert!(code(5_000).is_empty());
    assert_eq!(codes(&sample_record::barriers(&[vec![100]])), ["implausibly_fast"]);
    // Most flushes real, a few absorbed: not implausible.
    let mut mixed = vec![1_000; 49];
    mixed.extend([2_000_000; 51]);
    assert!(codes(&sample_record::barriers(&[mixed])).is_empty());
}

/// A disk of this machine with a write-back cache, and a probe of 64 barriers.
fn on_a_disk() -> Record {
    let mut record = with_arm(FDATASYNC.barrier, "x86_64-linux");
    let disk = Block {
        name: "sda".into(),
        kind: "disk".into(),
        write_cache: Some("write back".into()),
        transport: Some("sata".into()),
        fua: Some(false),
        ..Block::default()
    };
    record.substrate.as_mut().unwrap().block = vec![disk];
    record.proof = Some(Proof {
        libc_barriers: 32,
        raw_barriers: 32,
        bare_writes: 32,
        libc_barrier_p50_ns: 2_000_000,
        counters: vec![moved(32, 32, 0)],
        refuses_bad_descriptor: true,
        ..Proof::default()
    });
    record
}

fn moved(libc: u64, raw: u64, none: u64) -> CounterMoved {
    CounterMoved { kind: CounterKind::Flushes, node: "sda".into(), value: 900, libc, raw, none }
}

fn leaf(record: &mut Record) -> &mut Block {
    &mut record.substrate.as_mut().unwrap().block[0]
}

fn counter(record: &mut Record) -> &mut CounterMoved {
    &mut record.proof.as_mut().unwrap().counters[0]
}

#[test]
fn flushes_that_reach_a_device_of_this_machine_prove_it() {
    let mut record = on_a_disk();
    let (state, evidence, findings) = durability(&record);
    assert_eq!((state, findings.len()), (Durability::Proved, 0), "{evidence}");
    assert_eq!(evidence, "flushes reach sda (1.00 a barrier)");
    assert_eq!(basis(&record, state), Some(Basis::FlushesMoved));
    // Others' flushes beside ours change nothing, as many as they are.
    *counter(&mut record) = moved(500 + 32, 500 + 32, 500);
    assert_eq!(durability(&record).0, Durability::Proved);
    *counter(&mut record) = moved(500, 500, 500);
    let (state, evidence, _) = durability(&record);
    assert_eq!(state, Durability::Unproved, "swallowed or merged with others: {evidence}");
}

#[test]
fn a_virtual_disk_proves_nothing_of_its_host() {
    for (transport, text) in
        [("virtio", "the host below the virtual disk sda"), ("virtual", "sda (virtual)")]
    {
        let mut record = on_a_disk();
        leaf(&mut record).transport = Some(transport.into());
        let (state, evidence, _) = durability(&record);
        assert_eq!(state, Durability::Unproved, "{transport}");
        assert!(evidence.contains(text) && evidence.contains("1.00 a barrier"), "{evidence}");
    }
    let mut record = on_a_disk();
    record.substrate.as_mut().unwrap().machine.virtualised = Some(true);
    assert_eq!(durability(&record).0, Durability::Unproved);
}

#[test]
fn counters_that_stand_still_accuse_only_where_they_count_and_there_is_a_cache() {
    let mut record = on_a_disk();
    *counter(&mut record) = moved(0, 0, 0);
    assert_eq!(codes(&record), ["flushes_swallowed"]);
    // A few flushes of others do not hide it: 32 honest barriers need 32 flushes.
    *counter(&mut record) = moved(7, 7, 5);
    assert_eq!(codes(&record), ["flushes_swallowed"]);
    *counter(&mut record) = moved(8, 8, 5);
    assert_eq!(durability(&record).0, Durability::Unproved);
    *counter(&mut record) = moved(0, 0, 0);
    counter(&mut record).value = 0;
    assert_eq!(durability(&record).0, Durability::Unproved, "a driver that counts none");
    counter(&mut record).value = 900;
    leaf(&mut record).write_cache = Some("write through".into());
    assert_eq!(durability(&record).0, Durability::Unproved, "the kernel sends none");
    leaf(&mut record).declared_cache = Some("write through".into());
    let (state, evidence, _) = durability(&record);
    assert_eq!(state, Durability::Proved, "the device itself says so: {evidence}");
    assert_eq!(basis(&record, state), Some(Basis::DeviceDeclaresNoCache));
    assert_eq!(basis(&record, Durability::Unproved), None);
    leaf(&mut record).transport = Some("virtio".into());
    assert_eq!(durability(&record).0, Durability::Unproved, "an emulation may say anything");
    let mut record = on_a_disk();
    record.proof.as_mut().unwrap().counters.clear();
    assert_eq!(durability(&record).0, Durability::Unproved, "not counted");
}

#[test]
fn what_only_the_probe_met_does_not_accuse_the_run() {
    let mut record = on_a_disk();
    *counter(&mut record) = moved(0, 0, 0);
    let device = DeviceTime { node: "sda".into(), flushes: 200, ..DeviceTime::default() };
    record.interval = Some(Interval { devices: vec![device], ..Interval::default() });
    assert!(codes(&record).is_empty());
    record.interval.as_mut().unwrap().devices[0].flushes = 49;
    assert_eq!(codes(&record), ["flushes_swallowed"]);
}

#[test]
fn a_cache_that_sysfs_denies_is_found() {
    let mut record = on_a_disk();
    leaf(&mut record).write_cache = Some("write through".into());
    leaf(&mut record).declared_cache = Some("write back".into());
    assert_eq!(codes(&record), ["cache_denied"]);
    let says = "sysfs says write through but the device declares a cache: sda; no flush is sent";
    assert_eq!(durability(&record).1, says);
    leaf(&mut record).declared_by = Some("NVMe identify controller".into());
    assert!(durability(&record).1.contains("sda (NVMe identify controller)"));
    // A loop device over the disk, which lets no flush through, whatever the disk's counter does.
    let mut record = on_a_disk();
    let cache = |cache: &str| Some(cache.to_owned());
    let mut above = Block { name: "loop0".into(), below: vec!["sda".into()], ..Block::default() };
    above.write_cache = cache("write through");
    record.substrate.as_mut().unwrap().block.insert(0, above);
    assert_eq!(codes(&record), ["cache_denied"]);
    record.substrate.as_mut().unwrap().block[0].write_cache = cache("write back");
    assert!(codes(&record).is_empty());
    record.substrate.as_mut().unwrap().block[0].write_cache = cache("write through");
    record.substrate.as_mut().unwrap().block[1].write_cache = cache("write through");
    assert!(codes(&record).is_empty(), "nothing below has a cache");
}

#[test]
fn a_library_in_between_is_found_by_its_name_its_answer_or_the_counters() {
    let symbol =
        |name: &str, object: &str| SymbolRecord { name: name.into(), object: Some(object.into()) };
    let mut record = on_a_disk();
    record.proof.as_mut().unwrap().symbols = vec![
        symbol("fdatasync", "/lib/x86_64-linux-gnu/libc.so.6"),
        symbol("fsync", "/x/libeat.so"),
    ];
    assert_eq!(durability(&record).0, Durability::Proved, "fsync is not called by this arm");
    record.proof.as_mut().unwrap().symbols.push(symbol("fdatasync", "/x/libeat.so"));
    assert_eq!(codes(&record), ["fsync_intercepted"]);
    let mut record = on_a_disk();
    record.proof.as_mut().unwrap().refuses_bad_descriptor = false;
    assert_eq!(codes(&record), ["fsync_intercepted"]);
    let mut record = on_a_disk();
    *counter(&mut record) = moved(0, 32, 0);
    assert_eq!(codes(&record), ["fsync_intercepted"]);
}

#[test]
fn writes_with_fua_are_neither_proved_nor_accused() {
    let mut record = on_a_disk();
    record.plan.as_mut().unwrap().arm = "syscall/dsync+direct".parse().unwrap();
    assert_eq!(durability(&record).0, Durability::Proved, "no FUA: a flush follows");
    leaf(&mut record).fua = Some(true);
    assert_eq!(durability(&record).0, Durability::Unproved);
}

#[test]
fn a_trace_that_saw_every_write_with_fua_proves_it() {
    let mut record = on_a_disk();
    record.plan.as_mut().unwrap().arm = "syscall/dsync+direct".parse().unwrap();
    leaf(&mut record).fua = Some(true);
    let node = leaf(&mut record).name.clone();
    let traced = |fua_writes| Trace {
        clock: "mono".into(),
        events: 9,
        events_lost: 0,
        pairs: 100,
        all: Waits::default(),
        tail: None,
        worst: Vec::new(),
        devices: vec![TracedDevice { node: node.clone(), fua_writes, ..TracedDevice::default() }],
    };
    record.trace = Some(traced(100));
    let (durable, evidence, _) = durability(&record);
    assert_eq!(
        (durable, evidence.contains("by the trace")),
        (Durability::Proved, true),
        "{evidence}"
    );
    assert_eq!(basis(&record, durable), Some(Basis::FuaTraced));
    record.trace = Some(traced(98));
    assert_eq!(durability(&record).0, Durability::Unproved);
}

#[test]
fn a_counter_that_moved_explains_a_short_barrier() {
    let mut record = on_a_disk();
    record.proof.as_mut().unwrap().raw_barrier_p50_ns = Some(900);
    assert_eq!(durability(&record).0, Durability::Proved);
    counter(&mut record).kind = CounterKind::Jbd2Commits;
    assert_eq!(codes(&record), ["implausibly_fast"]);
}

#[test]
fn options_and_properties_that_switch_it_off_are_found() {
    let mut record = on_a_disk();
    let under = record.substrate.as_mut().unwrap();
    under.filesystem = Some("ext4".into());
    under.mount = Some(Mount { super_options: "rw,nobarrier".into(), ..Mount::default() });
    assert_eq!(codes(&record), ["barriers_off"]);
    let mut record = on_a_disk();
    let sync = Some("disabled".to_owned());
    record.substrate.as_mut().unwrap().zfs = Some(Zfs { sync, ..Zfs::default() });
    assert_eq!(codes(&record), ["sync_disabled"]);
}
