//! Time that belongs to a thread and moves only when it is told to.

use std::cell::Cell;

use synctail_sys::Clock;

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(FakeClock::EPOCH) };
}

/// A clock of one tick a nanosecond. Each thread has its own time, which starts at
/// [`FakeClock::EPOCH`], so that workers cannot disturb each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakeClock;

impl FakeClock {
    /// The first tick of every thread; not 0, which means "nothing" on the board.
    pub const EPOCH: u64 = 1_000;

    /// The calling thread's time.
    pub fn now() -> u64 {
        NOW.get()
    }

    /// Sets it, backwards too.
    pub fn set(tick: u64) {
        NOW.set(tick);
    }

    /// Moves it forward.
    pub fn advance(ns: u64) {
        NOW.set(NOW.get() + ns);
    }

    /// Moves it forward to `tick`, unless it is later already.
    pub fn advance_to(tick: u64) {
        NOW.set(NOW.get().max(tick));
    }
}

impl Clock for FakeClock {
    fn ticks(&self) -> u64 {
        FakeClock::now()
    }

    fn nominal_ticks_per_s(&self) -> f64 {
        1e9
    }

    fn source(&self) -> &'static str {
        "fake"
    }

    fn rest(&self, ticks: u64) {
        FakeClock::advance(ticks);
    }
}
