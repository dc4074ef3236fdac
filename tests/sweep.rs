//! Sweeps: the product, its order, interruption and resumption, presets.

use std::collections::BTreeSet;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{
    Cmd, Folder, Image, LoopDevice, eventually, is_root, require, rings_are_used,
};

fn sweep(folder: &Folder) -> Cmd {
    Cmd::bare().args("sweep --quiet --iters 5").arg(folder.path())
}

fn json(cmd: Cmd) -> Value {
    let outcome = cmd.args("--format json").run();
    outcome.exits(0).json()
}

#[test]
fn every_cell_of_the_product_is_measured_in_every_round() {
    let _rings = rings_are_used();
    let folder = Folder::new();
    let axes = "--arm syscall/fdatasync,uring/fsync --block-size 512,4KiB --workers 1,2 --depth 1,2 \
                --rounds 2 --seed 5";
    let found = json(sweep(&folder).args(axes));
    assert_eq!(found["schema"], "synctail.sweep/1");
    assert_eq!(found["status"], "complete");
    let cells = found["cells"].as_array().unwrap();
    // The system call has no depth 2: 2 x 2, and 2 x 2 x 2 of the ring.
    assert_eq!(cells.len(), 12);
    assert_eq!(found["plan"]["left_out"].as_array().unwrap().len(), 1, "{}", found["plan"]);
    let distinct: BTreeSet<String> = cells.iter().map(|cell| cell["axes"].to_string()).collect();
    assert_eq!(distinct.len(), 12);
    for cell in cells {
        let (axes, plan) = (&cell["axes"], &cell["record"]["plan"]);
        for key in ["arm", "block_size_bytes", "workers", "depth", "layout"] {
            assert_eq!(axes[key], plan[key], "{key} of {axes}");
        }
        assert_eq!(cell["rounds"].as_array().unwrap().len(), 2);
        assert!(cell["record"]["samples"].is_null() && cell["pending"].is_null());
    }
    let orders: Vec<Vec<u64>> = serde_json::from_value(found["plan"]["order"].clone()).unwrap();
    for order in &orders {
        assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), 12, "{order:?}");
    }
    assert_ne!(orders[0], orders[1], "each round has an order of its own");
    let again = json(sweep(&folder).args(axes));
    assert_eq!(again["plan"]["order"], found["plan"]["order"], "the seed fixes it");
    assert_eq!(found["knees"].as_array().unwrap().len(), 6, "{}", found["knees"]);
    folder.is_clean();
}

#[test]
fn an_interrupted_sweep_goes_on_where_it_was() {
    let folder = Folder::new();
    let kept = Folder::new();
    let file = kept.at("state.json");
    let cmd = |iters: &str| {
        let cmd = Cmd::bare().args("sweep --quiet --format json --rounds 6 --workers 1,2 --save");
        cmd.arg(&file).arg("--iters").arg(iters).arg(folder.path())
    };
    let state = || -> Option<Value> { serde_json::from_slice(&std::fs::read(&file).ok()?).ok() };
    let done = |state: &Value| -> Vec<Value> {
        let cells = state["cells"].as_array().unwrap();
        cells.iter().flat_map(|cell| cell["rounds"].as_array().unwrap().clone()).collect()
    };
    let running = cmd("20").start();
    let a_run_is_saved = || state().is_some_and(|state| !done(&state).is_empty());
    assert!(eventually(Duration::from_secs(30), a_run_is_saved));
    running.signal(Signal::SIGTERM);
    let outcome = running.wait().exits(143);
    assert_eq!(outcome.json()["status"], "interrupted");
    let before = done(&state().unwrap());
    assert!(!before.is_empty() && before.len() < 12, "{}", before.len());
    cmd("20").run().exits(2).complains("--resume");
    cmd("21").args("--resume").run().exits(2).complains("another sweep");
    let outcome = cmd("20").args("--resume").run().exits(0);
    let after = done(&outcome.json());
    assert_eq!(after.len(), 12);
    assert!(before.iter().all(|round| after.contains(round)), "what was measured is kept");
    assert_eq!(state().unwrap(), outcome.json(), "the file has the result");
    folder.is_clean();
}

#[test]
fn presets_print_their_tables_within_80_columns() {
    let _rings = rings_are_used();
    let folder = Folder::new();
    for (preset, rows) in [
        (
            "pg",
            &[
                "one 8kB write: open_datasync",
                "two 8kB writes: fsync",
                "16 *  1kB open_sync",
                "write, close, fsync",
                "not synced",
            ][..],
        ),
        ("slog", &["512 B", "8 MiB", "usec/IO", "MB/s"]),
        ("etcd", &["2300 B"]),
        ("jetstream", &["4134 B w=8"]),
        ("paths", &["uring-linked/fdatasync+direct d=16", "syscall/none"]),
    ] {
        let cmd = Cmd::bare().args("sweep --quiet --iters 1 --rounds 1 --preset").arg(preset);
        let outcome = cmd.arg(folder.path()).run();
        let text = outcome.stdout_text();
        for row in rows {
            assert!(text.contains(row), "{preset}: no {row}: {}", outcome.all());
        }
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{preset}: {}", outcome.all());
    }
    folder.is_clean();
}

#[test]
fn a_log_device_is_measured_without_a_filesystem() {
    if !is_root() {
        return;
    }
    if !std::path::Path::new("/dev/loop-control").exists() {
        return require("loop", "no loop devices here");
    }
    let folder = Folder::new();
    let device = LoopDevice::over(Image::sparse(folder.path(), 64), 512);
    let cmd = Cmd::bare().args("sweep --quiet --preset slog --iters 2 --rounds 2 --format json");
    let outcome = cmd.args("--destroy-data --device").arg(device.node()).run().exits(0);
    let found = outcome.json();
    let cells = found["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 15);
    assert!(cells.iter().all(|c| c["record"]["substrate"]["filesystem"] == "raw device"));
    // What carries a signature is refused before anything is written.
    crate::support::system_line(&format!("mkswap {}", device.node().display()));
    let cmd = Cmd::bare().args("sweep --quiet --preset slog --destroy-data --device");
    cmd.arg(device.node()).run().exits(3).complains("swap");
}

#[test]
fn what_cannot_be_swept_is_refused_once() {
    let folder = Folder::new();
    let none = Cmd::bare().args("sweep --quiet").arg(folder.at("none")).run().exits(3);
    assert_eq!(none.stderr_text().lines().count(), 1, "{}", none.all());
    none.complains("ENOENT");
    for (line, word) in [
        ("--workers 0", "--workers"),
        ("--arm fio/fsync", "--arm"),
        ("--depth 4", "one in flight"),
        ("--preset pg --workers 2", "--workers"),
        ("--resume", "--save"),
        ("--file-size 1KiB", "--file-size"),
    ] {
        sweep(&folder).args(line).run().exits(2).complains(word);
    }
    folder.is_clean();
}
