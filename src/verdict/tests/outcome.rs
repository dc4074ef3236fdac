//! Pass, exit code and sentence.

use synctail_bench::Barrier;

use super::*;

#[test]
fn broken_fails_by_default_and_fail_at_moves_the_line() {
    let exit = |p99: u64, fail_at: Option<Band>| {
        let options = JudgeOptions { fail_at, ..JudgeOptions::default() };
        let record = barriers(&[run_of_500(p99, p99)]);
        let verdict = judge(&record, &Policy::default(), &options).unwrap();
        assert_eq!(verdict.pass, verdict.exit_code == 0);
        (verdict.exit_code, verdict.sentence)
    };
    assert_eq!(exit(1_000 * MS - 1, None).0, 0);
    assert_eq!(exit(1_000 * MS, None).0, 1);
    assert_eq!(exit(5 * MS - 1, Some(Band::Workable)).0, 0);
    let (code, sentence) = exit(5 * MS, Some(Band::Workable));
    assert_eq!(code, 1);
    assert_eq!(sentence, "WORKABLE: watch bursty load; does not pass: WORKABLE and worse fail");
    let (code, sentence) = exit(2 * MS, Some(Band::Good));
    assert_eq!((code, sentence.as_str()), (1, "GOOD: does not pass: GOOD and worse fail"));
}

#[test]
fn etcd_does_not_pass_from_10_ms_on() {
    let etcd = Policy::named("etcd").unwrap();
    let judged =
        |p99| judge(&barriers(&[run_of_500(p99, p99)]), &etcd, &JudgeOptions::default()).unwrap();
    let below = judged(10 * MS - 1);
    assert_eq!((below.band, below.pass, below.exit_code), (Band::Workable, true, 0));
    let at = judged(10 * MS);
    assert_eq!((at.band, at.pass, at.exit_code), (Band::Workable, false, 1));
    assert!(at.sentence.ends_with("10.0ms does not pass, 10.0ms is the limit"), "{}", at.sentence);
    assert_eq!(at.recommendation, None, "etcd has no sync_interval");
    assert_eq!(jetstream(&barriers(&[run_of_500(10 * MS, 10 * MS)])).exit_code, 0);
}

#[test]
fn what_is_not_durable_never_passes_and_never_sounds_safe() {
    let mut record = barriers(&[vec![100_000; 500]]);
    record.substrate.as_mut().unwrap().filesystem = Some("tmpfs".into());
    let verdict = jetstream(&record);
    assert_eq!((verdict.durability, verdict.band), (Durability::NotDurable, Band::Ideal));
    assert_eq!((verdict.pass, verdict.exit_code), (false, 4));
    assert!(verdict.sentence.starts_with("NOT DURABLE: "), "{}", verdict.sentence);
    assert!(verdict.sentence.ends_with("(IDEAL by latency alone)"), "{}", verdict.sentence);
    assert_eq!(verdict.recommendation.unwrap().sync_interval, None);

    let none = Arm { barrier: Barrier::None, ..FDATASYNC };
    let verdict = jetstream(&pairs(none, &[vec![(1_000, 0); 500]]));
    assert_eq!((verdict.exit_code, codes(&verdict)), (4, vec!["no_barrier"]));
    let expected = "BASELINE: no barrier was issued; never a pass (IDEAL by latency alone)";
    assert_eq!(verdict.sentence, expected);
}

#[test]
fn unproved_passes_unless_proof_is_required() {
    let record = barriers(&[vec![MS / 2; 500]]);
    let plain = jetstream(&record);
    assert_eq!((plain.durability, plain.exit_code), (Durability::Unproved, 0));
    assert_eq!(plain.sentence, "IDEAL: SyncAlways is safe on this storage");
    let options = JudgeOptions { require_proof: true, ..JudgeOptions::default() };
    let strict = judge(&record, &Policy::default(), &options).unwrap();
    assert_eq!((strict.pass, strict.exit_code), (false, 4));
    assert!(strict.sentence.starts_with("UNPROVED: "), "{}", strict.sentence);
}

