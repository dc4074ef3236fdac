//! Signals that must not change what is measured.

use std::time::Duration;

use nix::sys::signal::Signal::{self, SIGCHLD, SIGCONT, SIGHUP, SIGSTOP, SIGURG, SIGWINCH};
use nix::sys::signal::kill;
use nix::unistd::Pid;

use super::{PATIENCE, leaves_nothing, until_it_writes};
use crate::support::{ARMS_OF_EACH_KIND, Cmd, Folder, measuring_in, rings_are_used};

const STOPPED: Duration = Duration::from_millis(300);

#[test]
fn a_parent_that_was_stopped_has_lost_nothing() {
    for args in ["--iters 400", "--iters 100 --workers 4"] {
        let folder = Folder::new();
        let mut running = Cmd::check_json(folder.path()).args(args).start();
        until_it_writes(folder.path());
        running.signal(SIGSTOP);
        // The child goes on, and may well end before the parent is continued.
        assert!(running.wait_for(STOPPED).is_none(), "a stopped process does not end");
        running.signal(SIGCONT);
        let outcome = running.wait();
        let record = outcome.json();
        assert_eq!(record["status"], "complete", "{}", outcome.all());
        assert_eq!(record["counters"]["pairs"], 400, "{}", outcome.all());
        assert_eq!(record["distributions"]["pooled"]["total"]["count"], 400);
        leaves_nothing(folder.path(), &outcome);
    }
}

#[test]
fn a_pair_in_which_the_child_was_stopped_is_not_dropped() {
    let folder = Folder::new();
    let mut running = Cmd::check_json(folder.path()).args("--iters 2000").start();
    until_it_writes(folder.path());
    let child = measuring_in(folder.path()).into_iter().find(|&pid| pid != running.pid());
    let child = Pid::from_raw(child.expect("a measuring child"));
    kill(child, SIGSTOP).unwrap();
    assert!(running.wait_for(STOPPED).is_none(), "nobody measures");
    kill(child, SIGCONT).unwrap();
    let outcome = running.wait();
    let record = outcome.json();
    assert_eq!(record["status"], "complete", "{}", outcome.all());
    assert_eq!(record["counters"]["pairs"], 2_000, "{}", outcome.all());
    let wall = record["wall_ns"].as_u64().unwrap();
    assert!(u128::from(wall) >= STOPPED.as_nanos(), "wall {wall}: {}", outcome.all());
}

#[test]
fn a_storm_of_harmless_signals_costs_no_sample() {
    let _rings = rings_are_used();
    for arm in ARMS_OF_EACH_KIND {
        let folder = Folder::new();
        let cmd = Cmd::check_json(folder.path()).args("--iters 200 --workers 2 --arm").arg(arm);
        let mut running = cmd.start();
        until_it_writes(folder.path());
        let storm = [SIGWINCH, SIGCHLD, SIGURG, SIGCONT].into_iter().cycle();
        let mut over = None;
        for signal in storm {
            signal_all(folder.path(), signal);
            over = running.wait_for(Duration::from_millis(2));
            if over.is_some() {
                break;
            }
        }
        let outcome = over.expect("the storm lasts until the end");
        let record = outcome.json();
        assert_eq!(record["status"], "complete", "{}", outcome.all());
        assert_eq!(record["counters"]["pairs"], 400, "{}", outcome.all());
        leaves_nothing(folder.path(), &outcome);
    }
}

fn signal_all(place: &std::path::Path, signal: Signal) {
    for pid in measuring_in(place) {
        // It may have ended since it was looked for.
        let _ = kill(Pid::from_raw(pid), signal);
    }
}

#[test]
fn a_terminal_that_is_closed_ends_both_processes() {
    let folder = Folder::new();
    let cmd = Cmd::check(folder.path()).args("--duration 50s --max-bytes 16MiB").in_own_group();
    let mut running = cmd.start();
    until_it_writes(folder.path());
    running.signal_group(SIGHUP);
    let outcome = running.wait_for(PATIENCE).expect("a closed terminal ends it");
    assert_ne!(outcome.code, Some(0), "{}", outcome.all());
    leaves_nothing(folder.path(), &outcome);
}
