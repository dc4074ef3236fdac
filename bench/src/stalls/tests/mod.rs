//! The rules one by one.

mod simulated;

use super::*;
use simulated::closed_loop;

const MS: u64 = 1_000_000;

/// A loop of 1 ms over 6 s with stalls of 30 ms at these moments, in milliseconds.
fn stalls(at_ms: &[u64]) -> Stalls {
    let stalls: Vec<(u64, u64)> = at_ms.iter().map(|at| (at * MS, 30 * MS)).collect();
    let pairs = closed_loop(6_000 * MS, MS, &stalls, &mut fastrand::Rng::with_seed(1));
    Stalls::of(|| pairs.iter().copied()).unwrap()
}

#[test]
fn without_pairs_there_is_nothing_and_without_stalls_none() {
    assert_eq!(Stalls::of(std::iter::empty), None);
    let one = Stalls::of(|| std::iter::once((5, 7))).unwrap();
    assert_eq!((one.outcome, one.durations_ns(), one.tail_share), (StallOutcome::None, None, None));
    assert_eq!(stalls(&[]).outcome, StallOutcome::None);
    let same = Stalls::of(|| (0..100).map(|i| (i * 10, 0))).unwrap();
    assert_eq!(same.outcome, StallOutcome::None, "pairs without any duration");
}

#[test]
fn fewer_than_four_are_too_few() {
    for few in [&[500][..], &[500, 1_500], &[500, 1_500, 2_500]] {
        let found = stalls(few);
        assert_eq!((found.outcome, found.stalls.len()), (StallOutcome::TooFew, few.len()));
        assert_eq!(found.period, None);
    }
}

#[test]
fn four_on_a_beat_are_a_period_and_four_anywhere_are_not() {
    let found = stalls(&[500, 1_500, 2_500, 3_500]);
    assert_eq!(found.outcome, StallOutcome::Periodic);
    let period = found.period.unwrap();
    assert!((period.period_ns / 1e9 - 1.0).abs() < 2e-3, "{period:?}");
    assert_eq!((period.beats, found.stalls.len(), found.off_beat), (4, 4, 0));
    assert_eq!(stalls(&[500, 1_430, 2_900, 4_100]).outcome, StallOutcome::Irregular);
}

#[test]
fn no_period_is_longer_than_a_third_of_the_run_or_shorter_than_50_ms() {
    assert_eq!(stalls(&[10, 2_100, 4_190, 5_000]).outcome, StallOutcome::Irregular);
    let close: Vec<u64> = (0..190).map(|i| 20 + i * 31 + i % 2).collect();
    assert_ne!(stalls(&close).outcome, StallOutcome::Periodic);
}

#[test]
fn a_beat_has_its_missed_ones_and_those_beside_it_are_counted() {
    let mut at: Vec<u64> =
        (0..18).filter(|beat| beat % 5 != 3).map(|beat| 200 + 300 * beat).collect();
    at.extend([1_333, 4_010]);
    at.sort_unstable();
    let found = stalls(&at);
    let period = found.period.as_ref().unwrap();
    let [low, high] = period.interval_ns;
    assert!(low < 300e6 && 300e6 < high && high - low < 3e6, "{period:?}");
    assert_eq!((found.stalls.len(), found.off_beat, period.beats), (15, 2, 18));
    assert!(found.durations_ns().unwrap().iter().all(|ns| (29 * MS..33 * MS).contains(ns)));
    assert!((found.time_share - 15.0 * 0.03 / 6.0).abs() < 0.01, "{}", found.time_share);
}

#[test]
fn long_stalls_keep_a_beat_among_short_ones_at_random() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut all: Vec<(u64, u64)> = (0..60).map(|_| (random.u64(0..6_000) * MS, 12 * MS)).collect();
    all.extend((0..12).map(|beat| ((100 + 500 * beat) * MS, 80 * MS)));
    all.sort_unstable();
    let pairs = closed_loop(6_000 * MS, MS, &all, &mut random);
    let found = Stalls::of(|| pairs.iter().copied()).unwrap();
    let [low, high] = found.period.as_ref().unwrap().interval_ns;
    assert!(low < 500e6 && 500e6 < high, "{found:?}");
    assert!(found.threshold_ns > 12 * MS && found.stalls.len() >= 11);
}

#[test]
fn slow_pairs_at_the_same_time_or_right_after_each_other_are_one_stall() {
    // Two workers; the pairs of the second begin half a millisecond later.
    let usual = (0..2_000).map(|i| (i * MS / 2, MS));
    let slow =
        [(100, 30), (101, 29), (131, 25), (157, 20), (700, 30)].map(|(at, ms)| (at * MS, ms * MS));
    let pairs: Vec<(u64, u64)> = usual.chain(slow).collect();
    let found = Stalls::of(|| pairs.iter().copied()).unwrap();
    let of = |start, lasts| Stall { start_ns: start * MS, duration_ns: lasts * MS };
    assert_eq!(found.stalls, [of(100, 77), of(700, 30)]);
    assert_eq!(found.outcome, StallOutcome::TooFew);
}

#[test]
fn the_share_of_the_tail_is_of_the_samples_above_p99() {
    // 1,000 pairs, ten above p99 (the 990th): eight in two stalls, two of twice the usual by themselves.
    let mut pairs: Vec<(u64, u64)> = (0..990).map(|i| (i * MS, MS)).collect();
    pairs.extend((0..8).map(|i| (if i < 4 { 100 * MS } else { 500 * MS } + i, 40 * MS)));
    pairs.extend([(250 * MS, 2 * MS), (300 * MS, 2 * MS)]);
    let found = Stalls::of(|| pairs.iter().copied()).unwrap();
    assert_eq!((found.stalls.len(), found.tail_share), (2, Some(0.8)));
}

#[test]
fn very_many_stalls_keep_their_beat() {
    let stalls: Vec<(u64, u64)> = (0..6_000).map(|i| ((20 + i * 60) * MS, 6 * MS)).collect();
    let pairs = closed_loop(360_000 * MS, MS / 2, &stalls, &mut fastrand::Rng::with_seed(5));
    let found = Stalls::of(|| pairs.iter().copied()).unwrap();
    let period = found.period.as_ref().unwrap();
    assert!((period.period_ns - 60e6).abs() < 1e3, "{period:?}");
    assert!(found.stalls.len() >= 5_900, "{}", found.stalls.len());
}
