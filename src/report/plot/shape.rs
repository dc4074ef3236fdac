//! What is drawn: a distribution from all that is known of it, samples first, then single figures.

use synctail_bench::Distribution;

use crate::record::Figures;
use crate::report::nines::{curve, end, nines};

/// How many samples lie below a latency.
type Below<'a> = Box<dyn Fn(u64) -> u64 + 'a>;

/// One distribution.
pub struct Shape<'a> {
    /// Samples.
    pub count: u64,
    /// Least and greatest, ns.
    pub range_ns: (u64, u64),
    /// Nines and latency, ascending.
    pub points: Vec<(f64, u64)>,
    /// Only where samples are known; single percentiles say nothing of what lies between them.
    pub below: Option<Below<'a>>,
}

impl<'a> Shape<'a> {
    /// Of samples, ascending; nothing of none.
    pub fn of_samples(sorted: &'a [u64]) -> Option<Shape<'a>> {
        Some(Shape {
            count: sorted.len() as u64,
            range_ns: (*sorted.first()?, *sorted.last()?),
            points: curve(sorted),
            below: Some(Box::new(|ns| sorted.partition_point(|&sample| sample < ns) as u64)),
        })
    }

    /// Of a distribution's percentiles.
    pub fn of_distribution(d: &Distribution) -> Option<Shape<'a>> {
        Shape::of_figures(&Figures::of(d))
    }

    /// Of what another tool printed; nothing where that is no more than a mean or a bucket.
    pub fn of_figures(figures: &Figures) -> Option<Shape<'a>> {
        let count = figures.count.unwrap_or(100_000).max(1);
        let known = [
            (0.0, figures.min_ns),
            (nines(0.5), figures.p50_ns),
            (nines(0.1), figures.p90_ns),
            (nines(0.05), figures.p95_ns),
            (nines(0.01), figures.p99_ns),
            (nines(0.001), figures.p99_9_ns),
            (nines(0.0001), figures.p99_99_ns),
            (end(count), figures.max_ns),
        ];
        let known = known.into_iter().filter_map(|(nines, ns)| Some((nines, ns?)));
        let points: Vec<(f64, u64)> = known.collect();
        let (low, high) = (points.iter().map(|p| p.1).min()?, points.iter().map(|p| p.1).max()?);
        let several = points.len() >= 3;
        several.then_some(Shape { count, range_ns: (low, high), points, below: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_percentiles_are_points_and_a_mean_is_no_shape() {
        let sorted: Vec<u64> = (1..=1_000).collect();
        let d = Distribution::of_sorted(&sorted).unwrap();
        let shape = Shape::of_distribution(&d).unwrap();
        let exact = Shape::of_samples(&sorted).unwrap();
        assert_eq!((shape.range_ns, shape.count), (exact.range_ns, exact.count));
        assert!(shape.below.is_none() && exact.below.unwrap()(501) == 500);
        let mean = Figures { mean_ns: Some(5.0), ..Figures::default() };
        assert!(Shape::of_figures(&mean).is_none());
    }
}
