//! Exact distributions: sort, then rank. Never interpolated, never from a bucket.

use serde::{Deserialize, Serialize};

/// A percentile as the fraction `numerator / denominator`, so that ranks are integer arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentile {
    /// The key that carries it in the record.
    pub key: &'static str,
    /// Below `denominator`.
    pub numerator: u64,
    /// Such as 100 for p99.
    pub denominator: u64,
}

impl Percentile {
    const fn new(key: &'static str, numerator: u64, denominator: u64) -> Percentile {
        assert!(numerator < denominator);
        Percentile { key, numerator, denominator }
    }

    /// Median.
    pub const P50: Percentile = Percentile::new("p50_ns", 1, 2);
    /// 90th percentile.
    pub const P90: Percentile = Percentile::new("p90_ns", 9, 10);
    /// 95th percentile.
    pub const P95: Percentile = Percentile::new("p95_ns", 19, 20);
    /// 99th percentile.
    pub const P99: Percentile = Percentile::new("p99_ns", 99, 100);
    /// 99.9th percentile.
    pub const P99_9: Percentile = Percentile::new("p99_9_ns", 999, 1_000);
    /// 99.99th percentile.
    pub const P99_99: Percentile = Percentile::new("p99_99_ns", 9_999, 10_000);

    /// All percentiles of a record, in order.
    pub const ALL: [Percentile; 6] =
        [Self::P50, Self::P90, Self::P95, Self::P99, Self::P99_9, Self::P99_99];

    /// The fewest samples that carry this percentile: 100/(100-p), the count at which one sample
    /// stands for the tail beyond it. In reduced fractions that is d/(d-n), rounded up.
    pub const fn samples_needed(self) -> u64 {
        self.denominator.div_ceil(self.denominator - self.numerator)
    }

    /// Index into `count` samples sorted ascending: `max(0, floor(count * q) - 1)`.
    pub const fn index(self, count: u64) -> u64 {
        let rank = count as u128 * self.numerator as u128 / self.denominator as u128;
        (rank as u64).saturating_sub(1)
    }

    /// The percentile of `sorted` (ascending), or nothing where the samples do not carry it.
    pub fn of(self, sorted: &[u64]) -> Option<u64> {
        let count = sorted.len() as u64;
        if count < self.samples_needed() {
            return None;
        }
        sorted.get(self.index(count) as usize).copied()
    }
}

/// One part's exact figures over a set of samples. Never empty: `count` is at least 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Samples.
    pub count: u64,
    /// Smallest.
    pub min_ns: u64,
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// 90th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90_ns: Option<u64>,
    /// 95th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95_ns: Option<u64>,
    /// 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// 99.9th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_9_ns: Option<u64>,
    /// 99.99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_99_ns: Option<u64>,
    /// Largest, operations still in flight included with their lower bound.
    pub max_ns: u64,
    /// 95 % interval of p99.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_interval_ns: Option<[u64; 2]>,
    /// Keys of the percentiles that are absent because the samples do not carry them.
    pub too_few_samples: Vec<String>,
}

impl Distribution {
    /// Ranks `samples`, which it sorts in place; nothing where there are none.
    pub fn of(samples: &mut [u64]) -> Option<Distribution> {
        samples.sort_unstable();
        Self::of_sorted(samples)
    }

    /// The same for samples that are sorted ascending.
    pub fn of_sorted(sorted: &[u64]) -> Option<Distribution> {
        debug_assert!(sorted.is_sorted());
        let (&min_ns, &max_ns) = (sorted.first()?, sorted.last()?);
        let sum: u128 = sorted.iter().map(|&ns| u128::from(ns)).sum();
        let count = sorted.len() as u64;
        let absent = |p: &&Percentile| count < p.samples_needed();
        Some(Distribution {
            count,
            min_ns,
            mean_ns: sum as f64 / count as f64,
            p50_ns: Percentile::P50.of(sorted),
            p90_ns: Percentile::P90.of(sorted),
            p95_ns: Percentile::P95.of(sorted),
            p99_ns: Percentile::P99.of(sorted),
            p99_9_ns: Percentile::P99_9.of(sorted),
            p99_99_ns: Percentile::P99_99.of(sorted),
            max_ns,
            p99_interval_ns: None,
            too_few_samples: Percentile::ALL.iter().filter(absent).map(|p| p.key.into()).collect(),
        })
    }
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p99_of_500_is_index_494() {
        assert_eq!(Percentile::P99.index(500), 494);
        let mut samples: Vec<u64> = (0..500).rev().collect();
        let d = Distribution::of(&mut samples).unwrap();
        assert_eq!((d.p99_ns, d.min_ns, d.max_ns), (Some(494), 0, 499));
    }

    #[test]
    fn a_percentile_appears_with_the_first_sample_that_carries_it() {
        for (p, needed) in Percentile::ALL.iter().zip([2, 10, 20, 100, 1_000, 10_000]) {
            assert_eq!(p.samples_needed(), needed, "{}", p.key);
            let samples = vec![7; needed as usize];
            assert_eq!(p.of(&samples), Some(7));
            assert_eq!(p.of(&samples[1..]), None);
        }
    }

    #[test]
    fn absent_percentiles_are_named() {
        let d = Distribution::of(&mut [3, 1, 2]).unwrap();
        assert_eq!(d.p50_ns, Some(1));
        assert_eq!(d.too_few_samples, ["p90_ns", "p95_ns", "p99_ns", "p99_9_ns", "p99_99_ns"]);
        assert_eq!(Distribution::of(&mut []), None);
    }

    #[test]
    fn percentiles_never_decrease_and_never_exceed_the_maximum() {
        let mut samples: Vec<u64> = (0..20_000u64).map(|i| i * i % 7_919).collect();
        let d = Distribution::of(&mut samples).unwrap();
        let row = [d.p50_ns, d.p90_ns, d.p95_ns, d.p99_ns, d.p99_9_ns, d.p99_99_ns];
        let row: Vec<u64> = row.into_iter().flatten().collect();
        assert!(row.is_sorted() && d.min_ns <= row[0] && row[5] <= d.max_ns, "{row:?}");
    }

    #[test]
    fn pooled_samples_are_merged_then_ranked() {
        let mut pooled = vec![500_000; 1_000];
        pooled.extend([200_000_000; 10]);
        assert_eq!(Distribution::of(&mut pooled).unwrap().p99_ns, Some(500_000));
    }

    #[test]
    fn the_mean_survives_sums_beyond_64_bits() {
        let d = Distribution::of(&mut [u64::MAX, u64::MAX]).unwrap();
        assert_eq!(d.mean_ns, u64::MAX as f64);
    }
}
