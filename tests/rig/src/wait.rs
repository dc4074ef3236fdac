//! Waiting until a moment, to the microsecond.

use nix::time::{ClockId, clock_gettime};

/// A sleep ends up to this late; what is left is spun away.
const SPIN_NS: u64 = 150_000;

/// A clock that one can wait on.
pub trait WaitClock {
    /// Nanoseconds of CLOCK_MONOTONIC.
    fn now_ns(&self) -> u64;
    /// Returns at about `deadline_ns`; false where waiting was given up.
    fn sleep_until(&self, deadline_ns: u64) -> bool;
}

/// CLOCK_MONOTONIC now.
pub fn monotonic_ns() -> u64 {
    // It cannot fail for this clock; 0 would show in every ledger at once.
    let time =
        clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap_or(nix::sys::time::TimeSpec::new(0, 0));
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// Waits until `deadline_ns` or until waiting is given up: most of it asleep, the rest spinning.
pub fn wait_until(clock: &impl WaitClock, deadline_ns: u64) {
    let wake_ns = deadline_ns.saturating_sub(SPIN_NS);
    if clock.now_ns() < wake_ns && !clock.sleep_until(wake_ns) {
        return;
    }
    while clock.now_ns() < deadline_ns {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    /// Each look at the clock takes 10 us, each sleep ends 70 us late.
    #[derive(Default)]
    struct FakeClock {
        now_ns: Cell<u64>,
        sleeps: RefCell<Vec<u64>>,
        gives_up: bool,
    }

    impl WaitClock for FakeClock {
        fn now_ns(&self) -> u64 {
            self.now_ns.replace(self.now_ns.get() + 10_000)
        }

        fn sleep_until(&self, deadline_ns: u64) -> bool {
            self.sleeps.borrow_mut().push(deadline_ns);
            self.now_ns.set(deadline_ns + 70_000);
            !self.gives_up
        }
    }

    #[test]
    fn a_long_wait_sleeps_once_and_spins_the_rest() {
        let clock = FakeClock::default();
        wait_until(&clock, 2_000_000);
        assert_eq!(*clock.sleeps.borrow(), [1_850_000]);
        // One look past the deadline, and no sooner.
        assert_eq!(clock.now_ns.get(), 2_010_000);
    }

    #[test]
    fn a_short_wait_only_spins_and_a_past_one_does_not_even_that() {
        let clock = FakeClock::default();
        wait_until(&clock, 100_000);
        assert!(clock.sleeps.borrow().is_empty());
        assert_eq!(clock.now_ns.get(), 110_000);
        wait_until(&clock, 50_000);
        assert!(clock.now_ns.get() <= 130_000);
    }

    #[test]
    fn a_wait_that_is_given_up_ends_at_once() {
        let clock = FakeClock { gives_up: true, ..FakeClock::default() };
        wait_until(&clock, 60_000_000_000);
        assert!(clock.now_ns.get() < 60_000_000_000);
    }
}
