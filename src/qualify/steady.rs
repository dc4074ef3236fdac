//! Steady state after SNIA's Performance Test Specification: five rounds whose figure neither scatters nor
//! drifts. <https://www.snia.org/pts>, "steady state definition".

use serde::{Deserialize, Serialize};

use super::spec::SteadySpec;

/// Rounds that are looked at.
pub const WINDOW: usize = 5;

/// What the last rounds look like.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steadiness {
    /// Rounds that were done.
    pub rounds: u64,
    /// Largest less smallest of the window, in percent of its mean.
    pub range_percent: f64,
    /// What the best straight line rises or falls over the window, in percent of its mean.
    pub slope_percent: f64,
    /// Whether both are within their limits.
    pub reached: bool,
}

/// The last five of `figures`; nothing where there are fewer, or their mean is nothing.
pub fn steadiness(figures: &[u64], spec: &SteadySpec) -> Option<Steadiness> {
    let window: Vec<f64> = figures.iter().rev().take(WINDOW).rev().map(|&ns| ns as f64).collect();
    let mean = window.iter().sum::<f64>() / WINDOW as f64;
    if window.len() < WINDOW || mean <= 0.0 {
        return None;
    }
    let (least, most) = window.iter().fold((f64::MAX, 0.0f64), |(a, b), &x| (a.min(x), b.max(x)));
    // Least squares over x = -2..2: the sum of x squared is 10.
    let slope: f64 = (-2..).zip(&window).map(|(x, y)| f64::from(x) * y).sum::<f64>() / 10.0;
    let range_percent = (most - least) / mean * 100.0;
    let slope_percent = slope.abs() * (WINDOW - 1) as f64 / mean * 100.0;
    let reached = range_percent <= spec.range.0 && slope_percent <= spec.slope.0;
    Some(Steadiness { rounds: figures.len() as u64, range_percent, slope_percent, reached })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qualify::spec::{Otherwise, Percent};

    const SPEC: SteadySpec = SteadySpec {
        rounds_max: 25,
        range: Percent(20.0),
        slope: Percent(10.0),
        otherwise: Otherwise::Fail,
    };

    fn of(figures: &[u64]) -> Option<Steadiness> {
        steadiness(figures, &SPEC)
    }

    #[test]
    fn five_rounds_that_neither_scatter_nor_drift_are_steady() {
        assert_eq!(of(&[100; 4]), None);
        assert_eq!(of(&[0; 5]), None);
        assert!(of(&[100; 5]).unwrap().reached);
        // Only the last five count.
        let after = of(&[900, 500, 100, 101, 99, 100, 100]).unwrap();
        assert!(after.reached && after.rounds == 7);
        let scatter = of(&[100, 121, 100, 80, 100]).unwrap();
        assert!(scatter.range_percent > 20.0 && !scatter.reached);
        // 96 to 108 in even steps: within the range, but it drifts by 12 of 102.
        let drift = of(&[96, 99, 102, 105, 108]).unwrap();
        assert!((drift.slope_percent - 1_200.0 / 102.0).abs() < 1e-9, "{drift:?}");
        assert!(drift.range_percent < 20.0 && !drift.reached);
        let falls = of(&[108, 105, 102, 99, 96]).unwrap();
        assert_eq!(falls.slope_percent, drift.slope_percent);
    }

    #[test]
    fn the_edges_belong_to_steady() {
        let edge = of(&[90, 110, 100, 110, 90]).unwrap();
        assert_eq!((edge.range_percent, edge.slope_percent, edge.reached), (20.0, 0.0, true));
        let edge = of(&[95, 98, 100, 102, 105]).unwrap();
        assert!((edge.slope_percent - 9.6).abs() < 1e-9 && edge.reached);
    }
}
