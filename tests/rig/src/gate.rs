//! What holds operations back, and lets them go.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::script::Hang;
use crate::wait::{WaitClock, monotonic_ns};

/// Hangs wait here for their release, delays for their time or for the end of the file system.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Everything that hangs when this grows goes on.
    releases: u64,
    shut_down: bool,
}

impl Gate {
    /// Lets everything go on that hangs now.
    pub fn release(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).releases += 1;
        self.changed.notify_all();
    }

    /// Ends all hangs and delays, those to come as well.
    pub fn shut_down(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).shut_down = true;
        self.changed.notify_all();
    }

    /// Waits as long as `hang` says.
    pub fn hang(&self, hang: Hang) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let before = state.releases;
        let held = |state: &mut State| state.releases == before && !state.shut_down;
        match hang {
            Hang::UntilReleased => drop(self.changed.wait_while(state, held)),
            Hang::For(span) => {
                drop(self.changed.wait_timeout_while(state, span.duration(), held));
            }
        }
    }
}

impl WaitClock for Gate {
    fn now_ns(&self) -> u64 {
        monotonic_ns()
    }

    fn sleep_until(&self, deadline_ns: u64) -> bool {
        let left = Duration::from_nanos(deadline_ns.saturating_sub(monotonic_ns()));
        let until = Instant::now() + left;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.shut_down {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Span;
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    const PATIENCE: Duration = Duration::from_secs(20);

    #[test]
    fn a_release_frees_what_hangs_and_a_time_ends_by_itself() {
        let gate = Arc::new(Gate::default());
        let (sender, freed) = channel();
        let waiting = Arc::clone(&gate);
        let thread = std::thread::spawn(move || {
            waiting.hang(Hang::UntilReleased);
            let _ = sender.send(());
        });
        assert!(freed.recv_timeout(Duration::from_millis(20)).is_err(), "it did not hang");
        gate.release();
        freed.recv_timeout(PATIENCE).unwrap();
        thread.join().unwrap();
        gate.hang(Hang::For(Span(1_000_000)));
    }

    #[test]
    fn a_shut_down_ends_hangs_and_delays_for_good() {
        let gate = Gate::default();
        gate.shut_down();
        gate.hang(Hang::UntilReleased);
        assert!(!gate.sleep_until(monotonic_ns() + 60_000_000_000));
    }
}
