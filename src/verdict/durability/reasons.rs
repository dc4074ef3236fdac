//! What shows that a flush did not reach stable storage. Each reason is a function of the record.

use synctail_bench::{Barrier, Engine};

use super::moved::Issuer;
use super::{finding, moved};
use crate::human;
use crate::record::{CounterKind, Finding, Record, Severity};
use crate::substrate;

/// A reason in one line, and the finding for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// What shows it.
    pub evidence: String,
    /// For the list of findings.
    pub finding: Finding,
}

/// Below this median no device was involved: the fastest flushes published for any take tens of
/// microseconds. 5 us exactly is still plausible.
pub const IMPLAUSIBLE_BELOW_NS: u64 = 5_000;
/// Fewer barriers than this may miss a counter by chance.
const BARRIERS_LEAST: u64 = 8;

/// Every reason that holds.
pub fn all(record: &Record) -> Vec<Reason> {
    let plain = [
        nothing(record),
        no_barrier(record),
        ram_backed(record),
        ordering_only(record),
        weakened(record),
        sync_disabled(record),
        intercepted(record),
        denied_cache(record),
    ];
    let mut reasons: Vec<Reason> = plain.into_iter().flatten().collect();
    // What is explained already needs no second accusation.
    if reasons.is_empty() {
        reasons.extend(counters_still(record).or_else(|| implausibly_fast(record)));
    }
    reasons
}

/// `--null`: the tool itself.
fn nothing(record: &Record) -> Option<Reason> {
    let plan = record.plan.as_ref().filter(|plan| plan.null)?;
    let evidence = "a device that does nothing was measured".to_owned();
    let text = "what the tool itself adds to a pair on this machine; says nothing of a storage";
    Some(Reason {
        evidence,
        finding: finding("null_device", Severity::Info, text, format!("arm {}", plan.arm)),
    })
}

/// The baseline arm: nothing was asked to be durable.
fn no_barrier(record: &Record) -> Option<Reason> {
    let arm = record.plan.as_ref()?.arm;
    if arm.barrier != Barrier::None {
        return None;
    }
    let evidence = "no barrier was issued".to_owned();
    let text = "a baseline: the times of writes that nothing made durable";
    Some(Reason {
        evidence,
        finding: finding("no_barrier", Severity::Warning, text, format!("arm {arm}")),
    })
}

/// A path in memory: gone with the power.
fn ram_backed(record: &Record) -> Option<Reason> {
    let why = substrate::ram_backed(record.substrate.as_ref()?)?;
    let text = "the path lives in memory; a power cut loses all of it";
    let finding = finding("ram_backed", Severity::Error, text, why.clone());
    Some(Reason { evidence: why, finding })
}

/// macOS: fsync and F_BARRIERFSYNC hand the data to the drive and do not ask it to write its cache
/// (fsync(2) and fcntl(2) of macOS say so; F_FULLFSYNC does).
fn ordering_only(record: &Record) -> Option<Reason> {
    let arm = record.plan.as_ref()?.arm;
    let mac = ["macos", "darwin"].iter().any(|name| record.tool.target.contains(name));
    let only_ordered = match arm.barrier {
        Barrier::FBarrierfsync => true,
        Barrier::Fsync => mac,
        _ => false,
    };
    if !only_ordered {
        return None;
    }
    let evidence = format!("{} does not flush the drive's cache on macOS", arm.barrier);
    let text = "not durable on macOS; measure syscall/f_fullfsync instead";
    Some(Reason {
        evidence,
        finding: finding("not_durable_on_macos", Severity::Error, text, format!("arm {arm}")),
    })
}

/// A mount option that switches barriers off, here or below a loop device.
fn weakened(record: &Record) -> Option<Reason> {
    let why = substrate::weakened(record.substrate.as_ref()?)?;
    let text = "barriers are switched off by a mount option; remount without it";
    let finding = finding("barriers_off", Severity::Error, text, why.clone());
    Some(Reason { evidence: why, finding })
}

/// ZFS answers every fsync at once under sync=disabled.
fn sync_disabled(record: &Record) -> Option<Reason> {
    let zfs = record.substrate.as_ref()?.zfs.as_ref()?;
    if zfs.sync.as_deref() != Some("disabled") {
        return None;
    }
    let evidence = format!("the ZFS dataset {} has sync=disabled", zfs.dataset);
    let text = "ZFS answers fsync without writing; zfs set sync=standard";
    let finding = finding("sync_disabled", Severity::Error, text, evidence.clone());
    Some(Reason { evidence, finding })
}

/// Calls of the C library that this arm's durability hangs on.
fn calls_of(record: &Record) -> &'static [&'static str] {
    let Some(arm) = record.plan.as_ref().map(|plan| plan.arm) else { return &[] };
    match (arm.engine, arm.barrier) {
        (Engine::Syscall, Barrier::Fdatasync) => &["fdatasync"],
        (Engine::Syscall, Barrier::Fsync) => &["fsync"],
        (Engine::Syscall, Barrier::Dsync) => &["pwritev2"],
        // The flag of the open decides, for a ring's file as well.
        (_, Barrier::ODsync | Barrier::OSync) => &["openat", "pwrite"],
        _ => &[],
    }
}

