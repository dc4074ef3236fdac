//! Arms compared over interleaved slices: pure functions of the slices' samples.
//!
//! Two slices that ran side by side met the same state of the disk; their log-ratio is one
//! observation. Samples within a slice are autocorrelated and are never counted as independent.

mod order;
mod quantity;
mod signed_rank;
#[cfg(test)]
mod tests;

pub use order::slice_order;
pub use quantity::Quantity;
pub use signed_rank::SignedRank;

/// Two-sided error over all that is compared together.
const ALPHA: f64 = 0.05;
/// More observations than this are pooled further: the estimate's cost is quadratic.
const BLOCKS_MAX: usize = 400;

/// One arm's share of one round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArmSlice {
    /// Total time of each pair, in the order in which they ran.
    pub total_ns: Vec<u64>,
    /// How long the slice took.
    pub wall_ns: u64,
}

/// What may be said of one figure of arm b against arm a.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// b takes less time, by at least the effect floor.
    Faster,
    /// b takes more time, by at least the effect floor.
    Slower,
    /// Any difference is likely to be below the effect floor.
    NoDifferenceShown,
    /// Too few or too unsteady slices: a difference above the floor is neither shown nor excluded.
    NotResolved,
}

/// One figure of arm b against arm a.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    /// Which figure.
    pub quantity: Quantity,
    /// Pairs of blocks behind it; 0 where the samples carry none.
    pub blocks: usize,
    /// Ratio and interval as logarithms, and the probability before correction; absent below six blocks.
    pub ranks: Option<SignedRank>,
    /// The smallest relative difference that is called one.
    pub effect_floor: f64,
}

impl Contrast {
    /// Contrasts round by round: `a[n]` and `b[n]` are of the same round. `effect_floor` is a fraction.
    pub fn of(quantity: Quantity, a: &[ArmSlice], b: &[ArmSlice], effect_floor: f64) -> Contrast {
        let ratios = log_ratios(quantity, a, b);
        let ranks = SignedRank::of(&ratios);
        Contrast { quantity, blocks: ratios.len(), ranks, effect_floor }
    }

    /// Figure of b divided by that of a; above 1 is slower.
    pub fn ratio(&self) -> Option<f64> {
        self.ranks.map(|ranks| ranks.centre.exp())
    }

    /// 95 % interval of the ratio, of this figure alone.
    pub fn interval(&self) -> Option<[f64; 2]> {
        self.ranks.map(|ranks| ranks.interval.map(f64::exp))
    }

    fn outcome(&self, corrected_p: f64) -> Outcome {
        let Some(ranks) = self.ranks else { return Outcome::NotResolved };
        let floor = self.effect_floor.ln_1p();
        let different = corrected_p < ALPHA;
        if different && ranks.centre >= floor {
            Outcome::Slower
        } else if different && ranks.centre <= -floor {
            Outcome::Faster
        } else if ranks.interval.iter().all(|end| end.abs() < floor) {
            Outcome::NoDifferenceShown
        } else {
            Outcome::NotResolved
        }
    }
}

/// The outcome of each contrast, corrected for all of them together (S. Holm, "A simple sequentially
/// rejective multiple test procedure", 1979). A figure that has no blocks counts as not tested.
pub fn outcomes(contrasts: &[Contrast]) -> Vec<Outcome> {
    let p_of = |contrast: &Contrast| contrast.ranks.map(|ranks| ranks.p_value);
    let mut tested: Vec<(usize, f64)> =
        contrasts.iter().enumerate().filter_map(|(n, c)| Some((n, p_of(c)?))).collect();
    tested.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
    let mut corrected = vec![1.0; contrasts.len()];
    let mut largest: f64 = 0.0;
    for (step, &(which, p)) in tested.iter().enumerate() {
        largest = largest.max(p * (tested.len() - step) as f64).min(1.0);
        corrected[which] = largest;
    }
    contrasts.iter().zip(corrected).map(|(contrast, p)| contrast.outcome(p)).collect()
}

/// Log-ratio of each block: adjacent rounds pooled until both arms carry the figure. What is left at
/// the end and does not carry it is not used.
fn log_ratios(quantity: Quantity, a: &[ArmSlice], b: &[ArmSlice]) -> Vec<f64> {
    let rounds_min = a.len().min(b.len()).div_ceil(BLOCKS_MAX);
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    let mut ratios = Vec::new();
    for (slice_a, slice_b) in a.iter().zip(b) {
        of_a.push(slice_a);
        of_b.push(slice_b);
        if of_a.len() < rounds_min {
            continue;
        }
        if let (Some(figure_a), Some(figure_b)) = (quantity.of(&of_a), quantity.of(&of_b)) {
            ratios.push((figure_b / figure_a).ln());
            of_a.clear();
            of_b.clear();
        }
    }
    ratios
}
