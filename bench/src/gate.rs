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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BoardSize;
    use crate::fake::FakeClock;
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    fn board() -> Board {
        let size = BoardSize { workers: 3, depth: 1, samples_per_worker: 1 };
        Board::new(synctail_sys::reserve_words(size.words() as usize).unwrap(), size)
    }

    /// Starts a worker of the gate whose clock stands at `tick`; it sends what it was told.
    fn arrive(
        gate: &Arc<Gate>,
        board: Board,
        tick: u64,
        told: std::sync::mpsc::Sender<Option<u64>>,
    ) {
        let gate = Arc::clone(gate);
        std::thread::spawn(move || {
            FakeClock::set(tick);
            let _ = told.send(gate.pass(&board, &FakeClock));
        });
    }

    const PATIENCE: Duration = Duration::from_secs(20);
    /// Long enough for a thread that is not held back to show it, most of the time.
    const MOMENT: Duration = Duration::from_millis(20);

    #[test]
    fn the_last_to_arrive_sets_the_start_of_all() {
        let (board, gate) = (board(), Arc::new(Gate::new(3)));
        let (sender, told) = channel();
        arrive(&gate, board, 900, sender.clone());
        arrive(&gate, board, 30, sender.clone());
        assert!(told.recv_timeout(MOMENT).is_err(), "the gate opened before all were there");
        assert_eq!(board.start_tick(), None);
        crate::tests::until("two at the gate", || *gate.arrived.lock().unwrap() == 2);
        arrive(&gate, board, 500, sender);
        for _ in 0..3 {
            assert_eq!(told.recv_timeout(PATIENCE).unwrap(), Some(500));
        }
        assert_eq!(board.start_tick(), Some(500));
    }

    #[test]
    fn a_stop_releases_the_waiting_without_a_start() {
        let (board, gate) = (board(), Arc::new(Gate::new(3)));
        let (sender, told) = channel();
        arrive(&gate, board, 1, sender.clone());
        arrive(&gate, board, 2, sender.clone());
        crate::tests::until("two at the gate", || *gate.arrived.lock().unwrap() == 2);
        board.stop();
        gate.release();
        for _ in 0..2 {
            assert_eq!(told.recv_timeout(PATIENCE).unwrap(), None);
        }
        // One that comes later finds the run stopped, and does not wait either.
        arrive(&gate, board, 3, sender);
        assert_eq!(told.recv_timeout(PATIENCE).unwrap(), None);
    }
}