#[test]
fn below_5_us_nothing_is_durable() {
    let verdict = jetstream(&barriers(&[vec![4_999; 500]]));
    assert_eq!((verdict.pass, verdict.exit_code), (false, 4));
    assert_eq!(verdict.durability, Durability::NotDurable);
    assert!(verdict.sentence.starts_with("NOT DURABLE: half of the flushes took 4.99us or less"));
    assert_eq!(codes(&verdict), ["implausibly_fast"]);
    assert_eq!(verdict.recommendation.unwrap().sync_interval, None);
    assert_eq!(jetstream(&barriers(&[vec![5_000; 500]])).exit_code, 0);
}

#[test]
fn exit_codes_have_one_order() {
    let require = JudgeOptions { require_proof: true, ..JudgeOptions::default() };
    let exit = |record: &Record| judge(record, &Policy::default(), &require).unwrap().exit_code;
    // Broken (1), unproved where proof is required (4).
    let mut record = barriers(&[vec![2_000 * MS; 100]]);
    assert_eq!(jetstream(&record).exit_code, 1);
    assert_eq!(exit(&record), 4);
    // Implausible, and so not durable (4), besides.
    let mut fast = vec![1_000; 150];
    fast.extend([2_000 * MS; 50]);
    record = barriers(&[fast]);
    assert_eq!(jetstream(&record).band, Band::Broken);
    assert_eq!(jetstream(&record).exit_code, 4);
    // Interrupted (130) wins over all.
    record.status = Status::Interrupted;
    assert_eq!(exit(&record), 130);
    let partial = jetstream(&Record { status: Status::Interrupted, ..barriers(&[vec![MS; 100]]) });
    assert_eq!((partial.exit_code, codes(&partial)), (130, vec!["interrupted"]));
    assert!(partial.sentence.ends_with(" (interrupted: partial)"), "{}", partial.sentence);
}

/// An open loop of 500 pairs at 1,000/s, each as late as `late` says.
fn open_loop(late: impl Fn(u64) -> u64, reached: f64) -> Record {
    let mut record = pairs(FDATASYNC, &[vec![(0, MS / 2); 500]]);
    let plan = record.plan.as_mut().unwrap();
    plan.rate_per_s = Some(1_000.0);
    record.pairs_per_s = Some(reached);
    let distributions = record.distributions.as_mut().unwrap();
    let lateness: Vec<u64> = (0..500).map(late).collect();
    for parts in
        distributions.workers.iter_mut().map(|w| &mut w.parts).chain([&mut distributions.pooled])
    {
        parts.service = Some(parts.total.clone());
        parts.late = synctail_bench::Distribution::of(&mut lateness.clone());
        let mut total: Vec<u64> = lateness.iter().map(|ns| ns + MS / 2).collect();
        parts.total = synctail_bench::Distribution::of(&mut total).unwrap();
    }
    record
}

#[test]
fn an_open_loop_is_judged_by_its_total_and_does_not_pass_where_it_fell_behind() {
    let kept = jetstream(&open_loop(|_| 0, 1_000.0));
    assert_eq!((kept.metric, kept.pass, kept.exit_code), (Metric::Total, true, 0));
    // Each pair later than the one before it, to 20 ms: by its band it would pass.
    let behind = jetstream(&open_loop(|n| n * 40_000, 900.0));
    assert_eq!((behind.band, behind.pass, behind.exit_code), (Band::Workable, false, 1));
    assert!(codes(&behind).contains(&"rate_not_reached"));
    assert!(behind.sentence.contains("rate"), "{}", behind.sentence);
    // A stall at the end delays a few and lowers the rate all the same.
    let stalled = jetstream(&open_loop(|n| if n > 450 { 20 * MS } else { 0 }, 900.0));
    assert_eq!((stalled.band, stalled.pass), (Band::Workable, true));
    assert!(!codes(&stalled).contains(&"rate_not_reached"));
}

#[test]
fn pairs_that_had_not_begun_are_said() {
    let mut record = open_loop(|_| 0, 1_000.0);
    assert!(!codes(&jetstream(&record)).contains(&"not_started"));
    record.counters.as_mut().unwrap().not_started = Some(3);
    assert!(codes(&jetstream(&record)).contains(&"not_started"));
}
