//! Open and closed loops on the same stall, held against the ledger.

use serde_json::Value;

use super::samples::{column, least_ns, saved, took};
use super::stand::{Arm, Stand, WARMUP, arms};

const MS: u64 = 1_000_000;
const STALL_MS: u64 = 2_000;
/// Of a hundred pairs a second.
const INTERVAL_MS: u64 = 10;
/// The measured barrier that takes two seconds.
const STALLED: usize = 300;

fn script() -> String {
    let before = "'1ms', ".repeat(WARMUP as usize + STALLED);
    format!("fsync.delays = [{before}'{STALL_MS}ms']\nfsync.delay = '1ms'")
}

fn over(values: &[u64], ns: u64) -> Vec<usize> {
    (0..values.len()).filter(|&i| values[i] >= ns).collect()
}

fn figure(record: &Value, part: &str, key: &str) -> u64 {
    record["distributions"]["pooled"][part][key].as_u64().unwrap()
}

#[test]
fn a_stall_of_two_seconds_delays_two_hundred_pairs_of_an_open_loop_and_one_of_a_closed_one() {
    let chosen = ["syscall/fdatasync", "uring-linked/fdatasync"];
    let chosen = |arm: &Arm| arm.depth == 1 && chosen.contains(&arm.name);
    for arm in arms().filter(chosen) {
        let Some(stand) = Stand::alone(&script()) else { return };
        let (ended, record) = saved(&stand, arm, "--rate 100/s --iters 1000");
        assert_eq!(ended.at("/status"), "complete", "{arm:?}: {}", ended.stderr);
        assert_eq!(ended.at("/verdict/metric"), "total");
        open_loop(arm, &stand, &record);
        drop(stand);

        let Some(stand) = Stand::alone(&script()) else { return };
        let (ended, record) = saved(&stand, arm, "--iters 1000");
        assert_eq!(ended.at("/status"), "complete", "{arm:?}: {}", ended.stderr);
        let total = column(&record, "total_ns").unwrap();
        assert_eq!(over(&total, STALL_MS * MS / 2), [STALLED], "{arm:?}");
        assert!(record["distributions"]["pooled"].get("late").is_none(), "{arm:?}");
        print(&format!("{}, closed", arm.name), &record, &["total"], over(&total, 50 * MS).len());
    }
}

fn open_loop(arm: Arm, stand: &Stand, record: &Value) {
    let of = |name| column(record, name).unwrap();
    let (intended, start, total) = (of("intended_ns"), of("start_ns"), of("total_ns"));
    assert_eq!(total.len(), 1_000, "{arm:?}");
    let real = took(&stand.barriers());
    assert_eq!(real.len(), 1_000, "{arm:?}");
    for i in 0..1_000 {
        assert!(intended[i].abs_diff(i as u64 * INTERVAL_MS * MS) <= MS, "{arm:?}: {i}");
        assert!(start[i] >= intended[i], "{arm:?}: {i} began before it was due");
        // Rounding of three conversions from ticks.
        let late = start[i] - intended[i];
        assert!(total[i] + 3 >= late + least_ns(real[i]), "{arm:?}: {i}");
    }
    let late: Vec<u64> = (0..1_000).map(|i| start[i] - intended[i]).collect();
    let service: Vec<u64> = (0..1_000).map(|i| total[i] - late[i]).collect();
    assert_eq!(over(&service, STALL_MS * MS / 2), [STALLED], "{arm:?}: one slow pair");
    // The queue: everything due during the stall, later by what is left of it, and then some that
    // catch up. A pair of 1 ms frees 9 of the 10 ms until the next one is due.
    let behind = over(&late[STALLED..], 50 * MS).len();
    // A busy machine makes it longer, nothing makes it shorter.
    assert!((195..=400).contains(&behind), "{arm:?}: {behind} late");
    for i in STALLED..STALLED + behind {
        // A pair cannot begin before the one ahead of it has ended: linearly, by its service.
        let least = (late[i] + service[i]).saturating_sub(INTERVAL_MS * MS);
        assert!(late[i + 1] + 3 + MS / 1_000 >= least, "{arm:?}: {i}");
    }
    let half = over(&late[STALLED..], STALL_MS * MS / 2).len();
    assert!((90..=200).contains(&half) && half < behind, "{arm:?}: {half} late by half of it");
    assert!(figure(record, "total", "p90_ns") > 500 * MS, "{arm:?}");
    assert!(figure(record, "service", "p99_ns") < 500 * MS, "{arm:?}");
    print(
        &format!("{}, open", arm.name),
        record,
        &["total", "service", "late"],
        over(&total, 50 * MS).len(),
    );
}

/// The table of docs/measuring.md.
fn print(what: &str, record: &Value, parts: &[&str], over: usize) {
    for part in parts {
        let keys = ["p50_ns", "p90_ns", "p99_ns", "max_ns"];
        let [p50, p90, p99, max] = keys.map(|key| figure(record, part, key) as f64 / MS as f64);
        eprintln!(
            "{what:<30} {part:<8} p50 {p50:8.2}  p90 {p90:8.2}  p99 {p99:8.2}  max {max:8.2} ms"
        );
    }
    eprintln!("{what:<30} {over} pairs of 50 ms or more in total");
}

#[test]
fn workers_share_the_rate_and_chains_keep_their_own_moments() {
    for arm in arms().filter(|arm| arm.depth == 4 || arm.name == "syscall/fdatasync") {
        let Some(stand) = Stand::alone("fsync.delay = '3ms'") else { return };
        let (ended, record) = saved(&stand, arm, "--rate 200/s --iters 200 --workers 2");
        assert_eq!(ended.at("/status"), "complete", "{arm:?}: {}", ended.stderr);
        assert_eq!(ended.pairs(), 400, "{arm:?}");
        assert_eq!(ended.at("/counters/not_started"), 0, "{arm:?}");
        for worker in 0..2u64 {
            let columns = &record["samples"]["workers"][worker as usize];
            let numbers = |name: &str| -> Vec<u64> {
                columns[name].as_array().unwrap().iter().map(|ns| ns.as_u64().unwrap()).collect()
            };
            let mut intended = numbers("intended_ns");
            let (start, total) = (numbers("start_ns"), numbers("total_ns"));
            assert!(intended.iter().zip(&start).all(|(due, start)| due <= start), "{arm:?}");
            assert!(total.iter().all(|&ns| ns >= 3 * MS - 3 * MS / 1_000), "{arm:?}");
            intended.sort_unstable();
            for (i, due) in intended.into_iter().enumerate() {
                let expected = (2 * i as u64 + worker) * 5 * MS;
                assert!(due.abs_diff(expected) <= MS, "{arm:?}: worker {worker}, pair {i}: {due}");
            }
        }
    }
}
