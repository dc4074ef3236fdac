//! The rare long ones: found where they were, as long as they were, and no other.

use super::samples::{barrier_column, column, least_ns, saved, took};
use super::stand::{Arm, Stand, WARMUP, arms};

const ARMS: [Arm; 2] =
    [Arm { name: "syscall/fdatasync", depth: 1 }, Arm { name: "uring-linked/fdatasync", depth: 1 }];

/// A script in which the `index`-th measured barrier takes `long`, and all others 1 ms.
fn one_long(index: u64, long: &str) -> String {
    let before = "'1ms', ".repeat((WARMUP + index) as usize);
    format!("fsync.delays = [{before}'{long}']\nfsync.delay = '1ms'")
}

/// The sample at `index` covers the ledger's, is the record's maximum, and is the only one of its kind.
fn assert_one_long(stand: &Stand, arm: Arm, args: &str, index: usize, long_ns: u64) {
    let (ended, record) = saved(stand, arm, args);
    assert_eq!(ended.at("/status"), "complete", "{arm:?}: {}", ended.stderr);
    let real = took(&stand.barriers());
    let samples = barrier_column(&record);
    assert!(real[index] >= long_ns && samples[index] >= least_ns(real[index]), "{arm:?}");
    let long: Vec<usize> = (0..samples.len()).filter(|&i| samples[i] >= long_ns / 2).collect();
    assert_eq!(long, [index], "{arm:?}");
    let max = ended.at("/distributions/pooled/total/max_ns").as_u64().unwrap();
    assert_eq!(max, column(&record, "total_ns").unwrap()[index], "{arm:?}");
}

#[test]
fn a_stall_is_found_at_its_own_index() {
    for arm in arms().filter(|arm| arm.depth == 1) {
        let Some(stand) = Stand::alone(&one_long(117, "700ms")) else { return };
        assert_one_long(&stand, arm, "--iters 200", 117, 700_000_000);
    }
}

#[test]
fn twenty_seconds_are_neither_clamped_nor_timed_out() {
    let Some(stand) = Stand::new(&one_long(40, "20s")) else { return };
    assert_one_long(&stand, ARMS[0], "--iters 120", 40, 20_000_000_000);
}

#[test]
fn every_stall_of_a_device_that_stalls_now_and_then_is_found() {
    const STALL_NS: u64 = 300_000_000;
    let script = "fsync.delay = '2ms'\nfsync.stall = { lasts = '300ms', every = '1s' }";
    for arm in ARMS.into_iter().filter(|arm| arms().any(|usable| usable.name == arm.name)) {
        let Some(stand) = Stand::alone(script) else { return };
        let (ended, record) = saved(&stand, arm, "--duration 3500ms");
        let (real, samples) = (took(&stand.barriers()), barrier_column(&record));
        assert_eq!(samples.len(), real.len(), "{arm:?}: {}", ended.stderr);
        let stalled = |times: &[u64], least| -> Vec<usize> {
            (0..times.len()).filter(|&i| times[i] >= least).collect()
        };
        let injected = stalled(&real, STALL_NS);
        assert!((2..=4).contains(&injected.len()), "{arm:?}: {injected:?}");
        assert_eq!(stalled(&samples, least_ns(STALL_NS)), injected, "{arm:?}");
    }
}
