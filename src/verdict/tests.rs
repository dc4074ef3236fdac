//! The rules of docs/verdict.md, one by one: figures, metric, confidence.

mod in_flight;
mod outcome;

use synctail_bench::{Arm, Engine};

use super::sample_record::{FDATASYNC, barriers, empty, pairs};
use super::*;
use crate::record::{Finding, Severity};

const MS: u64 = 1_000_000;
const EDGES: [(u64, Band, Band); 4] = [
    (MS, Band::Ideal, Band::Good),
    (5 * MS, Band::Good, Band::Workable),
    (50 * MS, Band::Workable, Band::Marginal),
    (1_000 * MS, Band::Marginal, Band::Broken),
];

fn jetstream(record: &Record) -> Verdict {
    judge(record, &Policy::default(), &JudgeOptions::default()).expect("a verdict")
}

fn codes(verdict: &Verdict) -> Vec<&str> {
    verdict.findings.iter().map(|finding| finding.code.as_str()).collect()
}

/// `body` until `tail` begins; 500 samples whose p99 (index 494) is `p99` and whose maximum is `max`.
fn run_of_500(p99: u64, max: u64) -> Vec<u64> {
    let mut samples = vec![p99.min(10_000); 494];
    samples.push(p99);
    samples.extend([max; 5]);
    samples
}

#[test]
fn p99_at_an_edge_is_in_the_worse_band_and_one_nanosecond_below_in_the_better() {
    for (edge, better, worse) in EDGES {
        let below = jetstream(&barriers(&[run_of_500(edge - 1, 10 * edge)]));
        assert_eq!((below.band, below.p99_ns), (better, Some(edge - 1)));
        let at = jetstream(&barriers(&[run_of_500(edge, 10 * edge)]));
        assert_eq!((at.band, at.p99_ns, at.judged_ns), (worse, Some(edge), edge));
        assert_eq!(at.judged_on, JudgedOn::P99);
        assert_eq!(at.confidence, Confidence::Clear);
    }
}

#[test]
fn the_worst_worker_decides_not_the_pool() {
    // 1,000 samples of 0.5 ms beside 100 of 200 ms: the pool's p99 would be the latter's, and with
    // 10,000 beside them the pool would hide them. The worst worker shows them either way.
    for count in [1_000, 20_000] {
        let record = barriers(&[vec![MS / 2; count], vec![200 * MS; 100]]);
        let verdict = jetstream(&record);
        assert_eq!((verdict.judged_ns, verdict.band), (200 * MS, Band::Marginal));
        assert_eq!(verdict.judged, Judged::WorstWorker);
        assert_eq!(verdict.confidence, Confidence::Clear);
    }
}

#[test]
fn a_worker_with_fewer_than_100_samples_is_judged_on_its_maximum() {
    let with = |slow: usize, ns: u64| {
        let mut few = vec![MS / 10; slow - 1];
        few.push(ns);
        jetstream(&barriers(&[run_of_500(2 * MS, 3 * MS), few]))
    };
    let decides = with(10, 200 * MS);
    assert_eq!((decides.judged_ns, decides.judged_on), (200 * MS, JudgedOn::Max));
    assert_eq!((decides.p99_ns, decides.band), (None, Band::Marginal));
    assert_eq!(decides.confidence, Confidence::TooFewSamples);
    assert_eq!(codes(&decides), ["too_few_samples"]);
    // It takes part without deciding: the other's p99 stands, the confidence does not.
    let follows = with(10, MS);
    assert_eq!((follows.judged_on, follows.p99_ns), (JudgedOn::P99, Some(2 * MS)));
    assert_eq!(follows.confidence, Confidence::TooFewSamples);
    // From 100 on its p99 counts and its maximum no longer does.
    let (ninety_nine, hundred) = (with(99, 200 * MS), with(100, 200 * MS));
    assert_eq!((ninety_nine.band, hundred.band), (Band::Marginal, Band::Good));
    assert_eq!(hundred.confidence, Confidence::Clear);
}

#[test]
fn one_sample_is_judged_and_none_is_not() {
    let one = jetstream(&barriers(&[vec![2 * MS]]));
    assert_eq!((one.band, one.judged_on), (Band::Good, JudgedOn::Max));
    assert_eq!(one.confidence, Confidence::TooFewSamples);
    for status in [Status::Complete, Status::Interrupted, Status::TimedOut, Status::Failed] {
        let none = Record { status, ..empty() };
        assert_eq!(judge(&none, &Policy::default(), &JudgeOptions::default()), None);
    }
}

