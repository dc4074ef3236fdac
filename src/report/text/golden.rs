//! The text of whole reports, byte for byte.

use synctail_bench::{Arm, Barrier};

use super::*;
use crate::policy::Policy;
use crate::record::ErrorReport;
use crate::verdict::sample_record::{FDATASYNC, barriers, empty, in_flight, pairs};
use crate::verdict::{JudgeOptions, judge};

pub const US: u64 = 1_000;
pub const MS: u64 = 1_000_000;

const PLAIN: TextOptions = TextOptions { verbose: false, recommend: false };
pub const VERBOSE: TextOptions = TextOptions { verbose: true, recommend: false };

/// `record` with its verdict under a built-in policy.
pub fn judged(mut record: Record, policy: &str) -> Record {
    let policy = Policy::named(policy).expect("built in");
    record.verdict = judge(&record, &policy, &JudgeOptions::default());
    record
}

/// `record` judged for JetStream, as text.
pub fn text(record: Record, options: &TextOptions) -> String {
    render(&judged(record, "jetstream"), options)
}

/// 500 samples with these figures at p50 (index 249), p95 (474), p99 (494) and the maximum.
fn run_of_500(p50: u64, p95: u64, p99: u64, max: u64) -> Vec<u64> {
    let mut samples = vec![p50; 474];
    samples.extend([p95; 20]);
    samples.push(p99);
    samples.extend([max; 5]);
    samples
}

/// One worker, GOOD.
pub fn single() -> Record {
    barriers(&[run_of_500(2_100 * US, 4_300 * US, 4_500 * US, 8_200 * US)])
}

#[test]
fn one_worker() {
    let expected = "\
syscall/fdatasync, ext4, append, 1 worker x 500 x 4 KiB
  barrier       p50= 2.10ms  p95= 4.30ms  p99= 4.50ms  max= 8.20ms
  verdict: GOOD: SyncAlways is safe on this storage
  durability: unproved: no proof of a flush was collected in this run
";
    assert_eq!(text(single(), &PLAIN), expected);
}

#[test]
fn proved_durability_has_no_line() {
    let mut record = judged(single(), "jetstream");
    record.verdict.as_mut().unwrap().durability = Durability::Proved;
    let expected = "\
syscall/fdatasync, ext4, append, 1 worker x 500 x 4 KiB
  barrier       p50= 2.10ms  p95= 4.30ms  p99= 4.50ms  max= 8.20ms
  verdict: GOOD: SyncAlways is safe on this storage
";
    assert_eq!(render(&record, &PLAIN), expected);
}

#[test]
fn several_workers() {
    let mut workers = vec![run_of_500(3_200 * US, 6_700 * US, 9_000 * US, 12_300 * US); 7];
    workers.push(run_of_500(3_200 * US, 6_700 * US, 15_400 * US, 25_100 * US));
    let expected = "\
syscall/fdatasync, ext4, append, 8 workers x 500 x 4 KiB
  pooled        p50= 3.20ms  p95= 6.70ms  p99= 12.3ms  max= 25.1ms
  worst worker                            p99= 15.4ms  max= 25.1ms
  wall 8.40s   verdict: WORKABLE: watch bursty load
  durability: unproved: no proof of a flush was collected in this run
";
    assert_eq!(text(barriers(&workers), &PLAIN), expected);
}

#[test]
fn percentiles_that_the_samples_do_not_carry_keep_their_columns() {
    let mut record = barriers(&[vec![2_100 * US; 12], vec![648; 1]]);
    let plan = record.plan.as_mut().unwrap();
    (plan.iterations, plan.duration_ns) = (None, Some(30_000 * MS));
    let expected = "\
syscall/fdatasync, ext4, append, 2 workers x 30.0s x 4 KiB
  pooled        p50= 2.10ms  p95=      -  p99=      -  max= 2.10ms
  worst worker                            p99=      -  max= 2.10ms
  wall 8.40s   verdict: GOOD: SyncAlways is safe on this storage
  durability: unproved: no proof of a flush was collected in this run
  confidence: too few samples: fewer than 100 pairs of a worker
";
    assert_eq!(text(record, &PLAIN), expected);
}

#[test]
fn the_line_of_a_single_worker_names_the_judged_metric() {
    let linked = Arm { engine: synctail_bench::Engine::UringLinked, ..FDATASYNC };
    let mut record = pairs(linked, &[vec![(US, 15 * US); 100]]);
    record.plan.as_mut().unwrap().depth = 4;
    record.plan.as_mut().unwrap().rate_per_s = Some(250.0);
    let expected = "\
uring-linked/fdatasync, ext4, append, 1 worker x 100 x 4 KiB, depth 4, 250/s
  total         p50= 16.0us  p95= 16.0us  p99= 16.0us  max= 16.0us
  verdict: IDEAL: SyncAlways is safe on this storage
  durability: unproved: no proof of a flush was collected in this run
";
    assert_eq!(text(record, &PLAIN), expected);
}

