//! Between which order statistics of independent samples the 99th percentile lies.
//!
//! The number of samples at or below the true percentile is binomial, whatever their distribution is; so the
//! ranks follow from the binomial distribution alone (H. A. David, H. N. Nagaraja, "Order Statistics",
//! section 7.1).

use super::COVERAGE;

/// Probability of a sample above p99.
const ABOVE: f64 = 0.01;

/// Weights below this share of the largest no longer matter.
const NEGLIGIBLE: f64 = 1e-18;

/// The interval's ends, counted from the largest sample: 0 is the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// Samples above the upper end.
    above_high: u64,
    /// Samples above the lower end.
    above_low: u64,
    /// Of how many.
    count: u64,
}

/// Of `count` independent samples; nothing where even the largest is too often below the percentile.
pub fn of_p99(count: u64) -> Option<Ranks> {
    let miss = (1.0 - COVERAGE) / 2.0;
    let (first, chances) = exceedances(count);
    // K samples exceed the percentile. The sample with `a` above it is below the percentile if K <= a, and
    // not below it if K > a.
    let mut at_most = 0.0;
    let (mut above_high, mut above_low) = (None, None);
    for (k, chance) in (first..).zip(&chances) {
        at_most += chance;
        if at_most <= miss {
            above_high = Some(k);
        }
        if above_low.is_none() && at_most >= 1.0 - miss {
            above_low = Some(k);
        }
    }
    Some(Ranks { above_high: above_high?, above_low: above_low?.min(count - 1), count })
}

impl Ranks {
    /// Indices into `count` samples sorted ascending; the ends move outwards where they fall between two.
    pub fn scaled(self, count: u64) -> [u64; 2] {
        let scale = |above: u64| u128::from(above) * u128::from(count);
        let high = (scale(self.above_high) / u128::from(self.count)) as u64;
        let low = scale(self.above_low).div_ceil(u128::from(self.count)) as u64;
        [count - 1 - low.min(count - 1), count - 1 - high]
    }
}

/// Probabilities of so many samples above the percentile, and the number that the first stands for. Built
/// from the most likely number outwards: from 0 on, they would underflow.
fn exceedances(count: u64) -> (u64, Vec<f64>) {
    let mode = ((count + 1) as f64 * ABOVE) as u64;
    let odds = ABOVE / (1.0 - ABOVE);
    let mut below = Vec::new();
    let (mut weight, mut k) = (1.0, mode);
    while k > 0 && weight > NEGLIGIBLE {
        weight *= k as f64 / ((count - k + 1) as f64 * odds);
        k -= 1;
        below.push(weight);
    }
    let first = k;
    below.reverse();
    let mut chances = below;
    (weight, k) = (1.0, mode);
    while k <= count && weight > NEGLIGIBLE {
        chances.push(weight);
        weight *= (count - k) as f64 * odds / (k + 1) as f64;
        k += 1;
    }
    let sum: f64 = chances.iter().sum();
    chances.iter_mut().for_each(|chance| *chance /= sum);
    (first, chances)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_sample_bounds_p99_from_368_samples_on() {
        let least = super::super::P99Interval::EFFECTIVE_SAMPLES_LEAST;
        assert_eq!((of_p99(least - 1), of_p99(0)), (None, None));
        assert_eq!(of_p99(least).unwrap().scaled(least)[1], least - 1);
    }

    #[test]
    fn ranks_are_those_of_the_tables() {
        // R: qbinom(c(0.025, 0.975), n, 0.01) gives 1 and 10, 31 and 70, 457 and 544.
        let ends = |count: u64| of_p99(count).map(|r| (r.above_high, r.above_low)).unwrap();
        assert_eq!(ends(500), (0, 10));
        assert_eq!(ends(5_000), (36, 64));
        assert_eq!(ends(50_000), (456, 544));
    }

    #[test]
    fn scaled_ends_move_outwards() {
        let ranks = of_p99(500).unwrap();
        assert_eq!(ranks.scaled(500), [489, 499]);
        assert_eq!(ranks.scaled(750), [734, 749]);
        assert_eq!(ranks.scaled(5_000), [4_899, 4_999]);
    }
}
