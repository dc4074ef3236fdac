//! What a killed process leaves behind, who removes it, and who is left alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::Signal::SIGKILL;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use serde_json::Value;

use crate::support::{
    ARMS_OF_EACH_KIND, Cmd, Folder, Running, eventually, measuring_in, names_in, rings_are_used,
};

const PATIENCE: Duration = Duration::from_secs(10);

/// A long run that has begun to write in `place`.
fn started(place: &Path, args: &str) -> Running {
    let cmd = Cmd::check_json(place).args("--duration 50s --max-bytes 16MiB").args(args);
    let running = cmd.start();
    let writes = || work_directory(place).is_some_and(|dir| dir.join("w00000-000000").exists());
    assert!(eventually(PATIENCE, writes), "nothing was made in {}", place.display());
    running
}

fn work_directory(place: &Path) -> Option<PathBuf> {
    let names = names_in(place).into_iter();
    let mut ours = names.filter(|name| name.to_string_lossy().starts_with(".synctail-"));
    ours.next().map(|name| place.join(name))
}

fn child_of(running: &Running, place: &Path) -> i32 {
    let all = measuring_in(place);
    let others: Vec<i32> = all.into_iter().filter(|&pid| pid != running.pid()).collect();
    assert_eq!(others.len(), 1, "one measuring child: {others:?}");
    others[0]
}

fn finding<'a>(record: &'a Value, code: &str) -> Option<&'a Value> {
    let verdict = record["verdict"]["findings"].as_array();
    let run = record["observations"].as_array();
    verdict.into_iter().chain(run).flatten().find(|finding| finding["code"] == code)
}

#[test]
fn a_killed_child_is_reported_and_what_it_left_is_found_and_removed_on_request() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    let running = started(&place, "");
    kill(Pid::from_raw(child_of(&running, &place)), SIGKILL).unwrap();
    let record = running.wait().failure();
    let message = record["error"]["message"].as_str().unwrap();
    assert!(message.contains("killed by SIGKILL"), "{message}");
    let left = work_directory(&place).expect("a killed process cannot clean up");
    assert!(finding(&record, "child_died").is_some(), "{record:#}");
    assert!(left.join("marker").exists());

    let foreign = place.join(".synctail-foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("w00000-000000"), "keep").unwrap();
    let record = Cmd::check_json(&place).args("--iters 5").run().json();
    let found = finding(&record, "leftovers").unwrap_or_else(|| panic!("{record:#}"));
    assert!(found["evidence"].as_str().unwrap().contains(left.to_str().unwrap()), "{found}");
    assert!(!found["evidence"].as_str().unwrap().contains("foreign"), "{found}");
    assert!(left.exists(), "only reported");

    let record = Cmd::check_json(&place).args("--iters 5 --clean").run().json();
    assert_eq!(record["status"], "complete");
    assert!(finding(&record, "leftovers").is_none(), "{record:#}");
    assert_eq!(names_in(&place), [".synctail-foreign"]);
    assert_eq!(fs::read_to_string(foreign.join("w00000-000000")).unwrap(), "keep");
}

#[test]
fn the_child_of_a_killed_parent_removes_its_files_and_ends() {
    let _rings = rings_are_used();
    for arm in ARMS_OF_EACH_KIND {
        let folder = Folder::new();
        let place = folder.with_dir("place");
        let running = started(&place, &format!("--arm {arm} --workers 2"));
        let child = child_of(&running, &place);
        running.signal(SIGKILL);
        let outcome = running.wait();
        assert_eq!(outcome.signal, Some(9), "{}", outcome.all());
        let gone = || measuring_in(&place).is_empty();
        assert!(eventually(PATIENCE, gone), "{arm}: child {child} is still there");
        crate::support::assert_clean(&place);
    }
}

#[test]
fn a_parent_killed_at_any_moment_leaves_neither_process_nor_files() {
    for delay_ms in [0, 1, 2, 4, 8, 16, 32, 64] {
        let folder = Folder::new();
        let place = folder.with_dir("place");
        let mut running = Cmd::check(&place).args("--duration 50s --max-bytes 16MiB").start();
        // The point is the moment: nothing is waited for.
        assert!(running.wait_for(Duration::from_millis(delay_ms)).is_none());
        running.signal(SIGKILL);
        running.wait();
        let gone = || measuring_in(&place).is_empty();
        assert!(eventually(PATIENCE, gone), "after {delay_ms} ms: {:?}", measuring_in(&place));
        crate::support::assert_clean(&place);
    }
}

#[test]
fn runs_in_one_directory_leave_each_other_alone() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    let first = started(&place, "--max-duration 1500ms");
    let living = work_directory(&place).unwrap();
    // The second one would remove it, if it took it for dead.
    let second = Cmd::check_json(&place).args("--iters 50 --clean").run();
    let record = second.json();
    assert_eq!(record["status"], "complete", "{}", second.all());
    assert!(finding(&record, "leftovers").is_none(), "a living run is no leftover");
    assert!(living.join("marker").exists());
    let first = first.wait();
    let record = first.json();
    assert_eq!(record["status"], "complete", "{}", first.all());
    assert!(finding(&record, "not_removed").is_none(), "{}", first.all());
    crate::support::assert_clean(&place);
}

#[test]
fn many_runs_at_once_all_succeed() {
    let folder = Folder::in_memory();
    let place = folder.with_dir("place");
    let cmd = || Cmd::check_json(&place).args("--iters 200 --clean --workers 2");
    let all: Vec<Running> = (0..8).map(|_| cmd().start()).collect();
    for running in all {
        let outcome = running.wait().exits(4);
        assert_eq!(outcome.json()["counters"]["pairs"], 400, "{}", outcome.all());
    }
    crate::support::assert_clean(&place);
}
