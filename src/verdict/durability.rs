//! Whether the flush reached stable storage, from what the record holds.
//!
//! The one place that decides it: evidence collected beside a run is to be weighed here.

use synctail_bench::Barrier;

use crate::record::{Durability, Finding, Record, Severity};
use crate::substrate;

/// Durability, the evidence in one line, and the findings that go with it.
///
/// Refuted where the path lives in memory, where the arm has no barrier, and where the barrier is
/// one that orders writes without making them durable. Unproved otherwise.
pub fn durability(record: &Record) -> (Durability, String, Vec<Finding>) {
    let refuted: Vec<(String, Finding)> =
        [nothing(record), no_barrier(record), ram_backed(record), ordering_only(record)]
            .into_iter()
            .flatten()
            .collect();
    if refuted.is_empty() {
        let evidence = "no proof of a flush was collected in this run";
        return (Durability::Unproved, evidence.to_owned(), Vec::new());
    }
    let (evidence, findings): (Vec<String>, Vec<Finding>) = refuted.into_iter().unzip();
    (Durability::NotDurable, evidence.join("; "), findings)
}

/// `--null`: the tool itself.
fn nothing(record: &Record) -> Option<(String, Finding)> {
    let plan = record.plan.as_ref().filter(|plan| plan.null)?;
    let evidence = "a device that does nothing was measured".to_owned();
    let text = "what the tool itself adds to a pair on this machine; says nothing of a storage";
    Some((evidence, finding("null_device", Severity::Info, text, format!("arm {}", plan.arm))))
}

/// The baseline arm: nothing was asked to be durable.
fn no_barrier(record: &Record) -> Option<(String, Finding)> {
    let arm = record.plan.as_ref()?.arm;
    if arm.barrier != Barrier::None {
        return None;
    }
    let evidence = "no barrier was issued".to_owned();
    let text = "a baseline: the times of writes that nothing made durable";
    Some((evidence, finding("no_barrier", Severity::Warning, text, format!("arm {arm}"))))
}

/// A path in memory: gone with the power.
fn ram_backed(record: &Record) -> Option<(String, Finding)> {
    let why = substrate::ram_backed(record.substrate.as_ref()?)?;
    let text = "the path lives in memory; a power cut loses all of it";
    Some((why.clone(), finding("ram_backed", Severity::Error, text, why)))
}

/// macOS: fsync and F_BARRIERFSYNC hand the data to the drive and do not ask it to write its cache
/// (fsync(2) and fcntl(2) of macOS say so; F_FULLFSYNC does).
fn ordering_only(record: &Record) -> Option<(String, Finding)> {
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
    Some((evidence, finding("not_durable_on_macos", Severity::Error, text, format!("arm {arm}"))))
}

fn finding(code: &str, severity: Severity, text: &str, evidence: String) -> Finding {
    Finding { code: code.to_owned(), severity, text: text.to_owned(), evidence }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::sample_record::{self, FDATASYNC};
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
}
