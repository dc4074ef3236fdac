//! The gate: every worker warms up, then all start together.

use std::sync::{Condvar, Mutex, PoisonError};

use synctail_sys::Clock;

use crate::Board;

/// Opens when all workers have arrived, or when the run is stopped.
#[derive(Debug)]
pub struct Gate {
    expected: u64,
    arrived: Mutex<u64>,
    changed: Condvar,
}

impl Gate {
    /// For so many workers.
    pub fn new(expected: u64) -> Gate {
        Gate { expected, arrived: Mutex::new(0), changed: Condvar::new() }
    }

    /// Waits for the others; the tick of the common start, or nothing if the run was stopped before.
    pub fn pass(&self, board: &Board, clock: &impl Clock) -> Option<u64> {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        *arrived += 1;
        if *arrived == self.expected {
            board.set_start_tick(clock.ticks());
            self.changed.notify_all();
        }
        while *arrived < self.expected && !board.is_stopped() {
            arrived = self.changed.wait(arrived).unwrap_or_else(PoisonError::into_inner);
        }
        (!board.is_stopped()).then(|| board.start_tick()).flatten()
    }

    /// Wakes the waiting after the run was stopped.
    pub fn release(&self) {
        // Taking the lock keeps the wake-up from falling between a waiter's look and its wait.
        let _arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        self.changed.notify_all();
    }
}
