//! A limit of file sizes: it cuts the write that crosses it, refuses the next one, and sends a signal
//! that kills by default.

use std::path::Path;

use super::{fails_while_measuring, has_errno};
use crate::support::{ARMS, Cmd, Filesystem, Folder, Make, heavy, rings_are_used};

const BLOCK: u64 = 4_096;
/// Pairs that fit below the limit, beside one of warm-up.
const PAIRS: u64 = 10;
/// What fits of the block after them.
const PART: u64 = 2_048;

fn limited(place: &Path, arm: &str, bytes: u64) -> serde_json::Value {
    let cmd = Cmd::check_json(place).args("--warmup 1 --iters 50 --arm").arg(arm);
    let record = fails_while_measuring(cmd.under(&format!("prlimit --fsize={bytes}")), place);
    assert_eq!(record["counters"]["pairs"], PAIRS, "{arm}: a cut write is no sample");
    record
}

fn short(place: &Path, arm: &str) {
    let record = limited(place, arm, (PAIRS + 1) * BLOCK + PART);
    let error = &record["error"];
    let message = error["message"].as_str().unwrap();
    assert!(message.ends_with("short write: 2048 of 4096 bytes"), "{arm}: {message}");
    assert!(!error["operation"].as_str().unwrap().contains("sync"), "never a sync error: {error}");
    assert!(error.get("errno").is_none(), "{arm}: {error}");
    assert!(error["remedy"].as_str().unwrap().contains("ulimit -f"), "{arm}: {error}");
}

fn reached(place: &Path, arm: &str) {
    let record = limited(place, arm, (PAIRS + 1) * BLOCK);
    has_errno(&record, 27, "EFBIG");
    let error = &record["error"];
    assert!(!error["operation"].as_str().unwrap().contains("sync"), "never a sync error: {error}");
    assert!(error["remedy"].as_str().unwrap().contains("ulimit -f"), "{arm}: {error}");
}

#[test]
fn a_limit_within_a_block_or_at_its_edge_is_told_apart_in_every_buffered_arm() {
    let _rings = rings_are_used();
    let folder = Folder::new();
    for arm in ARMS.iter().filter(|arm| !arm.ends_with("+direct")) {
        short(folder.path(), arm);
        reached(folder.path(), arm);
    }
}

#[test]
fn and_in_every_direct_arm() {
    let (_heavy, _rings) = (heavy(), rings_are_used());
    let Some(fs) = Filesystem::new(Make::EXT4) else { return };
    for arm in ARMS.iter().filter(|arm| arm.ends_with("+direct")) {
        short(fs.path(), arm);
        reached(fs.path(), arm);
    }
}

#[test]
fn several_workers_and_chains_are_cut_without_a_false_sample() {
    let _rings = rings_are_used();
    let folder = Folder::new();
    for args in
        ["--workers 4", "--arm uring-linked/fdatasync --depth 4", "--arm uring/fsync --depth 4"]
    {
        let cmd = Cmd::check_json(folder.path()).args("--warmup 1 --iters 50").args(args);
        let limit = (PAIRS + 5) * BLOCK + PART;
        let record = cmd.under(&format!("prlimit --fsize={limit}")).run().failure();
        let message = record["error"]["message"].as_str().unwrap();
        // With several writes in flight the one that is refused whole may be seen first.
        let known = message.contains("short write: 2048 of 4096") || message.contains("EFBIG");
        assert!(known, "{args}: {message}");
        let workers = record["plan"]["workers"].as_u64().unwrap();
        let pairs = record["counters"]["pairs"].as_u64().unwrap();
        assert!(pairs <= workers * (PAIRS + 4), "{args}: {pairs} pairs below the limit");
        folder.is_clean();
    }
}

#[test]
fn files_larger_than_the_limit_cannot_be_prepared() {
    let folder = Folder::new();
    for layout in ["overwrite", "unwritten"] {
        let cmd = Cmd::check_json(folder.path()).args("--file-size 1MiB --layout").arg(layout);
        let record = cmd.under("prlimit --fsize=65536").run().failure();
        has_errno(&record, 27, "EFBIG");
        assert_eq!(record["error"]["stage"], "prepare", "{layout}: {record}");
        folder.is_clean();
    }
}

#[test]
fn a_result_that_the_limit_cuts_is_said_and_kills_nobody() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    for flag in ["--save", "--output"] {
        let cmd = Cmd::check(&place).args("--block-size 8 --iters 20 --verbose --format json");
        let cmd = cmd.arg(flag).arg(folder.at("result")).under("prlimit --fsize=1000");
        cmd.run().exits(3).complains(flag).complains("File too large");
        crate::support::assert_clean(&place);
        assert_eq!(folder.names(), ["place"], "no half of a result");
    }
}
