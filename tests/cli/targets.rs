//! What may be measured: a directory, and nothing that could be destroyed or made by mistake.

use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;

use crate::support::{Cmd, Folder, Outcome, has_program, require, rings_are_used, system_line};

fn refused(path: &Path, errno: &str) -> Outcome {
    let text = Cmd::check(path).run().exits(3).complains(errno);
    assert!(text.stdout.is_empty(), "{}", text.all());
    let record = Cmd::check_json(path).run().failure();
    assert_eq!(record["error"]["errno_name"], errno, "{record}");
    assert!(record["error"]["remedy"].is_string(), "{record}");
    assert!(record["distributions"].is_null(), "{record}");
    text.complains(&path.display().to_string())
}

#[test]
fn a_path_that_does_not_exist_is_named_and_not_made() {
    let folder = Folder::new();
    refused(&folder.at("none"), "ENOENT");
    refused(&folder.at("none/deeper"), "ENOENT");
    folder.is_clean();
    symlink(folder.at("none"), folder.at("dangling")).unwrap();
    refused(&folder.at("dangling"), "ENOENT");
    assert_eq!(folder.names(), ["dangling"]);
}

#[test]
fn an_existing_file_is_refused_and_keeps_its_bytes() {
    let folder = Folder::new();
    let file = folder.with_file("data", "precious");
    refused(&file, "ENOTDIR");
    refused(&file.join("below"), "ENOTDIR");
    symlink(&file, folder.at("link")).unwrap();
    refused(&folder.at("link"), "ENOTDIR");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    assert_eq!(folder.names(), ["data", "link"]);
}

#[test]
fn a_pipe_or_a_device_is_refused_without_being_opened() {
    let folder = Folder::new();
    let pipe = folder.at("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    // Opening a pipe without a writer would wait for ever.
    refused(&pipe, "ENOTDIR");
    let _socket = std::os::unix::net::UnixListener::bind(folder.at("socket")).unwrap();
    refused(&folder.at("socket"), "ENOTDIR");
    refused(Path::new("/dev/null"), "ENOTDIR");
    refused(Path::new("/dev/full"), "ENOTDIR");
    let disk = std::fs::read_dir("/dev").unwrap().flatten();
    let mut disk = disk.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_block_device()));
    match disk.next() {
        Some(disk) => drop(refused(&disk.path(), "ENOTDIR")),
        None => require("block-device", "none in /dev"),
    }
}

#[test]
fn a_link_to_a_directory_is_followed_and_the_directory_is_recorded() {
    let folder = Folder::new();
    let real = folder.with_dir("real").canonicalize().unwrap();
    symlink(&real, folder.at("link")).unwrap();
    for path in [folder.at("link"), folder.at("link/"), folder.at("real/../link/.")] {
        let outcome = Cmd::check_json(&path).args("--iters 3").run();
        let record = outcome.json();
        assert_eq!(record["status"], "complete", "{}", outcome.all());
        assert_eq!(record["plan"]["path"], real.to_str().unwrap());
    }
    assert_eq!(folder.names(), ["link", "real"]);
    crate::support::assert_clean(&real);
}

#[test]
fn without_a_path_the_present_directory_is_measured() {
    let folder = Folder::new();
    let outcome = Cmd::bare().args("check --iters 3 --format json").in_dir(folder.path()).run();
    let record = outcome.json();
    let here = folder.path().canonicalize().unwrap();
    assert_eq!(record["plan"]["path"], here.to_str().unwrap(), "{}", outcome.all());
    assert_eq!(record["status"], "complete");
    folder.is_clean();
}

#[test]
fn dev_is_refused_and_a_misspelt_device_is_not_made() {
    if !is_devtmpfs(Path::new("/dev")) {
        return require("devtmpfs", "/dev is none here");
    }
    let record = Cmd::check_json("/dev").run().failure();
    let message = record["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("/dev is a devtmpfs"), "{message}");
    let misspelt = Path::new("/dev/nvme99n99");
    refused(misspelt, "ENOENT");
    assert!(!misspelt.exists());
    let left = crate::support::names_in(Path::new("/dev"));
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("synctail")), "{left:?}");
}

fn is_devtmpfs(path: &Path) -> bool {
    has_program("findmnt") && {
        let line = format!("findmnt --noheadings --output FSTYPE --target {}", path.display());
        system_line(&line).trim() == "devtmpfs"
    }
}

#[test]
fn what_is_already_there_is_not_touched() {
    let folder = Folder::new();
    // Names as a run would make them, where no run of ours was: without a marker, and with another's.
    let kept = ["w00000-000000", "marker.new", "data"];
    for (name, marker) in [(".synctail-unmarked", None), (".synctail-foreign", Some("theirs"))] {
        let foreign = folder.with_dir(name);
        for name in kept {
            std::fs::write(foreign.join(name), "keep").unwrap();
        }
        if let Some(text) = marker {
            std::fs::write(foreign.join("marker"), text).unwrap();
        }
    }
    let outcome = Cmd::check_json(folder.path()).args("--iters 3 --clean").run();
    let record = outcome.json();
    assert_eq!(record["status"], "complete", "{}", outcome.all());
    let findings = record["verdict"]["findings"].as_array().unwrap();
    assert!(!findings.iter().any(|f| f["code"] == "leftovers"), "not ours: {findings:?}");
    assert_eq!(folder.names(), [".synctail-foreign", ".synctail-unmarked"]);
    for dir in folder.names() {
        for name in kept {
            let text = std::fs::read_to_string(folder.at(&dir).join(name));
            assert_eq!(text.unwrap(), "keep", "{dir:?}");
        }
    }
}

#[test]
fn nothing_is_measured_without_a_file_and_shows_the_tool_itself() {
    let _rings = rings_are_used();
    let folder = Folder::new();
    for arm in ["syscall/fdatasync", "syscall/dsync", "uring-linked/fdatasync", "uring/fsync"] {
        let cmd = Cmd::check_json(folder.path()).args("--null --iters 2000 --workers 2 --arm");
        let outcome = cmd.arg(arm).run().exits(4);
        let record = outcome.json();
        assert_eq!(record["plan"]["null"], true, "{arm}");
        assert_eq!(record["substrate"]["filesystem"], "null", "{arm}");
        assert_eq!(record["counters"]["pairs"], 4_000, "{arm}");
        assert_eq!(record["verdict"]["durability"], "not_durable", "{arm}");
        // Not the least: where the TSC advances in steps (AMD: 26 ticks of 0.38 ns), two reads that stand next to
        // each other can fall into one.
        let total = &record["distributions"]["pooled"]["total"];
        assert!(total["mean_ns"].as_f64().unwrap() > 0.0, "{arm}: {total}");
        folder.is_clean();
    }
    // Every report says how much of a pair is the tool itself.
    let record = Cmd::check_json(folder.path()).args("--iters 20").run().json();
    let floor = record["clock"]["floor_ns"].as_u64().unwrap();
    let pair = record["distributions"]["pooled"]["total"]["p50_ns"].as_u64().unwrap();
    assert!(floor > 0 && floor < pair, "{floor} of {pair}");
    assert!(record["plan"].get("null").is_none());
}
