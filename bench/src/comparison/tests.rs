//! The bars of a comparison, on simulated runs whose drift, autocorrelation and tail are those of ext4
//! on a quiet virtio disk: p50 drifts by some per cent within seconds, neighbours are correlated.

use super::{ArmSlice, Contrast, Outcome, Quantity, outcomes, slice_order};

const ROUNDS: usize = 20;
const PAIRS: usize = 800;

/// Four seconds or so: the level walks from slice to slice, the noise within is AR(1), and
/// some four pairs in a hundred are slow, in bursts.
struct Disk {
    random: fastrand::Rng,
    level: f64,
    noise: f64,
    burst: usize,
}

impl Disk {
    fn normal(&mut self) -> f64 {
        3.0_f64.sqrt() * ((0..4).map(|_| self.random.f64()).sum::<f64>() - 2.0)
    }

    fn slice(&mut self, body: f64, tail: f64) -> ArmSlice {
        self.level = 0.95 * self.level + 0.015 * self.normal();
        let total_ns: Vec<u64> = (0..PAIRS).map(|_| self.pair_ns(body, tail) as u64).collect();
        let wall_ns = total_ns.iter().sum();
        ArmSlice { total_ns, wall_ns }
    }

    fn pair_ns(&mut self, body: f64, tail: f64) -> f64 {
        let innovation = self.normal();
        self.noise = 0.7 * self.noise + 0.06 * innovation;
        if self.burst == 0 && self.random.f64() < 0.02 {
            self.burst = self.random.usize(1..4);
        }
        let slow = if self.burst > 0 {
            self.burst -= 1;
            (1.6 + 0.3 * self.random.f64()) * tail
        } else {
            1.0
        };
        120_000.0 * body * slow * (self.level + self.noise).exp()
    }
}

/// Outcomes of all quantities, b's times multiplied.
fn run(seed: u64, body: f64, tail: f64) -> Vec<Outcome> {
    let random = fastrand::Rng::with_seed(seed);
    let mut disk = Disk { random, level: 0.0, noise: 0.0, burst: 0 };
    let mut arms = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        for arm in slice_order(2, round) {
            let factors = if arm == 1 { (body, tail) } else { (1.0, 1.0) };
            arms[arm].push(disk.slice(factors.0, factors.1));
        }
    }
    let [a, b] = &arms;
    outcomes(&Quantity::ALL.map(|q| Contrast::of(q, a, b, q.effect_floor())))
}

fn at(quantity: Quantity) -> usize {
    Quantity::ALL.iter().position(|q| *q == quantity).unwrap()
}

fn different(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Faster | Outcome::Slower)
}

#[test]
fn an_arm_against_itself_is_called_different_in_at_most_one_run_of_twenty() {
    let wrong: Vec<u64> =
        (0..200).filter(|seed| run(*seed, 1.0, 1.0).iter().any(different)).collect();
    assert!(wrong.len() <= 10, "seeds {wrong:?}");
}

#[test]
fn five_per_cent_of_the_median_are_found_and_never_with_the_wrong_sign() {
    let runs: Vec<Vec<Outcome>> = (1_000..1_020).map(|seed| run(seed, 1.05, 1.0)).collect();
    let found = runs.iter().filter(|run| run[at(Quantity::P50)] == Outcome::Slower).count();
    assert!(found >= 18, "{found} of 20 from seed 1000: {runs:?}");
    assert!(runs.iter().flatten().all(|outcome| *outcome != Outcome::Faster), "{runs:?}");
}

#[test]
fn a_fifth_of_p99_is_found_and_never_with_the_wrong_sign() {
    for (tail, right, wrong) in
        [(1.2, Outcome::Slower, Outcome::Faster), (1.0 / 1.2, Outcome::Faster, Outcome::Slower)]
    {
        let runs: Vec<Vec<Outcome>> = (2_000..2_020).map(|seed| run(seed, 1.0, tail)).collect();
        let found = runs.iter().filter(|run| run[at(Quantity::P99)] == right).count();
        assert!(found >= 18, "{found} of 20 from seed 2000: {runs:?}");
        assert!(runs.iter().flatten().all(|outcome| *outcome != wrong), "{runs:?}");
    }
}

#[test]
fn what_a_run_cannot_carry_is_not_resolved() {
    // 20 slices of 800 pairs make two or three blocks of 5,000 for p99.9.
    assert_eq!(run(1, 1.0, 5.0)[at(Quantity::P99_9)], Outcome::NotResolved);
    let none = Contrast::of(Quantity::P50, &[], &[], 0.03);
    assert_eq!((none.blocks, none.ratio(), outcomes(&[none])[0]), (0, None, Outcome::NotResolved));
}

#[test]
fn a_difference_below_the_floor_is_not_called_one() {
    let slices = |ns: u64| vec![ArmSlice { total_ns: vec![ns; 20], wall_ns: 20 * ns }; 20];
    let contrast = Contrast::of(Quantity::P50, &slices(10_000), &slices(10_200), 0.03);
    assert!((contrast.ratio().unwrap() - 1.02).abs() < 1e-9);
    assert_eq!(outcomes(&[contrast]), [Outcome::NoDifferenceShown]);
}

#[test]
fn many_comparisons_are_corrected_for() {
    // One of 20 runs reaches 5 % by chance; among 20 figures the same ranks show nothing.
    let ranks = super::SignedRank { centre: 0.1, interval: [0.01, 0.2], p_value: 0.01 };
    let one = |p_value| Contrast {
        quantity: Quantity::P50,
        blocks: 20,
        ranks: Some(super::SignedRank { p_value, ..ranks }),
        effect_floor: 0.03,
    };
    assert_eq!(outcomes(&[one(0.01)]), [Outcome::Slower]);
    let mut many = vec![one(0.5); 19];
    many.push(one(0.01));
    assert_eq!(outcomes(&many)[19], Outcome::NotResolved);
}