/// A library stands between the program and the kernel and answers in its place.
fn intercepted(record: &Record) -> Option<Reason> {
    let proof = record.proof.as_ref()?;
    let calls = calls_of(record);
    let foreign = proof.symbols.iter().find(|symbol| {
        let object = symbol.object.as_deref();
        calls.contains(&symbol.name.as_str()) && object.is_some_and(|object| !is_libc(object))
    });
    let flushes = calls.iter().any(|call| matches!(*call, "fdatasync" | "fsync"));
    let evidence = if let Some(symbol) = foreign {
        let object = symbol.object.as_deref().unwrap_or_default();
        format!("{} is provided by {object}, not by the C library", symbol.name)
    } else if flushes && !proof.refuses_bad_descriptor {
        "fdatasync or fsync accepted a descriptor that is none".to_owned()
    } else if flushes && moved::only_raw_moves(proof, BARRIERS_LEAST) {
        "the system call moves the flush counter and the C library's call does not".to_owned()
    } else {
        return None;
    };
    let text = "something answers in the kernel's place; look at LD_PRELOAD, /etc/ld.so.preload and \
                seccomp filters";
    let finding = finding("fsync_intercepted", Severity::Error, text, evidence.clone());
    Some(Reason { evidence, finding })
}

/// glibc, musl, or the program itself where it is static.
fn is_libc(object: &str) -> bool {
    let name = object.rsplit('/').next().unwrap_or(object);
    let known = ["libc.", "libc-", "libpthread", "ld-musl", "ld-linux", "linux-vdso"];
    known.iter().any(|start| name.starts_with(start)) || name.starts_with("synctail")
}

/// sysfs was told that there is no cache; the device says that there is one, or has one below it.
fn denied_cache(record: &Record) -> Option<Reason> {
    let nodes = &record.substrate.as_ref()?.block;
    let is_back =
        |cache: &Option<String>| cache.as_deref().is_some_and(|c| c.starts_with("write back"));
    let named = |name: &String| nodes.iter().find(|node| node.name == *name);
    let mut denied = nodes.iter().filter(|n| n.write_cache.as_deref() == Some("write through"));
    let evidence = denied.find_map(|node| {
        let name = &node.name;
        if is_back(&node.declared_cache) {
            let by = node.declared_by.as_ref().map_or(String::new(), |by| format!(" ({by})"));
            return Some(format!(
                "sysfs says write through but the device declares a cache: {name}{by}; no flush is sent"
            ));
        }
        // A stacked device takes this from what it stands on, unless somebody wrote it there.
        let below = node.below.iter().filter_map(named).find(|below| is_back(&below.write_cache))?;
        Some(format!(
            "sysfs calls {name} write through, so no flush passes it to {}, whose cache is write back",
            below.name
        ))
    })?;
    let text = "echo \"write back\" into the device's queue/write_cache";
    let finding = finding("cache_denied", Severity::Error, text, evidence.clone());
    Some(Reason { evidence, finding })
}

/// Barriers that moved no flush counter of any device below, all of which have a cache to be flushed.
fn counters_still(record: &Record) -> Option<Reason> {
    let proof = record.proof.as_ref()?;
    let leaves = moved::leaves(record.substrate.as_ref()?);
    let issuer = Issuer::of(record);
    let barriers = issuer.barriers(proof);
    if leaves.is_empty() || barriers < BARRIERS_LEAST || moved::by_the_run(record) {
        return None;
    }
    for leaf in &leaves {
        let counter = moved::counter(proof, CounterKind::Flushes, &leaf.name)?;
        // A driver that counts none (pmem, an NVMe multipath head) stands at 0 for ever.
        let still = counter.value > 0 && issuer.is_silent(proof, counter);
        if !still || leaf.write_cache.as_deref() != Some("write back") {
            return None;
        }
    }
    let names: Vec<&str> = leaves.iter().map(|leaf| leaf.name.as_str()).collect();
    let evidence = format!(
        "{barriers} barriers did not move the flush counter of {}, whose cache is write back",
        names.join(", ")
    );
    let text = "flushes are swallowed on their way to the device";
    let finding = finding("flushes_swallowed", Severity::Error, text, evidence.clone());
    Some(Reason { evidence, finding })
}

/// A latency that no device can have, and no counter that explains it.
fn implausibly_fast(record: &Record) -> Option<Reason> {
    let probed = record.proof.as_ref().is_some_and(|proof| moved::any(Issuer::of(record), proof));
    if probed || moved::by_the_run(record) {
        return None;
    }
    let pooled = &record.distributions.as_ref()?.pooled;
    // The shortest part that contains the flush, whatever is judged. One sample stands for itself.
    let parts = [pooled.barrier.as_ref(), pooled.service.as_ref(), Some(&pooled.total)];
    let measured = parts.into_iter().flatten().next()?;
    let measured = measured.p50_ns.unwrap_or(measured.max_ns);
    // Past the library, as a ring or a synchronous write goes; the library's own calls are measured.
    let probed = record.proof.as_ref();
    let probed = probed.map(|proof| proof.raw_barrier_p50_ns.unwrap_or(proof.libc_barrier_p50_ns));
    let median = probed.filter(|&ns| ns < measured).unwrap_or(measured);
    if median >= IMPLAUSIBLE_BELOW_NS {
        return None;
    }
    let evidence = format!(
        "half of the flushes took {} or less; below 5us no device was involved",
        human::time(median)
    );
    let text = "implausibly fast: something answers in the storage's place";
    let finding = finding("implausibly_fast", Severity::Error, text, evidence.clone());
    Some(Reason { evidence, finding })
}