#[test]
fn a_total_that_decides_is_shown() {
    let record = pairs(FDATASYNC, &[vec![(12 * MS, 99 * US); 100]]);
    let expected = "\
syscall/fdatasync, ext4, append, 1 worker x 100 x 4 KiB
  barrier       p50= 99.0us  p95= 99.0us  p99= 99.0us  max= 99.0us
  total         p50= 12.0ms  p95= 12.0ms  p99= 12.0ms  max= 12.0ms
  verdict: WORKABLE: watch bursty load
  durability: unproved: no proof of a flush was collected in this run
  warning: the write costs more than the barrier, so the total decides: barrier
    99.0us, total 12.0ms
";
    assert_eq!(text(record, &PLAIN), expected);
}

#[test]
fn not_durable() {
    let mut record = single();
    record.substrate.as_mut().unwrap().filesystem = Some("tmpfs".into());
    let expected = "\
syscall/fdatasync, tmpfs, append, 1 worker x 500 x 4 KiB
  barrier       p50= 2.10ms  p95= 4.30ms  p99= 4.50ms  max= 8.20ms
  verdict: NOT DURABLE: the filesystem is tmpfs, which keeps files in memory
    (GOOD by latency alone)
  durability: not durable: the filesystem is tmpfs, which keeps files in memory
  error: the path lives in memory; a power cut loses all of it
";
    assert_eq!(text(record, &PLAIN), expected);
    let none = Arm { barrier: Barrier::None, ..FDATASYNC };
    let expected = "\
syscall/none, ext4, append, 1 worker x 100 x 4 KiB
  total         p50= 2.00us  p95= 2.00us  p99= 2.00us  max= 2.00us
  verdict: BASELINE: no barrier was issued; never a pass (IDEAL by latency
    alone)
  durability: not durable: no barrier was issued
  warning: a baseline: the times of writes that nothing made durable
";
    assert_eq!(text(pairs(none, &[vec![(2 * US, 0); 100]]), &PLAIN), expected);
}

#[test]
fn nothing_measured() {
    let mut record = barriers(&[vec![]]);
    record.status = Status::Interrupted;
    record.plan.as_mut().unwrap().iterations = Some(500);
    let expected = "\
syscall/fdatasync, ext4, append, 1 worker x 500 x 4 KiB
  verdict: none: no pair was completed
  incomplete: 0 of 500 pairs: interrupted
";
    assert_eq!(text(record, &PLAIN), expected);
    let bare = Record { substrate: None, ..empty() };
    let expected = "no plan, unknown filesystem\n  verdict: none: no pair was completed\n";
    assert_eq!(text(bare, &PLAIN), expected);
}

#[test]
fn a_borderline_band_is_said() {
    let mut record = judged(single(), "jetstream");
    record.verdict.as_mut().unwrap().confidence = Confidence::Borderline;
    let text = render(&record, &PLAIN);
    assert!(text.ends_with("  confidence: borderline: the interval of p99 crosses a limit\n"));
}

#[test]
fn timed_out() {
    let mut record = single();
    record.status = Status::TimedOut;
    record.plan.as_mut().unwrap().iterations = Some(1_000);
    record.in_flight = vec![in_flight(0, 60_000 * MS)];
    record.in_flight[0].operation = Some("fdatasync".into());
    let expected = "\
syscall/fdatasync, ext4, append, 1 worker x 1000 x 4 KiB
  barrier       p50= 2.10ms  p95= 4.30ms  p99= 4.50ms  max= 8.20ms
  verdict: BROKEN: an operation did not return within its time-out
  durability: unproved: no proof of a flush was collected in this run
  incomplete: 500 of 1000 pairs: timed out
  in flight: worker 0, measure, fdatasync: at least 60.0s
  error: an operation did not return within its time-out
";
    assert_eq!(text(record, &PLAIN), expected);
}

#[test]
fn a_failed_run_shows_its_partial_figures_and_no_verdict() {
    let mut record = single();
    record.status = Status::Failed;
    record.plan.as_mut().unwrap().iterations = Some(1_000);
    record.error = Some(ErrorReport {
        stage: "measure".into(),
        operation: "fdatasync".into(),
        errno: Some(5),
        errno_name: Some("EIO".into()),
        message: "fdatasync: /var/lib/x/.synctail-1: input/output error".into(),
        remedy: None,
    });
    let expected = "\
syscall/fdatasync, ext4, append, 1 worker x 500 x 4 KiB
  barrier       p50= 2.10ms  p95= 4.30ms  p99= 4.50ms  max= 8.20ms
  incomplete: 500 of 1000 pairs: fdatasync: /var/lib/x/.synctail-1: input/output
    error
"
    .replace("x 500 x", "x 1000 x");
    assert_eq!(text(record.clone(), &PLAIN), expected);
    record.distributions = None;
    assert_eq!(text(record, &VERBOSE), "");
}

#[test]
fn the_longest_in_flight_are_listed_and_the_rest_is_counted() {
    let mut record = single();
    record.in_flight = (0..11).map(|i| in_flight(0, (i + 1) * MS)).collect();
    let shown = text(record.clone(), &PLAIN);
    assert!(shown.contains("  in flight: worker 0, measure: at least 11.0ms\n"), "{shown}");
    assert!(shown.contains("  in flight: 3 more: at least 1.00ms to 3.00ms\n"), "{shown}");
    assert_eq!(text(record, &VERBOSE).matches("in flight").count(), 11);
}
