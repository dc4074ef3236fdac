//! Limits of a user: open files, processes, address space.

use super::has_errno;
use crate::support::{Cmd, Folder, Nobody, rings_are_used};

#[test]
fn too_few_open_files_for_the_workers_is_said_with_the_limit() {
    let _rings = rings_are_used();
    let folder = Folder::new();
    for arm in ["syscall/fdatasync", "uring-linked/fdatasync"] {
        let cmd = Cmd::check_json(folder.path()).args("--workers 100 --iters 5 --arm").arg(arm);
        let record = cmd.under("prlimit --nofile=40:40").run().failure();
        has_errno(&record, 24, "EMFILE");
        let remedy = record["error"]["remedy"].as_str().unwrap();
        assert!(remedy.contains("ulimit -n") && remedy.contains("--workers"), "{remedy}");
        folder.is_clean();
    }
}

#[test]
fn a_soft_limit_of_open_files_is_raised() {
    let _rings = rings_are_used();
    let folder = Folder::in_memory();
    let cmd = Cmd::check_json(folder.path()).args("--workers 60 --iters 3 --arm uring/fsync");
    let outcome = cmd.under("prlimit --nofile=40:4096").run().exits(4);
    assert_eq!(outcome.json()["counters"]["pairs"], 180, "{}", outcome.all());
}

#[test]
fn too_few_processes_for_the_workers_is_said_with_the_limit() {
    let Some(nobody) = Nobody::new() else { return };
    let folder = Folder::open_to_all();
    let cmd = Cmd::check_json(folder.path()).args("--workers 200 --iters 5");
    // Limits of a user bind only him: the limit comes first, the user then.
    let record = nobody.runs(cmd.under("prlimit --nproc=100")).run().failure();
    has_errno(&record, 11, "EAGAIN");
    assert_eq!(record["error"]["operation"], "clone", "{record}");
    let remedy = record["error"]["remedy"].as_str().unwrap();
    assert!(remedy.contains("ulimit -u") && remedy.contains("--workers"), "{remedy}");
    folder.is_clean();
}

#[test]
fn a_measuring_process_that_cannot_be_made_is_said() {
    let Some(nobody) = Nobody::new() else { return };
    let folder = Folder::open_to_all();
    let record = nobody.runs(Cmd::check_json(folder.path()).under("prlimit --nproc=1")).run();
    let record = record.failure();
    let message = record["error"]["message"].as_str().unwrap();
    assert!(message.contains("fork") && message.contains("EAGAIN"), "{message}");
    folder.is_clean();
}

#[test]
fn a_thread_of_the_measuring_process_that_cannot_be_made_is_said() {
    let Some(nobody) = Nobody::new() else { return };
    let folder = Folder::open_to_all();
    let cmd = Cmd::check_json(folder.path()).args("--iters 5").under("prlimit --nproc=2");
    let record = nobody.runs_alone(cmd, 64_321).run().failure();
    has_errno(&record, 11, "EAGAIN");
    assert_eq!(record["error"]["operation"], "clone", "{record}");
    folder.is_clean();
}
