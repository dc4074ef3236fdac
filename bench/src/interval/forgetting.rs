//! How slowly the series "above the threshold or not" forgets.
//!
//! Integrated autocorrelation time tau = 1 + 2 sum rho(k), summed as long as pairs of neighbouring lags are
//! positive and made monotone: the initial monotone sequence of C. J. Geyer, "Practical Markov chain Monte
//! Carlo", Statistical Science 7 (1992), section 3.3.

/// More bins than this are merged, so that a long run costs no more than a short one.
const BINS_MOST: usize = 1 << 16;

/// Lags beyond this share of the bins have too few pairs behind them.
const LAG_SHARE: usize = 8;

/// How far neighbours are looked for.
const LAGS_TESTED: usize = 1 << 8;

/// Clusters of exceedances that chance makes in one of so many independent series.
const CHANCE: f64 = 1e-3;

/// Exceedances of a threshold, as deviations from their share.
#[derive(Clone, Debug)]
pub struct Forgetting {
    /// Sums over `width` samples each.
    bins: Vec<f64>,
    width: f64,
    /// Share of exceedances.
    share: f64,
    variance: f64,
}

impl Forgetting {
    /// Of the samples of `series` above `threshold`.
    pub fn of(series: &[u64], threshold: u64) -> Forgetting {
        let width = series.len().div_ceil(BINS_MOST).max(1);
        let above = |ns: &u64| *ns > threshold;
        let exceedances = series.iter().filter(|ns| above(ns)).count();
        let share = exceedances as f64 / series.len().max(1) as f64;
        let bins: Vec<f64> = series
            .chunks_exact(width)
            .map(|bin| bin.iter().filter(|ns| above(ns)).count() as f64 - share * width as f64)
            .collect();
        let variance = autocovariance(&bins, 0);
        Forgetting { bins, width: width as f64, share, variance }
    }

    /// Integrated autocorrelation time in samples, at least 1.
    pub fn tau(&self) -> f64 {
        if self.variance == 0.0 {
            return 1.0;
        }
        let within = self.variance / (self.width * self.share * (1.0 - self.share));
        (within * self.geyer_tau()).max(1.0)
    }

    /// The same in bins.
    fn geyer_tau(&self) -> f64 {
        let (mut sum, mut last) = (0.0, f64::INFINITY);
        for lag in (0..self.bins.len() / LAG_SHARE).step_by(2) {
            let both = autocovariance(&self.bins, lag) + autocovariance(&self.bins, lag + 1);
            if both <= 0.0 {
                break;
            }
            last = (both / self.variance).min(last);
            sum += last;
        }
        2.0 * sum - 1.0
    }

    /// Whether the exceedances keep closer together than chance explains: over the first 1, 2, 4 ... lags.
    ///
    /// Of independent samples the number of exceedances so close together is nearly Poisson.
    pub fn clustered(&self) -> bool {
        let tests = (self.bins.len() / LAG_SHARE).clamp(1, LAGS_TESTED).ilog2() + 1;
        let count = self.bins.len() as f64;
        let (mut sum, mut lag) = (0.0, 0);
        for power in 0..tests {
            while lag < 1 << power {
                lag += 1;
                sum += autocovariance(&self.bins, lag);
            }
            let expected = count * lag as f64 * self.variance * self.variance;
            let chance = poisson_tail_most(expected, expected + sum * count);
            if chance < CHANCE / f64::from(tests) {
                return true;
            }
        }
        false
    }
}

/// Mean product of deviations `lag` apart.
fn autocovariance(bins: &[f64], lag: usize) -> f64 {
    let products = bins.iter().zip(&bins[lag.min(bins.len())..]).map(|(a, b)| a * b);
    products.sum::<f64>() / bins.len() as f64
}

/// Chernoff's upper bound of the probability that a Poisson count of mean `expected` is `seen` or more.
fn poisson_tail_most(expected: f64, seen: f64) -> f64 {
    if seen <= expected {
        return 1.0;
    }
    (seen - expected - seen * (seen / expected).ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_alternates_in_blocks_forgets_after_a_block() {
        let series: Vec<u64> = (0..4_000).map(|i| i / 10 % 2).collect();
        let tau = Forgetting::of(&series, 0).tau();
        assert!((4.0..=12.0).contains(&tau), "{tau}");
        assert!(Forgetting::of(&series, 0).clustered());
    }

    #[test]
    fn nothing_above_or_everything_forgets_at_once() {
        for threshold in [0, 7] {
            let all = Forgetting::of(&[7; 300], threshold);
            assert_eq!((all.tau(), all.clustered()), (1.0, false));
        }
        assert_eq!(Forgetting::of(&[], 0).tau(), 1.0);
    }

    #[test]
    fn many_samples_are_merged_and_forget_as_slowly() {
        let series: Vec<u64> = (0..1_000_000).map(|i| i / 500 % 2).collect();
        let tau = Forgetting::of(&series, 0).tau();
        assert!((200.0..=600.0).contains(&tau), "{tau}");
    }
}
