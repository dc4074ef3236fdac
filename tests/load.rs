//! `--load`: neighbours that really work, stay within their bounds, and are gone afterwards however it ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{Cmd, Folder, Running, eventually, measuring_in, names_in};

const PATIENCE: Duration = Duration::from_secs(30);

fn number(record: &Value, pointer: &str) -> u64 {
    record
        .pointer(pointer)
        .and_then(Value::as_u64)
        .unwrap_or_else(|| panic!("{pointer}: {record:#}"))
}

fn finding<'a>(record: &'a Value, code: &str) -> Option<&'a Value> {
    let found = record["verdict"]["findings"].as_array();
    found.into_iter().flatten().find(|finding| finding["code"] == code)
}

/// Work directories in `place`, and whether they hold files of a load.
fn load_directories(place: &Path) -> Vec<PathBuf> {
    let is_loads = |dir: &PathBuf| {
        let names = fs::read_dir(dir).into_iter().flatten().flatten();
        names.map(|entry| entry.file_name()).any(|name| {
            let name = name.to_string_lossy().into_owned();
            name.starts_with('l') || name.starts_with('r')
        })
    };
    names_in(place).into_iter().map(|name| place.join(name)).filter(is_loads).collect()
}

/// Processes of the load's hidden entry that work in `place`.
fn load_processes(place: &Path) -> Vec<i32> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let holds = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        line.ends_with(b"\0load\0")
            && holds.filter_map(|fd| fs::read_link(fd.path()).ok()).any(|to| to.starts_with(place))
    })
    .collect()
}

fn started(place: &Path, args: &str) -> Running {
    let running =
        Cmd::check_json(place).args("--duration 50s --max-bytes 16MiB").args(args).start();
    let measured =
        |dir: PathBuf| fs::metadata(dir.join("w00000-000000")).is_ok_and(|m| m.len() > 1 << 16);
    let runs = || names_in(place).into_iter().any(|name| measured(place.join(name)));
    let both = || load_directories(place).len() == 1 && runs();
    assert!(eventually(PATIENCE, both), "{:?}", names_in(place));
    running
}

fn gone(place: &Path) {
    let over = || names_in(place).is_empty() && load_processes(place).is_empty();
    let left = || (names_in(place), load_processes(place), measuring_in(place));
    assert!(eventually(PATIENCE, over), "{:?}", left());
}

#[test]
fn every_mix_does_what_its_name_says_and_is_in_the_record() {
    for (mix, writes, reads, fsyncs) in [
        ("ci-burst", true, false, true),
        ("buffered", true, false, false),
        ("readers", false, true, false),
        ("mixed", true, true, true),
    ] {
        let folder = Folder::new();
        let cmd = Cmd::check_json(folder.path()).args("--duration 1s --load").arg(mix);
        let record = cmd.run().json();
        assert_eq!(record["status"], "complete", "{record:#}");
        assert_eq!(record["plan"]["load"]["mix"], mix);
        assert!(number(&record, "/load/interval_ns") >= 900_000_000, "{record:#}");
        for (counts, wanted) in [("writes", writes), ("reads", reads), ("fsyncs", fsyncs)] {
            let count = number(&record, &format!("/load/{counts}"));
            assert_eq!(count > 0, wanted, "{mix}: {counts} {count}");
        }
        assert!(number(&record, "/plan/load/max_bytes") <= 1 << 30);
        assert!(finding(&record, "load_failed").is_none(), "{record:#}");
        assert!(finding(&record, "load_left").is_none(), "{record:#}");
        folder.is_clean();
    }
}

#[test]
fn the_load_works_where_it_is_told_to_and_the_text_says_so() {
    let folder = Folder::new();
    let (place, other) = (folder.with_dir("place"), folder.with_dir("other"));
    let cmd = Cmd::check(&place).args("--iters 100 --load ci-burst --load-path").arg(&other);
    let outcome = cmd.run();
    let line = outcome.stdout_text().lines().find(|line| line.starts_with("  load: ci-burst: "));
    assert!(line.is_some_and(|line| line.contains("flushes/s")), "{}", outcome.all());
    let none =
        Cmd::check(&place).args("--iters 5 --load ci-burst --load-path").arg(other.join("x"));
    none.run().exits(3).complains("--load ci-burst: ").complains("ENOENT");
    for wrong in ["--load everything", "--load-path /tmp", "--load mixed --null"] {
        Cmd::check(&place).args(wrong).run().exits(2);
    }
    gone(&place);
    gone(&other);
}

#[test]
fn a_signal_ends_the_load_as_well() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let folder = Folder::new();
        let running = started(folder.path(), "--load mixed");
        running.signal(signal);
        let record = running.wait().json();
        assert_eq!(record["status"], "interrupted");
        gone(folder.path());
    }
}

#[test]
fn a_load_that_is_not_there_yet_does_not_hold_back_a_signal() {
    let folder = Folder::new();
    let running = Cmd::check_json(folder.path()).args("--load readers").start();
    assert!(eventually(PATIENCE, || !names_in(folder.path()).is_empty()));
    running.signal(Signal::SIGINT);
    let outcome = running.wait().exits(130);
    assert!(!outcome.stderr_text().contains("left child"), "{}", outcome.all());
    gone(folder.path());
}

#[test]
fn the_load_of_a_killed_parent_removes_its_files_and_ends() {
    let folder = Folder::new();
    let running = started(folder.path(), "--load mixed");
    running.signal(Signal::SIGKILL);
    running.wait();
    gone(folder.path());
}

#[test]
fn what_a_killed_load_leaves_is_said_and_found_by_clean() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    let running = started(&place, "--load ci-burst");
    let pids = load_processes(&place);
    assert_eq!(pids.len(), 1, "{pids:?}");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pids[0]), Signal::SIGKILL).unwrap();
    running.signal(Signal::SIGINT);
    let record = running.wait().json();
    let said = finding(&record, "load_failed").unwrap_or_else(|| panic!("{record:#}"));
    assert!(said["text"].as_str().unwrap().contains("ended without a word"), "{said}");
    assert_eq!(load_directories(&place).len(), 1);
    Cmd::check(&place).args("--iters 5 --clean").run();
    gone(&place);
}
