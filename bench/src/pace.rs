//! When pairs may begin: right after each other (closed loop), or at moments fixed beforehand (open
//! loop), so that a stall cannot keep the measurement from seeing the queue behind it.

use std::fmt;
use std::ops::ControlFlow::{self, Break, Continue};

use serde::{Deserialize, Serialize};
use synctail_sys::Clock;

use crate::loops::{Bounds, Ended};

/// Pairs of the whole run per thousand seconds; [`Rate::LEAST`] to [`Rate::MOST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rate(pub u64);

impl Rate {
    /// One pair in a thousand seconds.
    pub const LEAST: Rate = Rate(1);
    /// Ten million pairs a second.
    pub const MOST: Rate = Rate(10_000_000_000);

    /// Pairs per second.
    pub fn per_s(self) -> f64 {
        self.0 as f64 / 1_000.0
    }

    /// Pairs that are due within `ns` from the start on, the one at the start included.
    pub fn pairs_within(self, ns: u64) -> u64 {
        let thousandths = u128::from(ns) * u128::from(self.0);
        u64::try_from(thousandths.div_ceil(1_000_000_000_000)).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.per_s())
    }
}

/// The intended starts of a run. Workers take turns: pair `k` of worker `w` of `n` is the run's pair
/// `k * n + w`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The common start.
    pub start_tick: u64,
    /// Ticks from one pair of the run to the next, times [`Schedule::STEP_UNIT`]; at least 1.
    pub step: u64,
    /// Workers that take turns.
    pub workers: u64,
}

impl Schedule {
    /// Fractions of a tick that a step is given in: at ten million pairs a second of a 2 GHz counter
    /// the rounding of a step is below 10^-7.
    pub const STEP_UNIT: u64 = 1 << 16;

    /// The step of `rate` on a clock of so many ticks a second.
    pub fn step_of(rate: Rate, ticks_per_s: f64) -> u64 {
        let step = ticks_per_s / rate.per_s() * Self::STEP_UNIT as f64;
        (step as u64).max(1)
    }

    /// When the `pair`-th pair of `worker` was to begin, both from 0.
    #[inline]
    pub fn intended_tick(&self, worker: u64, pair: u64) -> u64 {
        let number = u128::from(pair) * u128::from(self.workers) + u128::from(worker);
        let ticks = number * u128::from(self.step) / u128::from(Self::STEP_UNIT);
        self.start_tick.saturating_add(u64::try_from(ticks).unwrap_or(u64::MAX))
    }

    /// How many pairs of `worker` were to begin before `tick`.
    pub fn due_before(&self, worker: u64, tick: u64) -> u64 {
        let unit = u128::from(Self::STEP_UNIT);
        let since = u128::from(tick.saturating_sub(self.start_tick));
        // The run's pair n is due before the tick while n * step / unit, rounded down, is below it.
        let of_run = (since * unit).div_ceil(u128::from(self.step));
        let own = of_run.saturating_sub(u128::from(worker)).div_ceil(u128::from(self.workers));
        u64::try_from(own).unwrap_or(u64::MAX)
    }
}

/// Says when the next pair of a worker may begin.
pub trait Pace {
    /// Ticks until then, seen at `now`; 0 where it may.
    fn early(&self, now: u64) -> u64;

    /// A pair begins.
    fn advance(&mut self);
}

/// Whenever the one before is complete.
#[derive(Clone, Copy, Debug)]
pub struct Closed;

impl Pace for Closed {
    #[inline(always)]
    fn early(&self, _now: u64) -> u64 {
        0
    }

    #[inline(always)]
    fn advance(&mut self) {}
}

/// When the schedule says so, or at once where that moment has passed.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    schedule: Schedule,
    worker: u64,
    begun: u64,
    next_tick: u64,
}

impl Open {
    /// From the first pair of `worker` on.
    pub fn new(schedule: Schedule, worker: u64) -> Open {
        let next_tick = schedule.intended_tick(worker, 0);
        Open { schedule, worker, begun: 0, next_tick }
    }
}

impl Pace for Open {
    #[inline]
    fn early(&self, now: u64) -> u64 {
        self.next_tick.saturating_sub(now)
    }

    #[inline]
    fn advance(&mut self) {
        self.begun += 1;
        self.next_tick = self.schedule.intended_tick(self.worker, self.begun);
    }
}

/// Waits, outside the timed region, until the next pair is due, or the run is stopped.
/// At once in a closed loop.
#[inline(always)]
pub(crate) fn wait<C: Clock, P: Pace>(clock: &C, pace: &P, bounds: &Bounds) -> ControlFlow<Ended> {
    // A closed loop is never early, so that nothing of this remains in it.
    while pace.early(0) > 0 {
        let ticks = pace.early(clock.ticks());
        if ticks == 0 {
            break;
        }
        if bounds.is_stopped() {
            return Break(Ended::Bound);
        }
        clock.rest(ticks);
    }
    Continue(())
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(rate: Rate, workers: u64) -> Schedule {
        Schedule { start_tick: 1_000, step: Schedule::step_of(rate, 1e9), workers }
    }

    #[test]
    fn workers_take_turns() {
        let schedule = schedule(Rate(100_000), 4);
        let ticks: Vec<u64> = (0..2)
            .flat_map(|k| (0..4).map(move |w| (w, k)))
            .map(|(w, k)| schedule.intended_tick(w, k))
            .collect();
        let expected: Vec<u64> = (0..8).map(|n| 1_000 + n * 10_000_000).collect();
        assert_eq!(ticks, expected);
    }

    #[test]
    fn what_is_due_is_what_was_intended_before() {
        for (rate, workers) in [(Rate(3_333), 1), (Rate(100_000), 3), (Rate(7_777_777), 5)] {
            let schedule = schedule(rate, workers);
            for worker in 0..workers {
                for pair in [0, 1, 2, 17, 4_096] {
                    let tick = schedule.intended_tick(worker, pair);
                    assert_eq!(schedule.due_before(worker, tick), pair, "{rate} {worker} {pair}");
                    assert_eq!(schedule.due_before(worker, tick + 1), pair + 1, "{rate} {worker}");
                }
            }
            assert_eq!(schedule.due_before(0, 0), 0);
        }
    }

    #[test]
    fn rounding_does_not_add_up() {
        let rate = Rate(3_000);
        let schedule = schedule(rate, 1);
        let hour = schedule.intended_tick(0, 3 * 3_600) - 1_000;
        assert!(hour.abs_diff(3_600_000_000_000) < 1_000, "{hour}");
        assert_eq!(rate.pairs_within(10_000_000_000), 30);
        assert_eq!(rate.pairs_within(1), 1);
        assert_eq!(Rate(1).pairs_within(1_500_000_000_000), 2);
    }
}
