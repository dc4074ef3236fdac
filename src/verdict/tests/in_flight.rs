//! Operations that had not returned, and figures without workers.

use super::*;
use crate::verdict::sample_record::in_flight;

#[test]
fn an_operation_in_flight_is_a_sample_of_its_worker_with_its_lower_bound() {
    // Of the maximum where that is judged.
    let mut few = barriers(&[vec![MS / 2; 50]]);
    few.in_flight = vec![in_flight(0, 7 * MS)];
    assert_eq!((jetstream(&few).judged_ns, jetstream(&few).band), (7 * MS, Band::Workable));
    // It never lowers a figure.
    few.in_flight = vec![in_flight(0, 1)];
    assert_eq!(jetstream(&few).judged_ns, MS / 2);
    // One of 501 is beyond p99; at depth 8 with 100 pairs they are p99.
    let mut many = barriers(&[run_of_500(2 * MS, 3 * MS)]);
    many.in_flight = vec![in_flight(0, 900 * MS)];
    assert_eq!(jetstream(&many).judged_ns, 2 * MS);
    let mut deep = barriers(&[vec![2 * MS; 100]]);
    deep.in_flight = (0..8).map(|i| in_flight(0, (900 + i) * MS)).collect();
    let verdict = jetstream(&deep);
    // 108 samples: index 105, the sixth of the eight.
    assert_eq!((verdict.judged_ns, verdict.judged_on), (905 * MS, JudgedOn::P99));
    assert_eq!(verdict.band, Band::Marginal);
    assert!(codes(&verdict).is_empty(), "stuck in both parts: no cost in the write alone");
}

#[test]
fn a_worker_that_completed_nothing_takes_part_with_what_is_in_flight() {
    let mut record = barriers(&[vec![MS / 2; 500]]);
    record.in_flight = vec![in_flight(1, 80 * MS)];
    let verdict = jetstream(&record);
    assert_eq!((verdict.band, verdict.judged_on), (Band::Marginal, JudgedOn::Max));
    assert_eq!(verdict.confidence, Confidence::TooFewSamples);
    assert_eq!(verdict.findings[0].evidence, "worker 1: 0");
}

#[test]
fn without_one_pair_only_a_lower_bound_in_broken_gives_a_verdict() {
    let bound = |ns| Record { in_flight: vec![in_flight(0, ns)], ..barriers(&[vec![]]) };
    let judged = |ns| judge(&bound(ns), &Policy::default(), &JudgeOptions::default());
    assert_eq!(judged(1_000 * MS - 1), None);
    let verdict = judged(1_000 * MS).unwrap();
    assert_eq!((verdict.band, verdict.judged_on), (Band::Broken, JudgedOn::Max));
    assert_eq!((verdict.p99_ns, verdict.metric), (None, Metric::Barrier));
    assert_eq!((verdict.pass, verdict.exit_code), (false, 1));
}

#[test]
fn a_timed_out_run_is_judged_on_its_maximum_and_never_passes() {
    let mut record = barriers(&[run_of_500(2 * MS, 3 * MS)]);
    record.status = Status::TimedOut;
    record.in_flight = vec![in_flight(0, 60_000 * MS)];
    let verdict = jetstream(&record);
    assert_eq!((verdict.judged_ns, verdict.judged_on), (60_000 * MS, JudgedOn::Max));
    assert_eq!((verdict.band, verdict.p99_ns), (Band::Broken, None));
    assert_eq!((verdict.pass, verdict.exit_code), (false, 1));
    assert_eq!(verdict.sentence, "BROKEN: an operation did not return within its time-out");
    assert_eq!(codes(&verdict), ["timed_out"]);
    assert_eq!(verdict.recommendation.unwrap().sync_interval, None);
    // A short time-out in a good band does not pass either.
    record.in_flight = vec![in_flight(0, 4 * MS)];
    let short = jetstream(&record);
    assert_eq!((short.band, short.pass, short.exit_code), (Band::Good, false, 1));
}

#[test]
fn pooled_figures_are_judged_where_no_workers_are_known() {
    let mut record = barriers(&[run_of_500(2 * MS, 3 * MS)]);
    record.distributions.as_mut().unwrap().workers.clear();
    record.in_flight = vec![in_flight(5, 900 * MS)];
    let verdict = jetstream(&record);
    assert_eq!((verdict.judged, verdict.judged_ns), (Judged::Pooled, 2 * MS));
    assert_eq!(verdict.confidence, Confidence::Clear);
}
