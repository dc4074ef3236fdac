//! Operations that never return: `--timeout` ends the program all the same, with everything measured
//! before, and says what was left.

use std::time::Duration;

use super::stand::{Arm, Ended, Stand, WARMUP, arms, is_alive, until};

const SYSCALL: Arm = Arm { name: "syscall/fdatasync", depth: 1 };
const LINKED: Arm = Arm { name: "uring-linked/fdatasync", depth: 1 };
const GOOD_PAIRS: u64 = 6;
const HANGS_AT: u64 = WARMUP + GOOD_PAIRS + 1;
const TIMEOUT_NS: u64 = 1_000_000_000;
/// The promise is one second after the time-out; the rest is for a busy machine.
const ENDS_WITHIN: Duration = Duration::from_secs(1 + 3);

fn hangs(kind: &str, at: u64) -> String {
    format!("{kind}.faults = [{{ at = {at}, hang = 'released' }}]")
}

/// Runs `arm` into the hang and to the end of the program, with nothing released.
fn time_out(arm: Arm, script: &str, args: &str) -> Option<(Stand, Ended)> {
    let stand = Stand::new(script)?;
    let ended = stand.check(arm, &format!("--iters 40 --timeout 1s {args}"));
    let context = format!("{arm:?}: {script}\n{:#}\n{}", ended.json, ended.stderr);
    assert_eq!(ended.code, Some(1), "{context}");
    assert_eq!(ended.at("/status"), "timed_out", "{context}");
    assert!(ended.took < ENDS_WITHIN, "{:?}: {context}", ended.took);
    assert!(ended.at("/error/message").as_str().unwrap().contains("--timeout"), "{context}");
    assert_left(&stand, &ended);
    Some((stand, ended))
}

/// The child is named and still there, and so is its directory.
fn assert_left(stand: &Stand, ended: &Ended) {
    let pid = ended.child_left().unwrap_or_else(|| panic!("no child named: {}", ended.stderr));
    assert!(is_alive(pid), "{pid}: {}", ended.stderr);
    for directory in stand.work_directories() {
        let path = stand.rig.path().join(directory);
        assert!(ended.stderr.contains(path.to_str().unwrap()), "{path:?}: {}", ended.stderr);
    }
}

/// Once the operation returns, the child removes its directory and ends by itself.
pub fn assert_tidy_after_release(stand: &Stand, ended: &Ended) {
    stand.rig.release();
    let pid = ended.child_left().unwrap();
    until("the child that was left has ended", || !is_alive(pid));
    assert_eq!(stand.work_directories(), [""; 0]);
}

/// The hang is the only thing in flight.
fn assert_in_flight(ended: &Ended, stage: &str, operations: &[&str]) {
    let context = format!("{:#}", ended.json);
    assert_eq!(ended.at("/in_flight").as_array().unwrap().len(), 1, "{context}");
    assert_eq!(ended.at("/in_flight/0/stage"), stage, "{context}");
    let operation = ended.at("/in_flight/0/operation").as_str().unwrap();
    assert!(operations.contains(&operation), "{context}");
    assert!(ended.at("/in_flight/0/at_least_ns").as_u64().unwrap() >= TIMEOUT_NS, "{context}");
}

fn measured_operation_hangs(kind: &str) {
    for arm in arms() {
        let Some((stand, ended)) = time_out(arm, &hangs(kind, HANGS_AT), "") else { return };
        let pairs = ended.pairs();
        if arm.depth == 1 {
            assert_in_flight(&ended, "measure", &["pair"]);
            assert_eq!(pairs, GOOD_PAIRS, "{arm:?}");
        } else {
            // Chains behind the one that hangs wait for the same file.
            let in_flight = ended.at("/in_flight").as_array().unwrap().len() as u64;
            assert!((1..=arm.depth).contains(&in_flight), "{arm:?}: {:#}", ended.json);
            assert!(pairs + arm.depth > GOOD_PAIRS, "{arm:?}: {pairs} pairs");
        }
        assert!(ended.at("/distributions/pooled/total/max_ns").as_u64().unwrap() >= TIMEOUT_NS);
        assert_eq!(ended.at("/verdict/band"), "BROKEN", "{arm:?}");
        assert_tidy_after_release(&stand, &ended);
    }
}

