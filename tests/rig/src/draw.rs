//! Drawn delays. The n-th delay of a kind depends on the seed and on n alone, not on which thread asks
//! first, so that a run can be repeated.

use fastrand::Rng;

use crate::script::{Bimodal, Lognormal};

/// A generator for operation `n` (from 0) of the kind with this number.
pub fn generator(seed: u64, kind: u64, n: u64) -> Rng {
    // Odd constants from splitmix64; neighbouring n must not give neighbouring states.
    let mixed = seed
        .wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_add(kind.wrapping_mul(0xbf58_476d_1ce4_e5b9));
    let mut rng = Rng::with_seed(mixed);
    // The first draw still shows how close two seeds are.
    rng.u64(..);
    rng
}

/// A delay in nanoseconds.
pub fn lognormal_ns(shape: &Lognormal, rng: &mut Rng) -> u64 {
    let ns = shape.median.0 as f64 * (shape.sigma * standard_normal(rng)).exp();
    let most = shape.most.map_or(u64::MAX, |most| most.0);
    (ns as u64).min(most)
}

/// A delay in nanoseconds.
pub fn bimodal_ns(shape: &Bimodal, rng: &mut Rng) -> u64 {
    if rng.f64() < shape.high_share { shape.high.0 } else { shape.low.0 }
}

/// Box and Muller's transform.
fn standard_normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.f64()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Span;

    const DRAWS: u64 = 20_000;

    #[test]
    fn lognormal_has_its_median_and_its_tail() {
        let shape = Lognormal { median: Span(2_000_000), sigma: 0.5, most: None };
        let mut drawn: Vec<u64> =
            (0..DRAWS).map(|n| lognormal_ns(&shape, &mut generator(1, 0, n))).collect();
        drawn.sort_unstable();
        let at = |share: f64| drawn[(DRAWS as f64 * share) as usize] as f64;
        assert!((at(0.5) / 2e6 - 1.0).abs() < 0.02, "median {}", at(0.5));
        // exp(0.5 * 2.326)
        assert!((at(0.99) / at(0.5) / 3.2 - 1.0).abs() < 0.1, "p99 {}", at(0.99));
        let bounded = Lognormal { most: Some(Span(3_000_000)), ..shape };
        assert_eq!(
            (0..DRAWS).map(|n| lognormal_ns(&bounded, &mut generator(1, 0, n))).max(),
            Some(3_000_000)
        );
    }

    #[test]
    fn bimodal_takes_the_high_one_in_its_share() {
        let shape = Bimodal { low: Span(1), high: Span(9), high_share: 0.1 };
        let high = (0..DRAWS).filter(|&n| bimodal_ns(&shape, &mut generator(3, 1, n)) == 9).count();
        assert!((1_800..2_200).contains(&high), "{high} of {DRAWS}");
    }

    #[test]
    fn a_delay_depends_on_seed_kind_and_number_alone() {
        let draw = |seed, kind, n| generator(seed, kind, n).u64(..);
        assert_eq!(draw(1, 2, 3), draw(1, 2, 3));
        let others = [draw(2, 2, 3), draw(1, 3, 3), draw(1, 2, 4)];
        assert!(others.iter().all(|&other| other != draw(1, 2, 3)));
    }
}
