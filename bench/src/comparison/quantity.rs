//! What is compared, and how large a difference must be to matter.

use super::ArmSlice;
use crate::distribution::Percentile;

/// Samples beyond the percentile that a block needs, so that its rank is that of the percentile and not
/// of the block's largest sample.
const BEYOND: u64 = 5;

/// One figure of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Median.
    P50,
    /// 90th percentile.
    P90,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P99_9,
    /// Arithmetic mean.
    Mean,
    /// Wall time per pair: the inverse of the rate, so that above 1 is slower as for the others.
    Rate,
}

impl Quantity {
    /// All of a comparison, in order.
    pub const ALL: [Quantity; 6] =
        [Self::P50, Self::P90, Self::P99, Self::P99_9, Self::Mean, Self::Rate];

    /// Its name in the result.
    pub const fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P99_9 => "p99.9",
            Self::Mean => "mean",
            Self::Rate => "rate",
        }
    }

    /// The smallest relative difference that is called one, unless told otherwise.
    pub const fn effect_floor(self) -> f64 {
        match self {
            Self::P50 | Self::Mean | Self::Rate => 0.03,
            Self::P90 => 0.05,
            Self::P99 => 0.10,
            Self::P99_9 => 0.20,
        }
    }

    const fn percentile(self) -> Option<Percentile> {
        match self {
            Self::P50 => Some(Percentile::P50),
            Self::P90 => Some(Percentile::P90),
            Self::P99 => Some(Percentile::P99),
            Self::P99_9 => Some(Percentile::P99_9),
            Self::Mean | Self::Rate => None,
        }
    }

    /// Pairs that a block of slices must have before it carries this figure.
    pub fn pairs_needed(self) -> u64 {
        self.percentile().map_or(1, |percentile| BEYOND * percentile.samples_needed())
    }

    /// The figure of slices that are pooled; nothing where they do not carry it.
    pub fn of(self, slices: &[&ArmSlice]) -> Option<f64> {
        let count: usize = slices.iter().map(|slice| slice.total_ns.len()).sum();
        if (count as u64) < self.pairs_needed() {
            return None;
        }
        let all = || slices.iter().flat_map(|slice| slice.total_ns.iter().copied());
        let figure = match self.percentile() {
            Some(percentile) => {
                let mut pooled: Vec<u64> = all().collect();
                let index = percentile.index(count as u64) as usize;
                *pooled.select_nth_unstable(index).1 as f64
            }
            None if self == Self::Mean => all().map(u128::from).sum::<u128>() as f64 / count as f64,
            None => slices.iter().map(|slice| slice.wall_ns).sum::<u64>() as f64 / count as f64,
        };
        (figure > 0.0).then_some(figure)
    }
}
