//! The schedule of an open loop: intended starts ascend, and what is due is their exact inverse.

use proptest::prelude::*;

use super::{Rate, Schedule};
use crate::cases::config;

/// Any rate on clocks of 1 MHz to 10 GHz, any number of workers that a plan may have, and small steps
/// at which several pairs share a tick.
fn schedule() -> impl Strategy<Value = Schedule> {
    let rate = (0..=33u32, any::<u64>())
        .prop_map(|(bits, any)| Rate((any >> (63 - bits)).clamp(Rate::LEAST.0, Rate::MOST.0)));
    let of_rate = (rate, 1e6..1e10).prop_map(|(rate, clock)| Schedule::step_of(rate, clock));
    let step = prop_oneof![of_rate, 1..3 * Schedule::STEP_UNIT];
    let workers = prop_oneof![1..=4u64, 1..=10_000u64];
    (0..1u64 << 62, step, workers).prop_map(|(start_tick, step, workers)| Schedule {
        start_tick,
        step,
        workers,
    })
}

/// A schedule and one of its workers.
fn turn() -> impl Strategy<Value = (Schedule, u64)> {
    schedule().prop_flat_map(|schedule| (Just(schedule), 0..schedule.workers))
}

fn pair() -> impl Strategy<Value = u64> {
    prop_oneof![0..20u64, 0..1u64 << 40]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn intended_starts_never_go_back((schedule, worker) in turn(), pair in pair()) {
        let tick = schedule.intended_tick(worker, pair);
        prop_assert!(schedule.start_tick <= tick);
        prop_assert!(tick <= schedule.intended_tick(worker, pair + 1));
        // The run's next pair is the next worker's, or the first one's next.
        let next = if worker + 1 < schedule.workers { (worker + 1, pair) } else { (0, pair + 1) };
        let gap = schedule.intended_tick(next.0, next.1) - tick;
        let step = schedule.step / Schedule::STEP_UNIT;
        prop_assert!(tick > u64::MAX >> 1 || (step..=step + 1).contains(&gap), "{gap} {step}");
    }

    /// The definition: of the worker's pairs, those whose intended start lies before the tick.
    #[test]
    fn due_is_the_number_of_starts_before_the_tick(
        (schedule, worker) in turn(), pair in pair(), by in -2..=2i64, anywhere: u64,
    ) {
        let near = schedule.intended_tick(worker, pair).saturating_add_signed(by);
        for tick in [near, anywhere] {
            let due = schedule.due_before(worker, tick);
            prop_assert!(due == 0 || schedule.intended_tick(worker, due - 1) < tick, "{due} {tick}");
            // What cannot be counted is capped.
            let next = schedule.intended_tick(worker, due);
            prop_assert!(due == u64::MAX || next >= tick, "{due} {tick}");
        }
    }

    /// Pair n is due n / rate after the start.
    #[test]
    fn pairs_within_a_time_are_those_that_are_due(rate in 1..=Rate::MOST.0, ns: u64, shift in 0..64) {
        let ns = ns >> shift;
        let pairs = u128::from(Rate(rate).pairs_within(ns));
        let thousandths = u128::from(ns) * u128::from(rate);
        let due = |pair: u128| pair * 1_000_000_000_000 < thousandths;
        prop_assert!(pairs == 0 || due(pairs - 1));
        prop_assert!(pairs == u128::from(u64::MAX) || !due(pairs));
    }
}