#[test]
fn a_barrier_that_hangs_is_the_worst_sample() {
    measured_operation_hangs("fsync");
}

#[test]
fn a_write_that_hangs_is_the_worst_sample() {
    measured_operation_hangs("write");
}

#[test]
fn a_barrier_of_the_warm_up_hangs() {
    for arm in [SYSCALL, LINKED] {
        let Some((stand, ended)) = time_out(arm, &hangs("fsync", 2), "") else { return };
        assert_in_flight(&ended, "warmup", &["pair"]);
        assert_eq!(ended.pairs(), 0);
        assert_tidy_after_release(&stand, &ended);
    }
}

#[test]
fn making_the_test_file_hangs() {
    let Some((stand, ended)) = time_out(SYSCALL, &hangs("open", 1), "") else { return };
    assert_in_flight(&ended, "prepare", &["open"]);
    assert_eq!(ended.pairs(), 0);
    assert_tidy_after_release(&stand, &ended);
}

#[test]
fn making_the_next_file_hangs_and_is_no_pair() {
    // The second file is made after 16 pairs, the warm-up among them.
    let script = hangs("open", 2);
    let Some((stand, ended)) = time_out(SYSCALL, &script, "--file-size 64KiB") else { return };
    assert_in_flight(&ended, "measure", &["open"]);
    assert_eq!(ended.pairs(), 16 - WARMUP);
    let max = ended.at("/distributions/pooled/total/max_ns").as_u64().unwrap();
    assert!(max < TIMEOUT_NS, "{max}: no pair took that long");
    assert_tidy_after_release(&stand, &ended);
}

#[test]
fn filling_a_file_that_is_to_be_overwritten_hangs() {
    for (kind, operations) in [("write", ["write", "pwrite"]), ("fsync", ["fsync", "fdatasync"])] {
        let args = "--layout overwrite --file-size 1MiB";
        let Some((stand, ended)) = time_out(SYSCALL, &hangs(kind, 1), args) else { return };
        assert_in_flight(&ended, "prepare", &operations);
        assert_eq!(ended.pairs(), 0);
        assert_tidy_after_release(&stand, &ended);
    }
}

#[test]
fn looking_at_the_path_hangs() {
    let Some((stand, ended)) = time_out(SYSCALL, &hangs("statfs", 1), "") else { return };
    assert_in_flight(&ended, "prepare", &["statx", "statfs"]);
    assert!(ended.at("/distributions").is_null(), "{:#}", ended.json);
    assert_tidy_after_release(&stand, &ended);
}

#[test]
fn the_clean_up_hangs_and_every_pair_is_there() {
    let Some((stand, ended)) = time_out(SYSCALL, &hangs("unlink", 1), "") else { return };
    assert_in_flight(&ended, "cleanup", &["unlink"]);
    assert_eq!(ended.pairs(), 40);
    assert_tidy_after_release(&stand, &ended);
}

#[test]
fn one_of_several_workers_hangs_and_the_others_finish() {
    for arm in [SYSCALL, LINKED] {
        let script =
            format!("fsync.faults = [{{ file = 'w00001', at = {HANGS_AT}, hang = 'released' }}]");
        let Some((stand, ended)) = time_out(arm, &script, "--workers 3") else { return };
        assert_in_flight(&ended, "measure", &["pair"]);
        assert_eq!(ended.at("/in_flight/0/worker"), 1);
        assert_eq!(ended.pairs(), 40 + GOOD_PAIRS + 40);
        let workers = ended.at("/distributions/workers").as_array().unwrap();
        let counts: Vec<(u64, u64)> = workers
            .iter()
            .map(|w| (w["worker"].as_u64().unwrap(), w["total"]["count"].as_u64().unwrap()))
            .collect();
        assert_eq!(counts, [(0, 40), (1, GOOD_PAIRS), (2, 40)]);
        let of = |worker: usize| workers[worker]["total"]["max_ns"].as_u64().unwrap();
        assert!(of(1) >= TIMEOUT_NS && of(0) < TIMEOUT_NS && of(2) < TIMEOUT_NS);
        assert_eq!(ended.at("/verdict/band"), "BROKEN", "the worst worker is judged");
        assert_tidy_after_release(&stand, &ended);
    }
}
