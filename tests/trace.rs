//! `--trace`: causes that were made on purpose are the ones that are named.

use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;
use synctail_rig::{Rig, Script};

use crate::support::{
    Cmd, Filesystem, Folder, Make, Nobody, Outcome, eventually, heavy, is_root, measuring_in,
    require,
};

const INSTANCES: [&str; 2] =
    ["/sys/kernel/tracing/instances", "/sys/kernel/debug/tracing/instances"];

/// Whether this machine has tracefs and lets it be used; says that the test is skipped where not.
#[track_caller]
fn can_trace() -> bool {
    if !is_root() {
        return false;
    }
    let can = INSTANCES.iter().any(|place| Path::new(place).is_dir());
    if !can {
        require("tracefs", "no tracefs with instances");
    }
    can
}

fn traced(path: &Path, args: &str) -> Outcome {
    Cmd::check_json(path).args("--trace").args(args).run()
}

fn ours() -> Vec<String> {
    let entries = INSTANCES.iter().flat_map(std::fs::read_dir).flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("synctail-")).collect()
}

fn ns(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no time"))
}

fn sum(waits: &Value) -> u64 {
    waits.as_object().unwrap().values().map(ns).sum()
}

/// The cause of most of all traced pairs' time. How much of it the CPU took says how busy this machine is,
/// so what the pairs waited for it is left out.
fn main_cause(record: &Value) -> String {
    let causes = record["trace"]["all"].as_object().unwrap().iter();
    let others = causes.filter(|(cause, _)| *cause != "cpu_ns" && !cause.ends_with("run_queue_ns"));
    others.max_by_key(|(_, time)| ns(time)).unwrap().0.clone()
}

#[test]
fn every_pair_is_split_and_the_devices_flushes_are_counted() {
    let _heavy = heavy();
    let Some(filesystem) = can_trace().then(|| Filesystem::new(Make::EXT4)).flatten() else {
        return;
    };
    for arm in ["syscall/fdatasync", "uring-linked/fdatasync", "syscall/dsync+direct"] {
        let outcome = traced(filesystem.path(), &format!("--iters 200 --arm {arm}"));
        let record = outcome.json();
        let trace = &record["trace"];
        assert_eq!((ns(&trace["pairs"]), ns(&trace["events_lost"])), (200, 0), "{}", outcome.all());
        let worst = trace["worst"].as_array().unwrap();
        assert_eq!(worst.len(), 20, "{arm}");
        for pair in worst {
            let (total, parts) = (ns(&pair["total_ns"]), sum(&pair["waits"]));
            // Ten parts, each cut to whole nanoseconds.
            assert!(total.abs_diff(parts) <= 10, "{arm}: {total} is not {parts}");
        }
        let longest = |pair: &Value| ns(&pair["total_ns"]);
        assert!(worst.is_sorted_by_key(|pair| std::cmp::Reverse(longest(pair))), "{arm}");
        let total = &record["distributions"]["pooled"]["total"];
        assert!(longest(&worst[0]).abs_diff(ns(&total["max_ns"])) <= 2, "{arm}");
        let node = filesystem.device_name();
        let devices = trace["devices"].as_array().unwrap();
        let device = devices.iter().find(|device| device["node"] == node.as_str()).unwrap();
        assert!(ns(&device["flushes"]) >= 198, "{arm}: {device}");
        let findings = record["verdict"]["findings"].as_array().unwrap();
        assert!(findings.iter().any(|finding| finding["code"] == "tail_cause"), "{arm}");
    }
}

#[test]
fn a_slow_flush_of_the_device_is_what_the_tail_waited_for() {
    let _heavy = heavy();
    if !can_trace() {
        return;
    }
    let script = Script::parse("fsync.delay = '20ms'").unwrap();
    let rig = match Rig::mount(&script, 4) {
        Ok(rig) => rig,
        Err(error) => return require("fuse", &format!("mount: {error}")),
    };
    // A disk whose image lies on the rig: each flush that reaches it takes as long as the script says.
    let Some(filesystem) = Filesystem::on(rig.path(), Make::EXT4_WITHOUT_JOURNAL) else { return };
    let outcome =
        traced(filesystem.path(), "--iters 40 --warmup 2 --layout overwrite --file-size 1MiB");
    let record = outcome.json();
    assert_eq!(main_cause(&record), "flush_ns", "{}", outcome.all());
    let worst = &record["trace"]["worst"][0];
    // Not the wait: of a flush of 20 ms the worker may spend some on a CPU or ready, and has then not slept.
    assert!(ns(&worst["longest_request"]["at_device_ns"]) >= 18_000_000, "{worst}");
    assert_eq!(worst["longest_request"]["operation"], "flush", "{worst}");
    assert_eq!(worst["longest_request"]["node"], filesystem.device_name().as_str(), "{worst}");
}

#[test]
fn what_another_process_does_is_not_blamed_on_a_device() {
    let _heavy = heavy();
    if !can_trace() {
        return;
    }
    let script = Script::parse("fsync.delay = '5ms'").unwrap();
    let rig = match Rig::mount(&script, 4) {
        Ok(rig) => rig,
        Err(error) => return require("fuse", &format!("mount: {error}")),
    };
    let outcome = traced(rig.path(), "--iters 50 --warmup 2");
    let record = outcome.json();
    assert_eq!(main_cause(&record), "unseen_ns", "{}", outcome.all());
    assert_eq!(record["trace"]["devices"], serde_json::json!([]));
}

#[test]
fn no_trace_is_left_behind_whatever_ends_the_run() {
    let _heavy = heavy();
    if !can_trace() {
        return;
    }
    let before = ours();
    let folder = Folder::new();
    let running = Cmd::check_json(folder.path()).args("--trace --duration 30s").start();
    let traces = || !measuring_in(folder.path()).is_empty() && ours().len() == before.len() + 1;
    assert!(eventually(Duration::from_secs(20), traces));
    running.signal(Signal::SIGINT);
    let outcome = running.wait();
    assert_eq!(outcome.code, Some(130), "{}", outcome.all());
    assert_eq!(ours(), before, "{}", outcome.all());
    let refused = traced(folder.path(), "--max-bytes 1EiB --block-size 4KiB --iters 1 --workers 0");
    assert_eq!((refused.code, ours()), (Some(2), before));
}

#[test]
fn who_may_not_trace_is_told_so_and_nothing_is_measured() {
    if !can_trace() {
        return;
    }
    let Some(nobody) = Nobody::new() else { return };
    let folder = Folder::open_to_all();
    let outcome = nobody.runs(Cmd::check_json(folder.path()).args("--trace --iters 5")).run();
    assert_eq!(outcome.code, Some(3), "{}", outcome.all());
    let record = outcome.json();
    assert!(record["error"]["message"].as_str().unwrap().starts_with("--trace: "), "{record:#}");
    assert!(record["error"]["remedy"].as_str().unwrap().contains("root"), "{record:#}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let usage = Cmd::check_json(folder.path()).args("--trace --null").run();
    assert_eq!(usage.code, Some(2), "{}", usage.all());
}
