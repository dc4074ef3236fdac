//! io_uring that is not to be had: by a seccomp filter, by the sysctl, by limits. No fallback: each
//! refusal has its errno and its own remedy, and the other engine still works.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use std::collections::BTreeMap;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
use serde_json::Value;

use crate::support::{
    ARMS, Cmd, Folder, Nobody, Sysctl, is_root, require, rings_are_used, rings_may_be_forbidden,
};

const DISABLED: &str = "/proc/sys/kernel/io_uring_disabled";

fn filter(errno: i32) -> BpfProgram {
    let calls = BTreeMap::from([(libc::SYS_io_uring_setup, Vec::new())]);
    let refuse = SeccompAction::Errno(errno as u32);
    let here = std::env::consts::ARCH.try_into().expect("an architecture that seccomp knows");
    let filter = SeccompFilter::new(calls, SeccompAction::Allow, refuse, here).unwrap();
    filter.try_into().unwrap()
}

/// Does something on a thread of its own, on which io_uring_setup fails. What it starts inherits that;
/// the other threads of the tests are not touched.
fn without_rings<T: Send>(errno: i32, action: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            apply_filter(&filter(errno)).unwrap();
            action()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The one error of a run whose ring was refused.
fn refusal(record: &Value, name: &str) -> String {
    let error = &record["error"];
    assert_eq!(error["operation"], "io_uring_setup", "{error}");
    assert_eq!((&error["stage"], &error["errno_name"]), (&"probe".into(), &name.into()), "{error}");
    assert!(error["message"].as_str().unwrap().contains(name), "{error}");
    assert!(record.get("distributions").is_none(), "nothing was measured another way");
    error["remedy"].as_str().unwrap_or_else(|| panic!("no remedy: {error}")).to_owned()
}

fn ring_arms() -> impl Iterator<Item = &'static str> {
    ARMS.into_iter().filter(|arm| arm.starts_with("uring"))
}

#[test]
fn a_filter_gives_three_errnos_three_remedies() {
    let _rings = rings_are_used();
    let folder = Folder::in_memory();
    let mut remedies = Vec::new();
    for (errno, name, word) in [
        (libc::EPERM, "EPERM", "seccomp"),
        (libc::ENOSYS, "ENOSYS", "no io_uring"),
        (libc::ENOMEM, "ENOMEM", "ulimit -l"),
    ] {
        for arm in ring_arms() {
            let cmd = Cmd::check_json(folder.path()).args("--iters 20 --arm").arg(arm);
            let record = without_rings(errno, || cmd.run()).failure();
            let remedy = refusal(&record, name);
            assert!(remedy.contains(word), "{name}: {remedy}");
            if remedies.last() != Some(&remedy) {
                remedies.push(remedy);
            }
            folder.is_clean();
        }
    }
    assert_eq!(remedies.len(), 3, "{remedies:?}");
    assert!(remedies[0] != remedies[2], "{remedies:?}");
}

#[test]
fn the_message_for_a_person_is_one_line_with_the_remedy() {
    let folder = Folder::in_memory();
    let cmd = Cmd::check(folder.path()).args("--arm uring/fsync");
    let outcome = without_rings(libc::EPERM, || cmd.run()).exits(3);
    let outcome = outcome.complains("io_uring_setup").complains("EPERM").complains("--arm syscall");
    assert_eq!(outcome.stderr_text().lines().count(), 1, "{}", outcome.all());
    assert!(outcome.stdout.is_empty(), "{}", outcome.all());
}

#[test]
fn several_workers_give_one_error() {
    let folder = Folder::in_memory();
    let cmd = Cmd::check_json(folder.path()).args("--arm uring-linked/fsync --workers 8");
    let record = without_rings(libc::EPERM, || cmd.run()).failure();
    refusal(&record, "EPERM");
    assert_eq!(record["counters"]["pairs"], 0);
    folder.is_clean();
}

#[test]
fn system_calls_need_no_ring() {
    let folder = Folder::in_memory();
    for arm in ARMS.into_iter().filter(|arm| arm.starts_with("syscall") && !arm.contains('+')) {
        let cmd = Cmd::check_json(folder.path()).args("--iters 20 --arm").arg(arm);
        let outcome = without_rings(libc::ENOSYS, || cmd.run()).exits(4);
        assert_eq!(outcome.json()["counters"]["pairs"], 20, "{}", outcome.all());
    }
}

#[test]
fn the_sysctl_is_told_from_a_filter() {
    let _alone = rings_may_be_forbidden();
    if !is_root() {
        return;
    }
    let folder = Folder::in_memory();
    let cmds =
        || ring_arms().step_by(3).map(|arm| Cmd::check_json(folder.path()).args("--arm").arg(arm));
    // For as short as possible: it is the whole machine's.
    let Some(forbidden) = Sysctl::set(DISABLED, "2") else {
        return require("io_uring_disabled", "the kernel is older than 6.6");
    };
    let refused: Vec<_> = cmds().map(Cmd::run).collect();
    let syscall = Cmd::check_json(folder.path()).args("--iters 20").run();
    drop(forbidden);
    for outcome in refused {
        let remedy = refusal(&outcome.failure(), "EPERM");
        assert!(remedy.contains("kernel.io_uring_disabled"), "{remedy}");
        assert!(!remedy.contains("seccomp"), "{remedy}");
    }
    assert_eq!(syscall.exits(4).json()["status"], "complete");
    cmds().for_each(|cmd| drop(cmd.args("--iters 20").run().exits(4)));
}

#[test]
fn the_sysctl_that_forbids_it_to_users_is_named_to_users() {
    let _alone = rings_may_be_forbidden();
    let Some(nobody) = Nobody::new() else { return };
    let folder = Folder::open_to_all();
    let Some(forbidden) = Sysctl::set(DISABLED, "1") else {
        return require("io_uring_disabled", "the kernel is older than 6.6");
    };
    let cmd = || Cmd::check_json(folder.path()).args("--iters 20 --arm uring/fdatasync");
    let user = nobody.runs(cmd()).run();
    let root = cmd().run();
    drop(forbidden);
    let remedy = refusal(&user.failure(), "EPERM");
    assert!(remedy.contains("kernel.io_uring_disabled"), "{remedy}");
    assert_eq!(root.json()["status"], "complete", "{}", root.all());
}

#[test]
fn too_little_locked_memory_is_said_with_the_limit() {
    let _rings = rings_are_used();
    let Some(nobody) = Nobody::new() else { return };
    let folder = Folder::open_to_all();
    // Root is not bound by the limit; the limit comes first, the user then.
    let cmd = Cmd::check_json(folder.path()).args("--arm uring-linked/fdatasync --registered");
    let record = nobody.runs(cmd.under("prlimit --memlock=0")).run().failure();
    let error = &record["error"];
    assert!(error["operation"].as_str().unwrap().starts_with("io_uring_"), "{error}");
    assert_eq!(error["errno_name"], "ENOMEM", "{error}");
    let remedy = error["remedy"].as_str().unwrap();
    assert!(remedy.contains("ulimit -l") && remedy.contains("--registered"), "{remedy}");
    folder.is_clean();
}
