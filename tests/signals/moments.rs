//! SIGINT and SIGTERM at many moments of a run.

use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal::{self, SIGINT, SIGTERM};
use serde_json::Value;

use super::{PATIENCE, code_of, end_by, leaves_nothing};
use crate::support::{
    ARMS_OF_EACH_KIND, Cmd, Folder, Outcome, Running, assert_clean, heavy, rings_are_used,
};

/// From before main to after the end of a run of about 100 ms.
const DELAYS_MS: [u64; 16] = [0, 1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 45, 70, 100, 140, 200];

/// A run with every stage in it.
fn short_run(place: &Path, args: &str) -> Cmd {
    Cmd::check_json(place).args("--duration 60ms --warmup 10 --max-bytes 64MiB").args(args)
}

/// Asserts that the end is one of the three that are right: before the program had taken the signal
/// over, interrupted, or over before it came.
#[track_caller]
fn ended_well(outcome: &Outcome, signal: Signal) {
    let all = outcome.all();
    if outcome.signal == Some(signal as i32) {
        assert!(outcome.stdout.is_empty(), "half of a result: {all}");
        return;
    }
    let code = outcome.code.unwrap_or_else(|| panic!("{all}"));
    let record = outcome.json();
    if code != code_of(signal) {
        assert_eq!(record["status"], "complete", "{all}");
        assert_eq!(record["verdict"]["exit_code"], code, "{all}");
        assert!(matches!(code, 0 | 1 | 4), "{all}");
        return;
    }
    // The signal may come between the last pair and the end; then all was measured.
    assert_eq!(record["status"], "interrupted", "{all}");
    if record["verdict"].is_null() {
        assert!(record["error"]["message"].is_string(), "{all}");
        assert_eq!(record.get("distributions"), None, "{all}");
    } else {
        assert_eq!(record["verdict"]["exit_code"], code, "{all}");
        counts_agree(&record, &all);
    }
}

fn counts_agree(record: &Value, all: &str) {
    let pairs = record["counters"]["pairs"].as_u64().unwrap();
    assert_eq!(record["distributions"]["pooled"]["total"]["count"], pairs, "{all}");
}

fn after(running: &mut Running, delay_ms: u64) -> Option<Outcome> {
    running.wait_for(Duration::from_millis(delay_ms))
}

#[test]
fn one_signal_at_any_moment() {
    for signal in [SIGINT, SIGTERM] {
        for delay_ms in DELAYS_MS {
            let folder = Folder::new();
            let mut running = short_run(folder.path(), "").start();
            let over = after(&mut running, delay_ms);
            let outcome = over.unwrap_or_else(|| end_by(running, signal, 1));
            ended_well(&outcome, signal);
            leaves_nothing(folder.path(), &outcome);
        }
    }
}

#[test]
fn two_signals_at_any_moment() {
    for signal in [SIGINT, SIGTERM] {
        for delay_ms in DELAYS_MS {
            let folder = Folder::new();
            let mut running = short_run(folder.path(), "--workers 2").start();
            let over = after(&mut running, delay_ms);
            let outcome = over.unwrap_or_else(|| end_by(running, signal, 2));
            ended_well(&outcome, signal);
            leaves_nothing(folder.path(), &outcome);
        }
    }
}

#[test]
fn a_terminal_signals_the_child_as_well() {
    for delay_ms in DELAYS_MS {
        let folder = Folder::new();
        let mut running = short_run(folder.path(), "").in_own_group().start();
        let outcome = after(&mut running, delay_ms).unwrap_or_else(|| {
            running.signal_group(SIGINT);
            running.wait_for(PATIENCE).unwrap_or_else(|| panic!("not over after {delay_ms} ms"))
        });
        ended_well(&outcome, SIGINT);
        leaves_nothing(folder.path(), &outcome);
    }
}

#[test]
fn one_signal_of_a_terminal_is_heard_once() {
    for _ in 0..5 {
        let folder = Folder::new();
        let cmd = Cmd::check_json(folder.path()).args("--duration 50s --max-bytes 16MiB");
        let mut running = cmd.in_own_group().start();
        super::until_it_writes(folder.path());
        running.signal_group(SIGINT);
        let outcome = running.wait_for(PATIENCE).expect("it ends").exits(130);
        // Heard twice, the parent would not have waited for the child and would say so.
        assert!(!outcome.stderr_text().contains("left child"), "{}", outcome.all());
        assert_clean(folder.path());
    }
}

#[test]
fn every_kind_of_loop_is_left_after_the_pair_at_hand() {
    let (_heavy, _rings) = (heavy(), rings_are_used());
    for arm in ARMS_OF_EACH_KIND {
        for args in ["--workers 1", "--workers 20", "--layout overwrite --file-size 1MiB"] {
            let folder = Folder::new();
            let cmd = Cmd::check_json(folder.path()).args("--duration 50s --max-bytes 32MiB");
            let running = cmd.args(args).args("--arm").arg(arm).start();
            super::until_it_writes(folder.path());
            let outcome = end_by(running, SIGTERM, 1);
            ended_well(&outcome, SIGTERM);
            leaves_nothing(folder.path(), &outcome.exits(143));
        }
    }
}

#[test]
fn files_that_are_being_filled_are_given_up() {
    let _heavy = heavy();
    let folder = Folder::in_memory();
    let cmd = Cmd::check_json(folder.path()).args("--layout overwrite --file-size 1GiB");
    let running = cmd.start();
    super::until_it_writes(folder.path());
    let outcome = end_by(running, SIGINT, 1);
    ended_well(&outcome, SIGINT);
    let record = outcome.json();
    assert!(record["verdict"].is_null(), "nothing was measured: {}", outcome.all());
    leaves_nothing(folder.path(), &outcome.exits(130));
}

#[test]
fn a_warm_up_is_left_without_a_verdict() {
    let folder = Folder::new();
    let cmd = Cmd::check_json(folder.path()).args("--warmup 1000000000 --max-bytes 16MiB");
    let running = cmd.start();
    super::until_it_writes(folder.path());
    let outcome = end_by(running, SIGINT, 1).exits(130);
    let record = outcome.json();
    assert_eq!(record["status"], "interrupted", "{}", outcome.all());
    assert!(record["verdict"].is_null(), "{}", outcome.all());
    let message = record["error"]["message"].as_str().unwrap();
    assert!(message.contains("interrupted before a pair was complete"), "{message}");
    leaves_nothing(folder.path(), &outcome);
}
