//! The first error ends the run: no retry, no verdict, what was measured before stays.

use super::stand::{Arm, BLOCK_BYTES, Ended, Stand, WARMUP, arms};

/// Measured pairs before the operation that fails.
const GOOD_PAIRS: u64 = 7;
/// Which operation that is.
const FAILS_AT: u64 = WARMUP + GOOD_PAIRS + 1;

/// Runs `arm` under a script with one fault.
fn run(arm: Arm, script: &str) -> Option<(Stand, Ended)> {
    let stand = Stand::new(script)?;
    let ended = stand.check(arm, "--iters 40");
    Some((stand, ended))
}

/// What holds after every fault.
fn assert_failed(arm: Arm, stand: &Stand, ended: &Ended, operation: &str) {
    let context = format!("{arm:?}\n{:#}\n{}", ended.json, ended.stderr);
    assert_eq!(ended.code, Some(3), "{context}");
    assert_eq!(ended.at("/status"), "failed", "{context}");
    assert_eq!(ended.at("/error/operation"), operation, "{context}");
    assert_eq!(ended.at("/error/stage"), "measure", "{context}");
    assert!(ended.at("/verdict").is_null(), "{context}");
    assert_eq!(ended.at("/in_flight"), &serde_json::json!([]), "{context}");
    assert!(stand.work_directories().is_empty(), "{context}");
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert_eq!(lines.len(), 1, "one message: {context}");
    assert!(lines[0].starts_with(&format!("synctail: {operation} on ")), "{context}");
    // With several chains in flight, those that were begun before the fault was seen may have failed
    // to complete; none can have been added.
    let pairs = ended.pairs();
    assert!(pairs <= GOOD_PAIRS && pairs + arm.depth > GOOD_PAIRS, "{context}");
}

fn assert_errno(ended: &Ended, name: &str) {
    assert_eq!(ended.at("/error/errno_name"), name, "{:#}", ended.json);
    assert!(ended.at("/error/errno").is_i64());
    let message = ended.at("/error/message").as_str().unwrap();
    assert!(message.ends_with(&format!("({name})")), "{message}");
}

/// No barrier follows one that failed, but those that were in flight beside it.
fn assert_no_retry(arm: Arm, stand: &Stand, barriers_at_most: u64) {
    let barriers = stand.barriers().len() as u64;
    assert!(barriers < barriers_at_most + arm.depth, "{arm:?}: {barriers} barriers");
    assert!(barriers + arm.depth > barriers_at_most, "{arm:?}: {barriers} barriers");
}

fn barrier_fails_with(errno: &str) {
    for arm in arms() {
        let script = format!("fsync.faults = [{{ at = {FAILS_AT}, error = '{errno}' }}]");
        let Some((stand, ended)) = run(arm, &script) else { return };
        assert_failed(arm, &stand, &ended, arm.barrier_call());
        assert_errno(&ended, errno);
        assert_no_retry(arm, &stand, FAILS_AT);
    }
}

fn write_fails_with(errno: &str) {
    for arm in arms() {
        let script = format!("write.faults = [{{ at = {FAILS_AT}, error = '{errno}' }}]");
        let Some((stand, ended)) = run(arm, &script) else { return };
        assert_failed(arm, &stand, &ended, arm.write_call());
        assert_errno(&ended, errno);
        assert_no_retry(arm, &stand, FAILS_AT - 1);
    }
}

#[test]
fn a_barrier_that_fails_is_not_tried_again() {
    barrier_fails_with("EIO");
}

#[test]
fn an_interrupted_barrier_ends_the_run() {
    barrier_fails_with("EINTR");
}

#[test]
fn an_interrupted_write_ends_the_run() {
    write_fails_with("EINTR");
}

#[test]
fn a_full_disk_ends_the_run() {
    write_fails_with("ENOSPC");
}

#[test]
fn a_full_quota_ends_the_run() {
    write_fails_with("EDQUOT");
}

#[test]
fn a_barrier_that_fails_during_warm_up_ends_the_run_with_nothing_measured() {
    for arm in arms() {
        let Some((stand, ended)) = run(arm, "fsync.faults = [{ at = 2, error = 'EIO' }]") else {
            return;
        };
        assert_eq!((ended.code, ended.at("/status").as_str()), (Some(3), Some("failed")));
        assert_eq!(ended.at("/error/stage"), "warmup", "{arm:?}");
        assert_errno(&ended, "EIO");
        assert_eq!(ended.pairs(), 0);
        assert!(ended.at("/verdict").is_null() && stand.work_directories().is_empty());
    }
}

#[test]
fn a_short_write_is_called_one_and_is_never_flushed_nor_counted() {
    for direct_io in [false, true] {
        for short in [1, 2_048, BLOCK_BYTES - 1] {
            for arm in arms() {
                let script = format!(
                    "direct_io = {direct_io}\nwrite.faults = [{{ at = {FAILS_AT}, short = {short} }}]"
                );
                let Some((stand, ended)) = run(arm, &script) else { return };
                assert_failed(arm, &stand, &ended, arm.write_call());
                let message = ended.at("/error/message").as_str().unwrap();
                let expected = format!("short write: {short} of {BLOCK_BYTES} bytes");
                assert!(message.ends_with(&expected), "{arm:?}, direct_io {direct_io}: {message}");
                assert!(ended.at("/error/errno").is_null(), "{arm:?}: {:#}", ended.json);
                if arm.depth == 1 && !arm.is_single_call() {
                    assert_eq!(stand.barriers().len() as u64, FAILS_AT - 1, "{arm:?}");
                }
            }
        }
    }
}
