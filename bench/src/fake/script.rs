//! What a script says of one pair, and the means to make a call hang.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use synctail_sys::{CallResult, Completion};

use super::{BLOCK_BYTES, FakeClock};

/// Which pair a script is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Whose.
    pub worker: u64,
    /// From 0 in order of submission; the first measured pair is 0 again.
    pub index: u64,
    /// Whether it is discarded.
    pub is_warmup: bool,
}

/// What becomes of one pair.
#[derive(Clone, Debug)]
pub struct Step {
    /// How long the write takes.
    pub write_ns: u64,
    /// What it returns.
    pub write: CallResult,
    /// How long the barrier takes after that; unused where the write is the whole pair.
    pub barrier_ns: u64,
    /// What it returns, if the write was full or the barrier is a call of its own.
    pub barrier: CallResult,
    /// The clock runs back by so much as the write begins.
    pub clock_back_ns: u64,
    /// The pair's last call (ring: the wait for its last completion) hangs.
    pub hold: Option<Hold>,
    /// Ring: a signal so long after the submission ends the wait with what is there.
    pub interrupt_ns: Option<u64>,
    /// Ring: a completion nobody asked for, at the moment of the write's.
    pub stray: Option<Completion>,
    /// Ring: what io_uring_enter returns; an error submits nothing.
    pub enter: CallResult,
}

impl Step {
    /// A pair that succeeds.
    pub fn new(write_ns: u64, barrier_ns: u64) -> Step {
        Step {
            write_ns,
            write: CallResult(BLOCK_BYTES as i32),
            barrier_ns,
            barrier: CallResult(0),
            clock_back_ns: 0,
            hold: None,
            interrupt_ns: None,
            stray: None,
            enter: CallResult(0),
        }
    }

    pub(super) fn turn_clock_back(&self) {
        FakeClock::set(FakeClock::now() - self.clock_back_ns);
    }

    pub(super) fn hang(&self) {
        if let Some(hold) = &self.hold {
            hold.block();
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    NotReached,
    Blocked,
    Released,
}

/// A call that hangs until the test lets it go. Copies are the same hold.
#[derive(Clone, Debug)]
pub struct Hold(Arc<(Mutex<Held>, Condvar)>);

/// Far longer than any test needs: a hold that is forgotten fails its test instead of the whole suite.
const PATIENCE: Duration = Duration::from_secs(20);

impl Default for Hold {
    fn default() -> Hold {
        Hold(Arc::new((Mutex::new(Held::NotReached), Condvar::new())))
    }
}

impl Hold {
    fn change(&self, from: Held, to: Held) {
        let mut held = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *held == from {
            *held = to;
        }
        self.0.1.notify_all();
    }

    fn wait_while(&self, state: Held, what: &str) {
        let held = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.1.wait_timeout_while(held, PATIENCE, |held| *held == state);
        let (held, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(held);
        assert!(!timeout.timed_out(), "{what} for {PATIENCE:?}");
    }

    /// Hangs the calling thread until the release; does nothing after it.
    pub(super) fn block(&self) {
        self.change(Held::NotReached, Held::Blocked);
        self.wait_while(Held::Blocked, "a held call was not released");
    }

    /// Waits until a device hangs here.
    ///
    /// # Panics
    /// If none does for 20 s.
    pub fn wait_until_reached(&self) {
        self.wait_while(Held::NotReached, "no device reached the held call");
    }

    /// Lets the call return.
    pub fn release(&self) {
        self.change(Held::NotReached, Held::Released);
        self.change(Held::Blocked, Held::Released);
    }
}
