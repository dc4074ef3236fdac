//! The calls that a pair is made of, as strace sees them.

use serde_json::Value;

use crate::support::{Cmd, Folder, has_program, require};

/// Pairs, warm-up included.
const PAIRS: usize = 4;

struct Traced {
    /// `open`, `write`, `sync` or `close`, and the descriptor, of the worker's file in order.
    calls: Vec<(&'static str, String)>,
    record: Value,
}

/// Nothing where there is no strace, or nobody may be traced.
fn traced(arm: &str, flags: &str) -> Option<Traced> {
    let folder = Folder::new();
    let (kept, log) = (Folder::new(), "log");
    let log = kept.at(log);
    let strace = "strace -f -y -e trace=openat,pwrite64,pwritev2,fdatasync,fsync,close -o";
    let wrapper = format!("{strace} {}", log.display());
    let cmd = Cmd::check_json(folder.path()).args("--iters 3 --warmup 1 --quiet --arm").arg(arm);
    let outcome = cmd.args(flags).under(&wrapper).run();
    if outcome.stderr_text().contains("ptrace") {
        require("strace", &outcome.all());
        return None;
    }
    let record = outcome.json();
    assert_eq!(record["status"], "complete", "{arm} {flags}: {}", outcome.all());
    let log = std::fs::read_to_string(log).unwrap();
    let of_worker = |line: &&str| line.contains("w00000-000000") && !line.contains("resumed>");
    let calls = log.lines().filter(of_worker).map(call).collect();
    folder.is_clean();
    Some(Traced { calls, record })
}

/// `123 pwrite64(7</path/w00000-000000>, ...` is `write` by descriptor 7.
fn call(line: &str) -> (&'static str, String) {
    let (_, call) = line.trim_start().split_once(char::is_whitespace).unwrap();
    let (name, rest) = call.trim_start().split_once('(').unwrap();
    let name = match name {
        "openat" => "open",
        "pwrite64" | "pwritev2" => "write",
        "fdatasync" | "fsync" => "sync",
        "close" => "close",
        other => panic!("{other}: {line}"),
    };
    let descriptor = rest.split('<').next().unwrap_or_default();
    (name, descriptor.to_owned())
}

fn expected(before: &str, pair: &str, after: &str) -> Vec<String> {
    let all = format!("{before} {} {after}", [pair; PAIRS].join(" "));
    all.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_pair_is_made_of_the_calls_that_were_asked_for() {
    if !has_program("strace") {
        return require("strace", "no strace here");
    }
    for (arm, flags, before, pair, after) in [
        ("syscall/fdatasync", "", "open", "write sync", "close"),
        ("syscall/fsync", "--writes-per-barrier 3", "open", "write write write sync", "close"),
        ("syscall/dsync", "--writes-per-barrier 2", "open", "write write", "close"),
        (
            "syscall/o_sync",
            "--writes-per-barrier 4 --block-size 1000",
            "open",
            "write write write write",
            "close",
        ),
        ("syscall/fsync", "--sync-fd other", "open open", "write sync", "close close"),
        (
            "syscall/fdatasync",
            "--sync-fd after-close",
            "open close",
            "open write close open sync close",
            "",
        ),
        (
            "syscall/fsync",
            "--sync-fd before-close",
            "open close",
            "open write sync close open close",
            "",
        ),
    ] {
        let Some(Traced { calls, record }) = traced(arm, flags) else { return };
        let names: Vec<String> = calls.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(names, expected(before, pair, after), "{arm} {flags}");
        let fds = |name: &str| -> Vec<&str> {
            calls.iter().filter(|call| call.0 == name).map(|call| call.1.as_str()).collect()
        };
        if flags == "--sync-fd other" {
            assert!(fds("sync").iter().all(|fd| !fds("write").contains(fd)), "{calls:?}");
        }
        let writes = pair.matches("write").count() as u64;
        let (plan, counters) = (&record["plan"], &record["counters"]);
        assert_eq!(plan["writes_per_barrier"], writes, "{arm} {flags}");
        let named = flags.split_once("--sync-fd ").map_or("own", |(_, name)| name);
        assert_eq!(plan["sync_fd"], named);
        let bytes = 3 * writes * plan["block_size_bytes"].as_u64().unwrap();
        assert_eq!(counters["bytes_written"], bytes, "{arm} {flags}");
    }
}
