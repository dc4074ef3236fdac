//! How many samples took how long, both in decades: a single slow pair is a bar that is seen.

use super::axis::Axis;
use super::markup::Markup;
use super::plot::{Path, Plot};
use crate::human;
use crate::policy::Policy;

/// Bars across the plot.
const BARS: usize = 96;

/// Of latencies, ascending.
pub fn draw(sorted: &[u64], policy: &Policy) -> Markup {
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else {
        return Markup::default();
    };
    let x = Axis::latency(low, high, "latency");
    let counts = counts(sorted, &x);
    let most = counts.iter().copied().max().unwrap_or(1);
    let mut plot = Plot::new(x, Axis::count(most, "pairs in a bar"));
    plot.bands_right(policy);
    let mut bars = Path::default();
    for (i, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let (from, to) = (i as f64 / BARS as f64, (i + 1) as f64 / BARS as f64);
        bars.rectangle((from, 0.0), (to, plot.y.at(count as f64)));
    }
    plot.draw("bar", bars);
    let count = human::count(sorted.len() as u64);
    let what = format!("{count} pairs from {} to {}", human::time(low), human::time(high));
    plot.finish("Histogram", &what, &Markup::default())
}

/// Samples in each bar; `sorted` is cut where a bar ends, so that no logarithm is taken of a sample.
fn counts(sorted: &[u64], axis: &Axis) -> Vec<u64> {
    let mut counts = Vec::with_capacity(BARS);
    let mut before = 0;
    for bar in 1..=BARS {
        let edge = axis.value(bar as f64 / BARS as f64);
        let below = match bar == BARS {
            true => sorted.len(),
            false => sorted.partition_point(|&ns| (ns as f64) < edge),
        };
        counts.push((below - before) as u64);
        before = below;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_in_one_bar() {
        let sorted: Vec<u64> = (1..=5_000u64).map(|i| i * i).collect();
        let axis = Axis::latency(1, 25_000_000, "");
        assert_eq!(counts(&sorted, &axis).iter().sum::<u64>(), 5_000);
        assert_eq!(counts(&[u64::MAX], &axis)[BARS - 1], 1);
    }
}
