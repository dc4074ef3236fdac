//! What an interrupted run reports: all that was measured, marked as partial.

use std::fs;
use std::time::Duration;

use nix::sys::signal::Signal::{SIGINT, SIGTERM};
use serde_json::Value;

use super::{PATIENCE, end_by, leaves_nothing, until_it_writes};
use crate::support::{Cmd, Folder, eventually, names_in};

#[test]
fn the_text_says_how_far_it_came() {
    let folder = Folder::new();
    let cmd = Cmd::check(folder.path()).args("--iters 1000000 --max-bytes 16MiB");
    let running = cmd.start();
    until_it_writes(folder.path());
    // Its second segment: some thousand pairs are complete.
    let second = || {
        let dirs = fs::read_dir(folder.path()).unwrap().flatten();
        dirs.into_iter().any(|dir| dir.path().join("w00000-000001").exists())
    };
    assert!(eventually(std::time::Duration::from_secs(50), second), "no second segment");
    let outcome = end_by(running, SIGINT, 1).exits(130);
    let text = outcome.stdout_text();
    assert!(text.contains("barrier       p50="), "{}", outcome.all());
    assert!(text.contains("verdict: "), "{}", outcome.all());
    let incomplete = text.lines().find(|line| line.trim_start().starts_with("incomplete: "));
    let incomplete = incomplete.unwrap_or_else(|| panic!("not marked: {}", outcome.all()));
    assert!(incomplete.ends_with(" of 1000000 pairs: interrupted"), "{incomplete}");
    leaves_nothing(folder.path(), &outcome);
}

#[test]
fn the_saved_record_has_every_pair_that_was_complete() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    let file = folder.at("record.json");
    let cmd = Cmd::check_json(&place).args("--duration 50s --workers 3 --max-bytes 48MiB --save");
    let running = cmd.arg(&file).start();
    until_it_writes(&place);
    let outcome = end_by(running, SIGTERM, 1).exits(143);
    let printed = outcome.json();
    let saved: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(saved["status"], "interrupted", "{}", outcome.all());
    assert_eq!(saved["counters"], printed["counters"]);
    let workers = saved["samples"]["workers"].as_array().unwrap();
    let samples: usize = workers.iter().map(|w| w["total_ns"].as_array().unwrap().len()).sum();
    assert_eq!(saved["counters"]["pairs"], samples);
    leaves_nothing(&place, &outcome);
}

#[test]
fn interrupted_wins_over_every_other_code() {
    // In memory it would be 4, and with this policy 1.
    let folder = Folder::in_memory();
    let args = "--duration 50s --max-bytes 16MiB --max-samples 500000000 --fail-at ideal";
    let running = Cmd::check_json(folder.path()).args(args).start();
    until_it_writes(folder.path());
    let outcome = end_by(running, SIGINT, 1).exits(130);
    assert_eq!(outcome.json()["status"], "interrupted", "{}", outcome.all());
    leaves_nothing(folder.path(), &outcome);
}

#[test]
fn a_result_that_cannot_be_written_keeps_the_code_of_the_signal() {
    let folder = Folder::new();
    let cmd = Cmd::check(folder.path()).args("--duration 50s --max-bytes 16MiB --output /dev/full");
    let running = cmd.start();
    until_it_writes(folder.path());
    let outcome = end_by(running, SIGINT, 1).exits(130).complains("/dev/full");
    leaves_nothing(folder.path(), &outcome);
}

#[test]
fn a_pipe_that_nobody_reads_can_be_left() {
    for flag in ["--output", "--save"] {
        let folder = Folder::new();
        let place = folder.with_dir("place");
        let pipe = folder.at("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let cmd = Cmd::check(&place).args("--duration 50s --max-duration 3s").arg(flag).arg(&pipe);
        let mut running = cmd.start();
        until_it_writes(&place);
        assert!(eventually(PATIENCE, || names_in(&place).is_empty()), "the run is over");
        assert!(running.wait_for(Duration::from_millis(300)).is_none(), "nobody reads");
        running.signal(SIGTERM);
        let ended = running.wait_for(PATIENCE).expect("SIGTERM ends it");
        assert_eq!(ended.signal, Some(SIGTERM as i32), "{}", ended.all());
    }
}

#[test]
fn a_signal_at_the_very_end_of_a_run_is_not_lost_before_a_pipe_that_nobody_reads() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    let pipe = folder.at("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    // While the run goes on, and once its files are gone: then many samples are still to be ranked.
    for over in [false, true] {
        let cmd = Cmd::check(&place).args("--duration 50s --max-duration 3s --output").arg(&pipe);
        let mut running = cmd.start();
        until_it_writes(&place);
        assert!(!over || eventually(PATIENCE, || names_in(&place).is_empty()), "the run is over");
        running.signal(SIGTERM);
        let ended = running.wait_for(PATIENCE).expect("one signal ends it");
        // Heard as the run's end, or deadly: before the pipe or while it waits there.
        let killed = ended.signal == Some(SIGTERM as i32);
        assert!(killed || ended.stderr_text().contains("nobody reads"), "{}", ended.all());
        assert!(over || ended.code == Some(143), "{}", ended.all());
    }
}
