//! What all neighbours of one load did, counted as it happens.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::record::LoadReport;

/// Counters that neighbours share, and the word to stop.
#[derive(Debug)]
pub struct Tally {
    began: Instant,
    stopping: AtomicBool,
    /// Held only to be woken by the word to stop; the word itself is read without a lock.
    resting: Mutex<()>,
    stopped: Condvar,
    bytes_written: AtomicU64,
    bytes_read: AtomicU64,
    writes: AtomicU64,
    reads: AtomicU64,
    fsyncs: AtomicU64,
    files_made: AtomicU64,
    failures: Mutex<Vec<String>>,
}

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

impl Tally {
    /// Nothing yet.
    pub fn start() -> Tally {
        let zero = AtomicU64::default;
        Tally {
            began: Instant::now(),
            stopping: AtomicBool::new(false),
            resting: Mutex::default(),
            stopped: Condvar::new(),
            bytes_written: zero(),
            bytes_read: zero(),
            writes: zero(),
            reads: zero(),
            fsyncs: zero(),
            files_made: zero(),
            failures: Mutex::default(),
        }
    }

    /// One write of so many bytes returned.
    pub fn wrote(&self, bytes: usize) {
        add(&self.bytes_written, bytes as u64);
        add(&self.writes, 1);
    }

    /// One read of so many bytes returned.
    pub fn read(&self, bytes: usize) {
        add(&self.bytes_read, bytes as u64);
        add(&self.reads, 1);
    }

    /// One flush returned.
    pub fn synced(&self) {
        add(&self.fsyncs, 1);
    }

    /// One file has its final name.
    pub fn made_file(&self) {
        add(&self.files_made, 1);
    }

    /// One neighbour ends early.
    pub fn failed(&self, why: String) {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).push(why);
    }

    /// Every neighbour ends after what it is doing.
    pub fn stop(&self) {
        let _resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        self.stopping.store(true, Ordering::Relaxed);
        self.stopped.notify_all();
    }

    /// Whether to end.
    pub fn stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Waits for the word to stop, but not longer than `at_most`.
    pub fn rest(&self, at_most: Duration) {
        let resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        // A poisoned lock guards nothing: the rest is over all the same.
        drop(self.stopped.wait_timeout_while(resting, at_most, |()| !self.stopping()));
    }

    /// Waits for the word to stop.
    pub fn rest_until_stopped(&self) {
        let resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.stopped.wait_while(resting, |()| !self.stopping()));
    }

    /// All that was done since the start.
    pub fn report(&self) -> LoadReport {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LoadReport {
            interval_ns: self.began.elapsed().as_nanos() as u64,
            bytes_written: of(&self.bytes_written),
            bytes_read: of(&self.bytes_read),
            writes: of(&self.writes),
            reads: of(&self.reads),
            fsyncs: of(&self.fsyncs),
            files_made: of(&self.files_made),
            failures: self.failures.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// What was done between two reports of one load.
pub fn between(before: &LoadReport, after: &LoadReport) -> LoadReport {
    LoadReport {
        interval_ns: after.interval_ns.saturating_sub(before.interval_ns),
        bytes_written: after.bytes_written.saturating_sub(before.bytes_written),
        bytes_read: after.bytes_read.saturating_sub(before.bytes_read),
        writes: after.writes.saturating_sub(before.writes),
        reads: after.reads.saturating_sub(before.reads),
        fsyncs: after.fsyncs.saturating_sub(before.fsyncs),
        files_made: after.files_made.saturating_sub(before.files_made),
        failures: after.failures.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn the_word_to_stop_ends_every_rest_and_no_rest_outlasts_its_bound() {
        // Whether a rest has begun when the word comes is the scheduler's choice: of so many some have.
        for _ in 0..500 {
            let (tally, all) = (Tally::start(), Barrier::new(3));
            tally.rest(Duration::from_nanos(1));
            assert!(!tally.stopping());
            std::thread::scope(|scope| {
                let begin = |rest: fn(&Tally)| {
                    let (tally, all) = (&tally, &all);
                    scope.spawn(move || {
                        all.wait();
                        rest(tally);
                    });
                };
                begin(|tally| tally.rest(Duration::MAX));
                begin(Tally::rest_until_stopped);
                all.wait();
                tally.stop();
            });
        }
    }

    #[test]
    fn what_was_done_before_the_run_is_none_of_its_load() {
        let tally = Tally::start();
        tally.wrote(100);
        tally.synced();
        let before = tally.report();
        tally.wrote(7);
        tally.read(3);
        tally.made_file();
        tally.failed("why".to_owned());
        let during = between(&before, &tally.report());
        let counts = (during.bytes_written, during.writes, during.bytes_read, during.reads);
        assert_eq!(counts, (7, 1, 3, 1));
        assert_eq!((during.fsyncs, during.files_made), (0, 1));
        assert_eq!(during.failures, ["why"]);
    }
}
