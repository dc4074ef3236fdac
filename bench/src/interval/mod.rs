//! The 95 % interval of p99 from latencies that are not independent of each other.
//!
//! Whether a sample lies above the quantile is a 0/1 series. How slowly that series forgets says for how
//! many independent samples the run stands: n / tau, with tau its integrated autocorrelation time
//! ([`forgetting`]). Order statistics of that many samples bound the quantile ([`ranks`]); their ranks are
//! then scaled to the samples that there are. Nothing is assumed of the latencies' distribution.

mod forgetting;
mod ranks;
#[cfg(test)]
mod simulated;

use crate::Percentile;
use forgetting::Forgetting;

/// Share of runs whose interval holds the true percentile.
pub const COVERAGE: f64 = 0.95;

/// How well a run's samples carry p99.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct P99Interval {
    /// Both ends; nothing where the samples cannot carry them.
    pub interval_ns: Option<[u64; 2]>,
    /// For how many independent samples the run stands; at most as many as there are.
    pub effective_samples: f64,
}

impl P99Interval {
    /// The fewest effective samples that carry both ends: with fewer, the largest sample is below the
    /// true p99 in more than 2.5 % of all runs (0.99^368 = 0.0248).
    pub const EFFECTIVE_SAMPLES_LEAST: u64 = 368;

    /// Of `series`, in the order of time, with `sorted` the same samples ascending; nothing where they do
    /// not even have a p99.
    pub fn of(series: &[u64], sorted: &[u64]) -> Option<P99Interval> {
        debug_assert!(series.len() == sorted.len() && sorted.is_sorted());
        Percentile::P99.of(sorted)?;
        let count = sorted.len() as u64;
        let effective = effective_samples(series, sorted);
        let interval_ns = ranks::of_p99(effective.floor() as u64).map(|ranks| {
            let [low, high] = ranks.scaled(count);
            [sorted[low as usize], sorted[high as usize]]
        });
        Some(P99Interval { interval_ns, effective_samples: effective })
    }
}

/// How many independent samples `series` stands for at its p99.
///
/// A run of 500 has five samples above p99, too few to see them cluster: there p95 and p90 are looked at as
/// well, and the slowest to forget counts. What is then lacking for an interval is only taken for true where
/// chance does not explain it: of five independent samples two are neighbours in 4 % of all runs.
fn effective_samples(series: &[u64], sorted: &[u64]) -> f64 {
    let count = sorted.len() as u64;
    let threshold = |level: Percentile| sorted[level.index(count) as usize];
    let levels = match count {
        ..2_000 => &[Percentile::P99, Percentile::P95, Percentile::P90][..],
        2_000..20_000 => &[Percentile::P99, Percentile::P95],
        _ => &[Percentile::P99],
    };
    let all: Vec<Forgetting> =
        levels.iter().map(|&level| Forgetting::of(series, threshold(level))).collect();
    let tau = all.iter().map(Forgetting::tau).fold(1.0, f64::max);
    let effective = count as f64 / tau;
    let least = P99Interval::EFFECTIVE_SAMPLES_LEAST.min(count) as f64;
    if effective < least && !all.iter().any(Forgetting::clustered) { least } else { effective }
}
