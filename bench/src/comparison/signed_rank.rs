//! Wilcoxon's signed-rank test and the estimate of Hodges and Lehmann that belongs to it
//! (M. Hollander, D. A. Wolfe, "Nonparametric Statistical Methods", chapter 3).

/// Up to here the distribution of the rank sum is exact; beyond, normal.
const EXACT_MAX: usize = 60;
/// Two-sided 95 % of the normal distribution.
const Z_95: f64 = 1.959_964;

/// What the differences say about their centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// Median of all means of two differences.
    pub centre: f64,
    /// Its 95 % interval.
    pub interval: [f64; 2],
    /// Two-sided probability of such ranks where the centre is 0.
    pub p_value: f64,
}

impl SignedRank {
    /// Nothing where there are fewer than six differences: no result of theirs could reach 5 %.
    pub fn of(differences: &[f64]) -> Option<SignedRank> {
        if differences.len() < 6 {
            return None;
        }
        let mut means = means_of_two(differences);
        means.sort_unstable_by(f64::total_cmp);
        let cut = outside(differences.len()).min((means.len() - 1) / 2);
        let middle = means.len() / 2;
        let centre = if means.len() % 2 == 1 {
            means[middle]
        } else {
            f64::midpoint(means[middle - 1], means[middle])
        };
        let interval = [means[cut], means[means.len() - 1 - cut]];
        Some(SignedRank { centre, interval, p_value: p_value(differences) })
    }
}

fn means_of_two(differences: &[f64]) -> Vec<f64> {
    let with_later = |first: usize| {
        differences[first..].iter().map(move |second| f64::midpoint(differences[first], *second))
    };
    (0..differences.len()).flat_map(with_later).collect()
}

/// Ties have the mean of their ranks; a difference of 0 says nothing and is left out.
fn p_value(differences: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    sorted.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let mut positive = 0.0;
    let mut first = 0;
    while first < sorted.len() {
        let size = sorted[first].abs();
        let tied = sorted[first..].iter().take_while(|d| d.abs() == size).count();
        let rank = first as f64 + (tied as f64 + 1.0) / 2.0;
        positive += rank * sorted[first..first + tied].iter().filter(|d| **d > 0.0).count() as f64;
        first += tied;
    }
    let count = sorted.len() as f64;
    let total = count * (count + 1.0) / 2.0;
    // Rounded up: a tie never makes the result look rarer than it is.
    let smaller = positive.min(total - positive).ceil();
    (2.0 * at_most(sorted.len(), smaller as usize)).min(1.0)
}

/// Probability that the rank sum of `count` random signs is at most `sum`.
fn at_most(count: usize, sum: usize) -> f64 {
    if count <= EXACT_MAX {
        return rank_sums(count).iter().take(sum + 1).sum();
    }
    let (mean, deviation) = moments(count);
    normal_below((sum as f64 + 0.5 - mean) / deviation)
}

/// How many of the sorted means of two lie outside of the 95 % interval at each end.
fn outside(count: usize) -> usize {
    if count > EXACT_MAX {
        let (mean, deviation) = moments(count);
        return (mean - Z_95 * deviation - 0.5).max(0.0) as usize;
    }
    let mut below = 0.0;
    let inside = rank_sums(count).iter().position(|p| {
        below += p;
        below > 0.025
    });
    inside.unwrap_or(0)
}

fn moments(count: usize) -> (f64, f64) {
    let n = count as f64;
    (n * (n + 1.0) / 4.0, (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt())
}

/// Probability of each rank sum of `count` random signs.
fn rank_sums(count: usize) -> Vec<f64> {
    let mut sums = vec![0.0; count * (count + 1) / 2 + 1];
    sums[0] = 1.0;
    for rank in 1..=count {
        for sum in (0..sums.len()).rev() {
            let with_rank = if sum >= rank { sums[sum - rank] } else { 0.0 };
            sums[sum] = f64::midpoint(sums[sum], with_rank);
        }
    }
    sums
}

/// Normal distribution function: formula 26.2.17 of M. Abramowitz, I. Stegun, "Handbook of
/// Mathematical Functions"; absolute error below 7.5e-8.
fn normal_below(z: f64) -> f64 {
    const TERMS: [f64; 5] =
        [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = t * TERMS.iter().rev().fold(0.0, |sum, term| sum * t + term);
    let above = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * series;
    if z > 0.0 { 1.0 - above } else { above }
}

#[cfg(test)]
mod tests {
    use super::{SignedRank, at_most, normal_below, outside};

    #[test]
    fn published_tables_are_met() {
        // Hollander and Wolfe, table A.4: two-sided 5 % of n = 6, 10, 20 is at 0, 8, 52.
        for (count, critical) in [(6, 0), (10, 8), (20, 52)] {
            assert!(2.0 * at_most(count, critical) <= 0.05, "{count}");
            assert!(2.0 * at_most(count, critical + 1) > 0.05, "{count}");
            assert_eq!(outside(count), critical + 1, "{count}");
        }
        assert!((normal_below(-1.959_964) - 0.025).abs() < 1e-6);
    }

    #[test]
    fn the_sign_and_the_centre_are_those_of_the_differences() {
        let up: Vec<f64> = (0..12).map(|n| 1.0 + f64::from(n) / 100.0).collect();
        let found = SignedRank::of(&up).unwrap();
        assert!((found.centre - 1.055).abs() < 1e-9 && found.interval[0] > 1.0, "{found:?}");
        assert!((found.p_value - 2.0 / 4096.0).abs() < 1e-12, "{found:?}");
        assert_eq!(SignedRank::of(&[0.0; 8]).unwrap().p_value, 1.0);
        assert_eq!(SignedRank::of(&up[..5]), None);
    }
}
