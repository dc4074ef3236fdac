//! Samples against the ledger.

use synctail_rig::{Entry, Kind};

use super::samples::{column, least_ns, saved, took};
use super::stand::{Arm, Stand, WARMUP, arms};

const PAIRS: u64 = 200;
/// A bound that a busy machine with two cores holds; the figures themselves are printed.
const EXCESS_P50_NS_MAX: u64 = 5_000_000;

/// No sample is shorter than the operation itself was. Chains of one file may be seen complete in another
/// order than they were answered in; their sorted times must bound each other all the same.
fn assert_covers(arm: Arm, what: &str, mut samples: Vec<u64>, mut real: Vec<u64>) {
    assert_eq!(samples.len(), real.len(), "{arm:?}: {what}");
    if arm.depth > 1 {
        samples.sort_unstable();
        real.sort_unstable();
    }
    for (index, (&sample, &real)) in samples.iter().zip(&real).enumerate() {
        assert!(sample >= least_ns(real), "{arm:?}: {what} {index}: {sample} ns of {real} ns");
    }
    let mut excess: Vec<u64> =
        samples.iter().zip(&real).map(|(sample, real)| sample.saturating_sub(*real)).collect();
    excess.sort_unstable();
    let at = |permille: usize| excess[(excess.len() * permille / 1_000).saturating_sub(1)];
    eprintln!(
        "{} depth {}: {what} above the ledger: p50 {} us, p99 {} us",
        arm.name,
        arm.depth,
        at(500) / 1_000,
        at(990) / 1_000
    );
    // Chains that wait for each other's file are longer than their own operations.
    if arm.depth == 1 {
        assert!(at(500) < EXCESS_P50_NS_MAX, "{arm:?}: {what}: {} ns", at(500));
    }
}

#[test]
fn every_sample_covers_its_operation_in_the_ledger() {
    let script = "
        seed = 11
        write.bimodal = { low = '50us', high = '2ms', high_share = 0.05 }
        fsync.lognormal = { median = '600us', sigma = 0.8, most = '20ms' }
    ";
    for arm in arms() {
        let Some(stand) = Stand::alone(script) else { return };
        let (ended, record) = saved(&stand, arm, &format!("--iters {PAIRS}"));
        assert_eq!(ended.at("/status"), "complete", "{arm:?}: {}", ended.stderr);
        assert_eq!(ended.pairs(), PAIRS);
        let writes = took(&stand.entries(|e| e.kind == Kind::Write));
        let barriers = took(&stand.barriers());
        let pairs = PAIRS as usize;
        assert_eq!((writes.len(), barriers.len()), (pairs, pairs), "{arm:?}");
        let both: Vec<u64> = writes.iter().zip(&barriers).map(|(w, b)| w + b).collect();
        let total = column(&record, "total_ns").unwrap();
        // Several two-trip chains mix their writes and barriers: only the parts can be held against
        // each other there.
        if arm.depth == 1 || arm.name != "uring/fdatasync" {
            assert_covers(arm, "total", total, both);
        }
        if let Some(barrier) = column(&record, "barrier_ns") {
            assert_covers(arm, "barrier", barrier, barriers);
            assert_covers(arm, "write", column(&record, "write_ns").unwrap(), writes);
        }
    }
}

#[test]
fn several_workers_have_each_their_own_operations() {
    let script = "fsync.delay = '1ms'";
    for arm in arms() {
        let Some(stand) = Stand::alone(script) else { return };
        let ended = stand.check(arm, "--iters 50 --workers 3");
        assert_eq!(ended.pairs(), 150, "{arm:?}: {}", ended.stderr);
        for worker in 0..3u64 {
            let name = format!("w{worker:05}");
            let own = stand.entries(|e| e.kind.is_barrier() && e.file.starts_with(&name));
            assert_eq!(own.len() as u64, WARMUP + 50, "{arm:?}: {name}");
            let pointer = format!("/distributions/workers/{worker}/total/min_ns");
            let least = own[WARMUP as usize..].iter().filter_map(Entry::took_ns).min().unwrap();
            assert!(ended.at(&pointer).as_u64().unwrap() >= least_ns(least), "{arm:?}: {name}");
        }
    }
}

#[test]
fn a_barrier_that_is_not_implemented_is_recognised_by_every_arm() {
    for arm in arms() {
        let Some(stand) = Stand::alone("fsync_mode = 'unimplemented'") else { return };
        let ended = stand.check(arm, "--iters 200");
        let context = format!("{arm:?}: {:#}", ended.json);
        assert_eq!(ended.at("/status"), "complete", "{context}");
        let asked = stand.rig.ledger().entries().iter().filter(|e| e.kind.is_barrier()).count();
        assert_eq!(asked, 1, "the kernel asks once: {context}");
        assert_eq!(ended.at("/verdict/durability"), "unproved", "{context}");
        assert_eq!(ended.at("/verdict/pass"), false, "{context}");
        assert_eq!(ended.code, Some(3), "{context}");
        let findings = ended.at("/verdict/findings").as_array().unwrap();
        assert!(findings.iter().any(|f| f["code"] == "implausibly_fast"), "{context}");
    }
}
