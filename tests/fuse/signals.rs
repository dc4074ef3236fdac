//! SIGINT and SIGTERM while an operation hangs: the program ends with what it has.

use std::time::Duration;

use nix::sys::signal::Signal;

use super::hangs::assert_tidy_after_release;
use super::stand::{Arm, Stand, WARMUP};
use synctail_rig::Kind;

const ARMS: [Arm; 2] =
    [Arm { name: "syscall/fdatasync", depth: 1 }, Arm { name: "uring-linked/fdatasync", depth: 1 }];
const GOOD_PAIRS: u64 = 6;
/// The promise is one second; the rest is for a busy machine.
const ENDS_WITHIN: Duration = Duration::from_secs(3);

/// Sends `signals` while the fsync `at` hangs; how often each ends the program with its own code.
fn interrupted(arm: Arm, at: u64, signals: &[Signal], code: i32, pairs: u64, stage: &str) {
    let script = format!("fsync.faults = [{{ at = {at}, hang = 'released' }}]");
    let Some(stand) = Stand::new(&script) else { return };
    let run = stand.start(arm, "--iters 40");
    stand.wait_for_hang(at, |entry| entry.kind.is_barrier());
    let sent: Vec<_> = signals.iter().map(|&signal| run.signal(signal)).collect();
    let ended = run.wait();
    let context = format!("{arm:?}, {signals:?}\n{:#}\n{}", ended.json, ended.stderr);
    assert!(ended.at - sent[0] < ENDS_WITHIN, "{:?}: {context}", ended.at - sent[0]);
    assert_eq!(ended.code, Some(code), "{context}");
    assert_eq!(ended.at("/status"), "interrupted", "{context}");
    assert_eq!(ended.pairs(), pairs, "{context}");
    assert_eq!(ended.at("/in_flight").as_array().unwrap().len(), 1, "{context}");
    assert_eq!(ended.at("/in_flight/0/stage"), stage, "{context}");
    assert_tidy_after_release(&stand, &ended);
}

#[test]
fn a_signal_while_a_barrier_hangs_ends_the_program_with_what_it_has() {
    for arm in ARMS {
        for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
            interrupted(arm, WARMUP + GOOD_PAIRS + 1, &[signal], code, GOOD_PAIRS, "measure");
        }
    }
}

#[test]
fn a_signal_while_the_warm_up_hangs_ends_the_program_with_nothing() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        interrupted(ARMS[0], 3, &[signal], code, 0, "warmup");
    }
}

#[test]
fn a_second_signal_changes_nothing_but_the_patience() {
    for arm in ARMS {
        let at = WARMUP + GOOD_PAIRS + 1;
        interrupted(arm, at, &[Signal::SIGINT; 2], 130, GOOD_PAIRS, "measure");
    }
}

#[test]
fn a_signal_while_the_path_is_looked_at_ends_the_program() {
    let Some(stand) = Stand::new("statfs.faults = [{ at = 1, hang = 'released' }]") else { return };
    let run = stand.start(ARMS[0], "");
    stand.wait_for_hang(1, |entry| entry.kind == Kind::Statfs);
    let sent = run.signal(Signal::SIGINT);
    let ended = run.wait();
    assert!(ended.at - sent < ENDS_WITHIN, "{:?}", ended.at - sent);
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert_eq!(ended.at("/status"), "interrupted");
    assert_tidy_after_release(&stand, &ended);
}
