//! ENOSPC: before the run, while files are prepared, and in the middle.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

use super::{fails_while_measuring, has_errno};
use crate::support::{
    ARMS, ARMS_OF_EACH_KIND, Cmd, Filesystem, Make, Mount, assert_clean, heavy, is_root,
    rings_are_used, system_line,
};

/// What a run finds free: 256 blocks of 4 KiB, less than it will write.
const FREE_BYTES: u64 = 1 << 20;

/// A directory for runs on a filesystem that is full but for `FREE_BYTES`.
fn nearly_full(root: &Path) -> PathBuf {
    let place = root.join("place");
    fs::create_dir(&place).unwrap();
    let stats = statvfs(root).unwrap();
    let free = stats.blocks_available() as u64 * stats.fragment_size() as u64;
    let filler = root.join("filler");
    system_line(&format!("fallocate --length {} {}", free - FREE_BYTES, filler.display()));
    place
}

fn runs_out(place: &Path, args: &str) {
    let cmd = Cmd::check_json(place).args("--iters 500 --max-bytes 1GiB").args(args);
    let record = fails_while_measuring(cmd, place);
    has_errno(&record, 28, "ENOSPC");
    let remedy = record["error"]["remedy"].as_str().unwrap();
    assert!(remedy.contains("free space"), "{args}: {remedy}");
}

#[test]
fn a_disk_that_fills_up_ends_every_arm_with_what_was_measured() {
    let (_heavy, _rings) = (heavy(), rings_are_used());
    let Some(fs) = Filesystem::new(Make::EXT4) else { return };
    let place = nearly_full(fs.path());
    for arm in ARMS {
        runs_out(&place, &format!("--arm {arm}"));
    }
    runs_out(&place, "--workers 4 --arm syscall/fdatasync");
    runs_out(&place, "--workers 2 --depth 4 --arm uring-linked/fdatasync");
}

#[test]
fn a_memory_filesystem_that_fills_up_does_too() {
    let _rings = rings_are_used();
    if !is_root() {
        return;
    }
    let tmpfs = Mount::tmpfs(FREE_BYTES);
    for arm in ARMS {
        runs_out(tmpfs.point(), &format!("--arm {arm}"));
    }
    runs_out(tmpfs.point(), "--workers 4 --arm syscall/fdatasync");
}

#[test]
fn a_block_of_which_a_part_fits_is_short_and_no_sample() {
    let _rings = rings_are_used();
    if !is_root() {
        return;
    }
    // A page goes to the marker, so that the last block of 64 KiB finds less than it needs.
    let tmpfs = Mount::tmpfs(FREE_BYTES);
    for arm in ARMS_OF_EACH_KIND {
        let cmd = Cmd::check_json(tmpfs.point()).args("--block-size 64KiB --max-bytes 1GiB --arm");
        let record = fails_while_measuring(cmd.arg(arm), tmpfs.point());
        let message = record["error"]["message"].as_str().unwrap();
        assert!(message.contains("short write: "), "{arm}: {message}");
        assert!(message.contains(" of 65536 bytes"), "{arm}: {message}");
        assert!(record["error"].get("errno").is_none(), "{arm}: {record}");
    }
}

#[test]
fn files_that_cannot_be_prepared_are_said_to_be() {
    let _heavy = heavy();
    let Some(fs) = Filesystem::new(Make::EXT4) else { return };
    let place = nearly_full(fs.path());
    for (layout, operation) in [("overwrite", "write"), ("unwritten", "fallocate")] {
        let cmd = Cmd::check_json(&place).args("--max-bytes 1GiB --file-size 8MiB --layout");
        let record = cmd.arg(layout).run().failure();
        has_errno(&record, 28, "ENOSPC");
        assert_eq!(record["error"]["stage"], "prepare", "{record}");
        assert_eq!(record["error"]["operation"], operation, "{record}");
        assert!(record.get("distributions").is_none(), "{record}");
        assert_clean(&place);
    }
}

#[test]
fn a_plan_for_more_than_half_of_what_is_free_is_refused_before_it_writes() {
    if !is_root() {
        return;
    }
    let tmpfs = Mount::tmpfs(FREE_BYTES);
    // Read-only would be another message: nothing may even be created.
    let options = ["-o", "remount,ro"].map(OsStr::new);
    crate::support::system("mount", &[&options[..], &[tmpfs.point().as_os_str()]].concat());
    for args in ["", "--layout overwrite", "--duration 1s", "--iters 33 --workers 4"] {
        let record = Cmd::check_json(tmpfs.point()).args(args).run().failure();
        assert_eq!(record["error"]["operation"], "plan", "{args}: {record}");
        let message = record["error"]["message"].as_str().unwrap();
        assert!(message.contains("more than half of the 1 MiB"), "{args}: {message}");
        assert!(record["error"]["remedy"].as_str().unwrap().contains("--max-bytes"), "{record}");
    }
}

#[test]
fn half_of_what_is_free_may_be_used_and_a_bound_may_be_given() {
    if !is_root() {
        return;
    }
    let tmpfs = Mount::tmpfs(FREE_BYTES);
    for args in [
        "--iters 100",
        "--layout overwrite --file-size 512KiB",
        "--duration 50ms --max-bytes 512KiB --max-samples 100000",
        "--iters 500 --max-bytes 256KiB",
    ] {
        Cmd::check(tmpfs.point()).args(args).run().exits(4);
        assert_clean(tmpfs.point());
    }
}

#[test]
fn the_text_of_a_partial_run_has_figures_and_no_verdict() {
    if !is_root() {
        return;
    }
    let tmpfs = Mount::tmpfs(FREE_BYTES);
    let outcome = Cmd::check(tmpfs.point()).args("--max-bytes 1GiB").run().exits(3);
    let text = outcome.stdout_text();
    assert!(text.contains("barrier       p50="), "{}", outcome.all());
    assert!(text.contains("incomplete: 250 of 500 pairs: "), "{}", outcome.all());
    assert!(!text.contains("verdict"), "{}", outcome.all());
    outcome.complains("ENOSPC").complains("free space");
}