#[test]
fn a_failed_run_has_no_verdict_however_good_its_samples() {
    let failed = Record { status: Status::Failed, ..barriers(&[vec![MS; 500]]) };
    assert_eq!(judge(&failed, &Policy::default(), &JudgeOptions::default()), None);
}

#[test]
fn an_arm_without_its_own_barrier_is_judged_on_the_total() {
    let linked = Arm { engine: Engine::UringLinked, ..FDATASYNC };
    let record = pairs(linked, &[vec![(3 * MS, 3 * MS); 200]]);
    let options = JudgeOptions { metric: Some(Metric::Barrier), ..JudgeOptions::default() };
    let verdict = judge(&record, &Policy::default(), &options).unwrap();
    assert_eq!((verdict.metric, verdict.p99_ns), (Metric::Total, Some(6 * MS)));
    assert!(codes(&verdict).is_empty(), "the total was asked for: nothing is hidden");
}

#[test]
fn the_metric_comes_from_options_then_an_open_loop_then_the_policy() {
    let mut record = pairs(FDATASYNC, &[vec![(MS / 10, MS / 10); 200]]);
    let metric = |record: &Record, policy: Metric, option: Option<Metric>| {
        let policy = Policy { metric: policy, ..Policy::default() };
        let options = JudgeOptions { metric: option, ..JudgeOptions::default() };
        judge(record, &policy, &options).unwrap().metric
    };
    assert_eq!(metric(&record, Metric::Barrier, None), Metric::Barrier);
    assert_eq!(metric(&record, Metric::Total, None), Metric::Total);
    assert_eq!(metric(&record, Metric::Total, Some(Metric::Barrier)), Metric::Barrier);
    record.plan.as_mut().unwrap().rate_per_s = Some(100.0);
    assert_eq!(metric(&record, Metric::Barrier, None), Metric::Total);
    assert_eq!(metric(&record, Metric::Barrier, Some(Metric::Barrier)), Metric::Barrier);
}

#[test]
fn a_total_in_a_worse_band_decides_and_is_found() {
    let verdict = jetstream(&pairs(FDATASYNC, &[vec![(10 * MS, MS / 10); 200]]));
    assert_eq!((verdict.metric, verdict.band), (Metric::Barrier, Band::Workable));
    assert_eq!((verdict.judged_ns, verdict.p99_ns), (10_100_000, Some(MS / 10)));
    assert_eq!(codes(&verdict), ["cost_in_write"]);
    let found = &verdict.findings[0];
    assert_eq!(found.severity, Severity::Warning);
    assert_eq!(found.evidence, "worst worker: barrier 100000 ns, total 10100000 ns");
    // A total that is larger within the same band decides nothing.
    let same = jetstream(&pairs(FDATASYNC, &[vec![(MS, 2 * MS); 200]]));
    assert_eq!((same.judged_ns, codes(&same).len()), (2 * MS, 0));
}

#[test]
fn an_interval_that_crosses_an_edge_is_borderline() {
    let confidence = |interval: [u64; 2], policy: &str| {
        let mut record = barriers(&[run_of_500(4 * MS, 9 * MS)]);
        let worker = &mut record.distributions.as_mut().unwrap().workers[0].parts;
        worker.barrier.as_mut().unwrap().p99_interval_ns = Some(interval);
        let policy = Policy::named(policy).unwrap();
        judge(&record, &policy, &JudgeOptions::default()).unwrap().confidence
    };
    assert_eq!(confidence([3 * MS, 5 * MS - 1], "jetstream"), Confidence::Clear);
    assert_eq!(confidence([3 * MS, 5 * MS], "jetstream"), Confidence::Borderline);
    assert_eq!(confidence([MS - 1, 4 * MS], "jetstream"), Confidence::Borderline);
    // etcd's line is an edge too, though no band ends there.
    assert_eq!(confidence([6 * MS, 10 * MS - 1], "etcd"), Confidence::Clear);
    assert_eq!(confidence([6 * MS, 10 * MS], "etcd"), Confidence::Borderline);
    assert_eq!(confidence([6 * MS, 10 * MS], "jetstream"), Confidence::Clear);
}

#[test]
fn observations_come_first_and_judging_twice_changes_nothing() {
    let mut record = pairs(FDATASYNC, &[vec![(10 * MS, MS / 10); 50]]);
    record.observations = vec![Finding {
        code: "max_samples".into(),
        severity: Severity::Warning,
        text: "stopped at the bound of samples".into(),
        evidence: String::new(),
    }];
    let first = jetstream(&record);
    assert_eq!(codes(&first), ["max_samples", "cost_in_write", "too_few_samples"]);
    record.verdict = Some(first.clone());
    assert_eq!(jetstream(&record), first);
}
