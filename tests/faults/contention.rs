//! A CPU that others use looks like slow storage, and is told apart.

use std::sync::atomic::{AtomicBool, Ordering};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::support::{Cmd, Folder, heavy};

fn first_cpu() -> usize {
    let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap();
    (0..CpuSet::count()).find(|&cpu| allowed.is_set(cpu).unwrap()).unwrap()
}

#[test]
fn waiting_for_a_cpu_is_not_called_the_storages_latency() {
    let _heavy = heavy();
    let cpu = first_cpu();
    let over = AtomicBool::new(false);
    let spin = || {
        let mut only = CpuSet::new();
        only.set(cpu).unwrap();
        sched_setaffinity(Pid::from_raw(0), &only).unwrap();
        while !over.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    };
    let folder = Folder::new();
    let outcome = std::thread::scope(|scope| {
        (0..4).for_each(|_| drop(scope.spawn(spin)));
        let cmd = Cmd::check_json(folder.path()).args("--iters 300 --workers 2");
        let outcome = cmd.args(&format!("--pin {cpu}")).run();
        over.store(true, Ordering::Relaxed);
        outcome
    });
    let record = outcome.json();
    let findings = record["verdict"]["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["code"] == "cpu_contention");
    assert!(found.is_some(), "{}", outcome.all());
    assert!(record["interval"]["run_delay_ns"].as_u64().unwrap() > 0, "{}", outcome.all());
}
