//! The percentile curve: latency over the number of nines, so that the tail has room.

use super::axis::{Axis, Scale};

/// Points between two nines.
const POINTS_A_DECADE: f64 = 60.0;
/// Slowest samples that each have a point of their own.
const OWN_POINTS: usize = 64;

/// How many nines a share of samples is: 0 for none, 1 for p90, 2 for p99, 3 for p99.9.
pub fn nines(share_beyond: f64) -> f64 {
    -share_beyond.log10()
}

/// How far to the right a curve over `count` samples reaches; the slowest of them stands there.
pub fn end(count: u64) -> f64 {
    // Nothing lies beyond the slowest sample: it stands as if half a sample did.
    nines(0.5 / count.max(1) as f64)
}

/// Nines and latency along `sorted` (ascending), from its first sample to its last. Each point is a
/// sample; the slowest are all there.
pub fn curve(sorted: &[u64]) -> Vec<(f64, u64)> {
    let count = sorted.len();
    let place = |i: usize| match count - 1 - i {
        0 => end(count as u64),
        beyond => nines(beyond as f64 / count as f64),
    };
    let mut points = Vec::new();
    let mut last = f64::NEG_INFINITY;
    for (i, &ns) in sorted.iter().enumerate() {
        // Checked before the logarithm: ten million of them take a while.
        if count - i > OWN_POINTS && i % stride(count - i) != 0 {
            continue;
        }
        let x = place(i);
        if count - i <= OWN_POINTS || x - last >= 1.0 / POINTS_A_DECADE || i == 0 {
            points.push((x, ns));
            last = x;
        }
    }
    points
}

/// An axis with the minimum, p50, p90, p99 and so on, as far as `count` samples carry, and the maximum.
pub fn percentiles(count: u64) -> Axis {
    let mut axis = Axis::new(0.0, end(count), Scale::Linear, "percentile");
    axis.tick(0.0, "min".into(), false);
    axis.tick(nines(0.5), "p50".into(), true);
    let names = ["p90", "p99", "p99.9", "p99.99", "p99.999", "p99.9999", "p99.99999"];
    for (i, name) in names.iter().enumerate() {
        // The last one would stand under the maximum.
        if ((i + 1) as f64) < end(count) - 0.25 {
            let narrow = (i + 1) as f64 > end(count) - 0.7;
            axis.tick((i + 1) as f64, (*name).to_owned(), narrow);
        }
    }
    axis.tick(end(count), "max".into(), false);
    axis
}

/// Steps that cannot miss a point, with `beyond` samples still to come.
fn stride(beyond: usize) -> usize {
    (beyond / 512).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use synctail_bench::Percentile;

    #[test]
    fn a_percentile_of_the_record_lies_on_the_curve() {
        let sorted: Vec<u64> = (0..500).map(|i| i * i).collect();
        let points = curve(&sorted);
        let at = |x: f64| points.iter().find(|point| (point.0 - x).abs() < 1e-9).unwrap().1;
        assert_eq!(Some(at(2.0)), Percentile::P99.of(&sorted));
        assert_eq!(points.last().unwrap(), &(end(500), 499 * 499));
    }

    #[test]
    fn ten_million_samples_are_few_points_and_the_slowest_are_all_there() {
        let mut sorted = vec![1_000u64; 10_000_000];
        let slowest: Vec<u64> = (1..=60).map(|i| i * 1_000_000).collect();
        sorted.truncate(10_000_000 - 60);
        sorted.extend(&slowest);
        let points = curve(&sorted);
        assert!(points.len() < 600, "{}", points.len());
        let last: Vec<u64> = points[points.len() - 60..].iter().map(|point| point.1).collect();
        assert_eq!(last, slowest);
        assert!(points.is_sorted_by(|a, b| a.0 <= b.0));
    }

    #[test]
    fn one_sample_is_a_curve() {
        assert_eq!(curve(&[7]).len(), 1);
        assert!(curve(&[]).is_empty());
    }
}
