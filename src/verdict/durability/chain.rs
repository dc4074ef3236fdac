//! Whether a flush is seen to arrive at the last device, and whether that device is real.

use synctail_bench::Barrier;

use super::moved::{self, Issuer};
use crate::record::{Basis, Block, CounterKind, Proof, Record, Substrate};
use crate::verdict::traced;

/// Each pair is a write of its own: fewer writes with FUA than pairs leave some of them without one.
const FUA_SHARE_LEAST: f64 = 0.99;
const NO_PROOF: &str = "no proof of a flush was collected in this run";
/// Transports that end at a device of this machine.
const PHYSICAL: [&str; 6] = ["nvme", "sata", "sas", "scsi", "usb", "mmc"];

/// What proves it and what that rests on, or what is missing. Of several bases it is the one that needs a word
/// beside the counters.
pub fn proof(record: &Record) -> Result<(String, Basis), String> {
    let substrate = record.substrate.as_ref().ok_or("what lies under the path is not known")?;
    let leaves = moved::leaves(substrate);
    if leaves.is_empty() {
        return Err(match &record.proof {
            Some(proof) => not_seen(proof, substrate),
            None => NO_PROOF.to_owned(),
        });
    }
    let (arrived, missing): (Vec<_>, Vec<_>) =
        leaves.iter().map(|leaf| arrives(record, leaf)).partition(Result::is_ok);
    let (arrived, bases): (Vec<String>, Vec<Basis>) = arrived.into_iter().flatten().unzip();
    // The intent log of a pool lies on some of its devices, a filesystem on all of them.
    let enough = substrate.zfs.is_some() && !arrived.is_empty();
    if let Some(Err(missing)) = missing.into_iter().next().filter(|_| !enough) {
        return Err(missing);
    }
    let arrived = arrived.join("; ");
    if let Some(reason) = unseen_below(substrate) {
        return Err(format!("{arrived}, but {reason}"));
    }
    match beyond(substrate, &leaves) {
        Some(host) => Err(format!("{arrived}, but {host}")),
        None => Ok((arrived, bases.into_iter().min().unwrap_or(Basis::FlushesMoved))),
    }
}

/// Why no device can be watched.
fn not_seen(proof: &Proof, substrate: &Substrate) -> String {
    let reason = unseen_below(substrate).unwrap_or_else(|| "no block device is known below".into());
    let zil = moved::counter(proof, CounterKind::ZilCommits, "zfs").and_then(|counter| {
        let share = Issuer::Raw.per_barrier(proof, counter);
        Issuer::Raw
            .moves(proof, counter)
            .then(|| format!("ZIL commits moved with the barriers ({share:.2} each), but "))
    });
    format!("{}{reason}", zil.unwrap_or_default())
}

/// Where the walk down the stack had to end.
fn unseen_below(substrate: &Substrate) -> Option<String> {
    substrate.unknown.iter().find(|unknown| unknown.fact == "block").map(|u| u.reason.clone())
}

/// What shows that a flush reached `leaf`.
fn arrives(record: &Record, leaf: &Block) -> Result<(String, Basis), String> {
    let name = &leaf.name;
    if declares_no_cache(leaf) {
        let by = leaf.declared_by.as_ref().map_or(String::new(), |by| format!(" ({by})"));
        let text = format!("{name} declares that it has no volatile cache{by}");
        return Ok((text, Basis::DeviceDeclaresNoCache));
    }
    if leaf.write_cache.as_deref() == Some("write through") {
        return Err(format!(
            "the kernel believes that {name} has no volatile cache and sends no flush; only the \
             device itself could tell"
        ));
    }
    if by_fua(record) && leaf.fua == Some(true) {
        return match traced::fua_per_pair(record, name) {
            Some(share) if share >= FUA_SHARE_LEAST => {
                let text =
                    format!("writes with FUA reach {name} ({share:.2} a pair, by the trace)");
                Ok((text, Basis::FuaTraced))
            }
            _ => Err(format!(
                "writes with FUA to {name} move no flush counter; --trace would show them"
            )),
        };
    }
    let proof = record.proof.as_ref().ok_or(NO_PROOF)?;
    let counter = moved::counter(proof, CounterKind::Flushes, name)
        .ok_or_else(|| format!("the kernel counts no flushes of {name}"))?;
    let issuer = Issuer::of(record);
    if in_the_write(record) && !issuer.is_silent(proof, counter) {
        let text = format!("writes are flushed to {name} themselves (sync=always)");
        return Ok((text, Basis::FlushedInWrite));
    }
    let share = issuer.per_barrier(proof, counter).max(0.0);
    if issuer.moves(proof, counter) {
        return Ok((format!("flushes reach {name} ({share:.2} a barrier)"), Basis::FlushesMoved));
    }
    let others = counter.none;
    Err(format!(
        "flushes of {name} moved by {share:.2} a barrier beside {others} of others: too few to tell"
    ))
}

/// ZFS flushes within the write, so that slices without barriers move the counters as well.
fn in_the_write(record: &Record) -> bool {
    let zfs = record.substrate.as_ref().and_then(|substrate| substrate.zfs.as_ref());
    zfs.is_some_and(|zfs| zfs.sync.as_deref() == Some("always"))
}

/// The device's own word, where it is a device and not somebody's emulation.
fn declares_no_cache(leaf: &Block) -> bool {
    leaf.declared_cache.as_deref() == Some("write through") && is_physical(leaf)
}

/// Whether the device is one of this machine and not somebody's emulation.
pub fn is_physical(leaf: &Block) -> bool {
    leaf.transport.as_deref().is_some_and(|transport| PHYSICAL.contains(&transport))
}

/// A write that carries its own flush past the page cache.
fn by_fua(record: &Record) -> bool {
    let arm = record.plan.as_ref().map(|plan| plan.arm);
    arm.is_some_and(|arm| {
        arm.direct && matches!(arm.barrier, Barrier::Dsync | Barrier::ODsync | Barrier::OSync)
    })
}

/// What may still swallow a flush behind the last device that is seen.
fn beyond(substrate: &Substrate, leaves: &[&Block]) -> Option<String> {
    if let Some(leaf) = leaves.iter().find(|leaf| !is_physical(leaf)) {
        let name = &leaf.name;
        return Some(match leaf.transport.as_deref() {
            Some("virtio" | "xen" | "hyperv") => {
                format!("the host below the virtual disk {name} is not seen")
            }
            Some(transport) => format!("what lies behind {name} ({transport}) is not seen"),
            None => format!("what lies behind {name} is not known"),
        });
    }
    let guest = substrate.machine.virtualised == Some(true);
    guest.then(|| "this machine is virtual: the host below its disks is not seen".to_owned())
}
