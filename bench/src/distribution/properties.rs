//! Percentiles and merging against an oracle in rational arithmetic, written from the definition.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::Distribution;
use crate::cases::config;

/// The percentiles of a record as people say them, in ten-thousandths.
const IN_TEN_THOUSANDTHS: [(&str, u128); 6] = [
    ("p50_ns", 5_000),
    ("p90_ns", 9_000),
    ("p95_ns", 9_500),
    ("p99_ns", 9_900),
    ("p99_9_ns", 9_990),
    ("p99_99_ns", 9_999),
];
const ONE: u128 = 10_000;

/// Sorted ascending, the sample at `max(0, floor(n * q) - 1)`; absent below `ceil(1 / (1 - q))`.
fn oracle(samples: &[u64], q: u128) -> Option<u64> {
    let n = samples.len() as u128;
    // n >= ceil(1 / (1 - q)) is n >= 1 / (1 - q) for a whole n.
    if n * (ONE - q) < ONE {
        return None;
    }
    // The largest whole number that is at most n * q.
    let floor = (0..=n).rev().find(|&whole| whole * ONE <= n * q).unwrap();
    let mut sorted = samples.to_vec();
    sorted.sort();
    Some(sorted[(floor as usize).saturating_sub(1)])
}

fn row(d: &Distribution) -> [Option<u64>; 6] {
    [d.p50_ns, d.p90_ns, d.p95_ns, d.p99_ns, d.p99_9_ns, d.p99_99_ns]
}

fn of(samples: &[u64]) -> Option<Distribution> {
    Distribution::of(&mut samples.to_vec())
}

/// Few samples that shrink well, or as many as a percentile needs and one more or less; with many ties,
/// as latencies, and up to the largest number.
fn samples() -> impl Strategy<Value = Vec<u64>> {
    let few = || vec(prop_oneof![0..5u64, 0..1_000_000u64, any::<u64>()], 0..130);
    let needed = select(&[2, 10, 20, 100, 200, 1_000, 2_000, 10_000, 10_101][..]);
    let edge = (needed, -1..=1i64, any::<u64>(), 0..64u32).prop_map(|(needed, by, seed, shift)| {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..needed + by).map(|_| random.u64(..) >> shift).collect()
    });
    prop_oneof![2 => few(), 1 => edge]
}

/// Whether `mean` is `sum / count` within two units of its last place: one rounding of the sum, one of
/// the quotient. Exact: a float is a whole number times a power of two.
fn is_mean(mean: f64, sum: u128, count: u128) -> bool {
    if sum == 0 {
        return mean == 0.0;
    }
    let bits = mean.to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32 - 1_075, bits & ((1 << 52) - 1));
    let whole = u128::from(fraction | 1 << 52);
    let (up, down) = (exponent.max(0) as u32, (-exponent).max(0) as u32);
    ((whole * count) << up).abs_diff(sum << down) <= (2 * count) << up
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn percentiles_are_those_of_the_definition(samples in samples()) {
        let Some(d) = of(&samples) else {
            prop_assert!(samples.is_empty());
            return Ok(());
        };
        let expected = IN_TEN_THOUSANDTHS.map(|(_, q)| oracle(&samples, q));
        prop_assert_eq!(row(&d), expected);
        let absent = IN_TEN_THOUSANDTHS.iter().zip(expected).filter(|(_, value)| value.is_none());
        let names: Vec<&str> = absent.map(|((key, _), _)| *key).collect();
        prop_assert_eq!(&d.too_few_samples, &names);
        prop_assert_eq!(d.count, samples.len() as u64);
        prop_assert_eq!(Some(d.min_ns), samples.iter().min().copied());
        prop_assert_eq!(Some(d.max_ns), samples.iter().max().copied());
    }

    #[test]
    fn the_mean_is_the_exact_quotient_rounded(samples in samples()) {
        if let Some(d) = of(&samples) {
            let sum = samples.iter().map(|&ns| u128::from(ns)).sum();
            prop_assert!(is_mean(d.mean_ns, sum, samples.len() as u128), "{}", d.mean_ns);
        }
    }

    #[test]
    fn percentiles_ascend_between_the_extremes(samples in samples()) {
        if let Some(d) = of(&samples) {
            let between: Vec<u64> = row(&d).into_iter().flatten().collect();
            let all = [vec![d.min_ns], between, vec![d.max_ns]].concat();
            prop_assert!(all.is_sorted(), "{all:?}");
        }
    }

    #[test]
    fn order_does_not_matter(
        (samples, shuffled) in samples().prop_flat_map(|s| (Just(s.clone()), Just(s).prop_shuffle()))
    ) {
        prop_assert_eq!(of(&samples), of(&shuffled));
    }

    /// As the pooled distribution is made: each part is ranked (and so sorted) by itself, and the runs
    /// are merged one behind the other.
    #[test]
    fn parts_merged_are_the_whole(samples in samples(), cuts in vec(0.0..=1.0f64, 0..5)) {
        let mut cuts: Vec<usize> =
            cuts.iter().map(|share| (share * samples.len() as f64) as usize).collect();
        cuts.extend([0, samples.len()]);
        cuts.sort();
        let mut pooled = Vec::new();
        for cut in cuts.windows(2) {
            let mut part = samples[cut[0]..cut[1]].to_vec();
            let ranked = Distribution::of(&mut part);
            prop_assert_eq!(ranked.map_or(0, |d| d.count), part.len() as u64);
            pooled.append(&mut part);
        }
        pooled.sort();
        prop_assert_eq!(Distribution::of_sorted(&pooled), of(&samples));
        let expected = IN_TEN_THOUSANDTHS.map(|(_, q)| oracle(&samples, q));
        prop_assert_eq!(of(&pooled).map_or([None; 6], |d| row(&d)), expected);
    }
}
