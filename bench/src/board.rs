//! The board: what parent and child share. The child's workers write it, the parent may read it at
//! any moment, also while a worker hangs.
//!
//! One array of words: a header, one control block per worker, one slot per chain in flight, and one
//! lane of samples per worker. A sample is three words (ticks at start, between write and barrier or
//! 0, end), 24 bytes. All stores are plain moves on the machines we know; only the counts that
//! publish other words are released.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Schedule, Stage};

/// How large a board is; parent and child agree on it before the fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardSize {
    /// At least 1.
    pub workers: u64,
    /// Slots per worker; at least 1.
    pub depth: u64,
    /// Samples per worker; at least 1.
    pub samples_per_worker: u64,
}

const HEADER_WORDS: u64 = 512;
const CONTROL_WORDS: u64 = 16;
const PAGE_WORDS: u64 = 512;
/// Words of one sample.
pub const SAMPLE_WORDS: u64 = 3;

const STOP: usize = 0;
const START_TICK: usize = 8;
const SCHEDULE_STEP: usize = 9;
const MAIN: usize = 16;

/// What a worker does at this moment, besides the pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Activity {
    /// Nothing, or a pair, which has a slot of its own.
    None = 0,
    /// Resolving or looking at the path.
    Look = 1,
    /// Creating a directory or file.
    Create = 2,
    /// Allocating blocks.
    Allocate = 3,
    /// Writing a file that will be overwritten.
    Fill = 4,
    /// Syncing it.
    FillSync = 5,
    /// Removing a file or directory.
    Remove = 6,
    /// Setting up a ring.
    RingSetup = 7,
}

impl Activity {
    const NAMES: [&'static str; 8] =
        ["pair", "statx", "open", "fallocate", "write", "fsync", "unlink", "io_uring_setup"];

    fn name_of(word: u64) -> &'static str {
        Self::NAMES.get(word as usize).copied().unwrap_or("pair")
    }
}

const STAGE: usize = 0;
const ACTIVITY: usize = 1;
const SINCE: usize = 2;
const COUNT: usize = 3;
const READY: usize = 4;
const WARMED: usize = 5;
const WAITS: usize = 6;

impl BoardSize {
    fn slot_words(&self) -> u64 {
        self.depth.next_multiple_of(8)
    }

    fn lane_words(&self) -> u64 {
        (self.samples_per_worker * SAMPLE_WORDS).next_multiple_of(PAGE_WORDS)
    }

    fn control_start(&self, worker: u64) -> u64 {
        HEADER_WORDS + worker * CONTROL_WORDS
    }

    fn slot_start(&self, worker: u64) -> u64 {
        self.control_start(self.workers) + worker * self.slot_words()
    }

    fn lane_start(&self, worker: u64) -> u64 {
        self.slot_start(self.workers).next_multiple_of(PAGE_WORDS) + worker * self.lane_words()
    }

    /// Words of the whole board.
    pub fn words(&self) -> u64 {
        self.lane_start(self.workers)
    }
}

/// See the module. Copies refer to the same words.
#[derive(Clone, Copy, Debug)]
pub struct Board {
    words: &'static [AtomicU64],
    size: BoardSize,
}

/// An operation that has not returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// From 0; the child's own operations count as worker 0's.
    pub worker: u64,
    /// When it began.
    pub stage: Stage,
    /// The call, or `pair`.
    pub operation: &'static str,
    /// Tick right before it began.
    pub since_tick: u64,
}

impl Board {
    /// A board on `words`, which are zero and at least `size.words()` many.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn new(words: &'static [AtomicU64], size: BoardSize) -> Board {
        assert!(words.len() as u64 >= size.words(), "a board of {size:?} needs more words");
        Board { words, size }
    }

    /// Its size.
    pub fn size(&self) -> BoardSize {
        self.size
    }

    /// Asks every worker to stop after the pair at hand.
    pub fn stop(&self) {
        self.words[STOP].store(1, Ordering::Release);
    }

    /// Whether that was asked.
    pub fn is_stopped(&self) -> bool {
        self.words[STOP].load(Ordering::Relaxed) != 0
    }

    pub(crate) fn stop_word(&self) -> &'static AtomicU64 {
        &self.words[STOP]
    }

    pub(crate) fn set_start_tick(&self, tick: u64) {
        self.words[START_TICK].store(tick, Ordering::Release);
    }

    /// The common start of all workers; nothing before it.
    pub fn start_tick(&self) -> Option<u64> {
        Some(self.words[START_TICK].load(Ordering::Acquire)).filter(|&tick| tick != 0)
    }

    pub(crate) fn set_schedule_step(&self, step: u64) {
        self.words[SCHEDULE_STEP].store(step, Ordering::Release);
    }

    /// The intended starts of an open loop, once it has started; nothing for a closed one.
    pub fn schedule(&self) -> Option<Schedule> {
        let step = Some(self.words[SCHEDULE_STEP].load(Ordering::Acquire)).filter(|&s| s != 0)?;
        Some(Schedule { start_tick: self.start_tick()?, step, workers: self.size.workers })
    }

    /// The same word for those who hold no board.
    pub(crate) fn stopper(&self) -> Stopper {
        Stopper(self.stop_word())
    }

    /// The block for what the child does outside its workers.
    pub fn main(&self) -> Control {
        Control { words: &self.words[MAIN..MAIN + CONTROL_WORDS as usize] }
    }

    /// A worker's block.
    pub fn control(&self, worker: u64) -> Control {
        let start = self.size.control_start(worker) as usize;
        Control { words: &self.words[start..start + CONTROL_WORDS as usize] }
    }

    pub(crate) fn slots(&self, worker: u64) -> &'static [AtomicU64] {
        let start = self.size.slot_start(worker) as usize;
        &self.words[start..start + self.size.depth as usize]
    }

    pub(crate) fn lane(&self, worker: u64) -> &'static [AtomicU64] {
        let start = self.size.lane_start(worker) as usize;
        &self.words[start..start + (self.size.samples_per_worker * SAMPLE_WORDS) as usize]
    }

    /// Nothing of `worker` is in flight any more, because its thread is gone.
    pub(crate) fn leave(&self, worker: u64) {
        self.slots(worker).iter().for_each(|slot| slot.store(0, Ordering::Release));
        let control = self.control(worker);
        control.words[SINCE].store(0, Ordering::Release);
        control.enter_stage(Stage::Idle);
    }

    /// Starts of the pairs of `worker` that have not returned.
    pub(crate) fn pairs_in_flight(&self, worker: u64) -> Vec<u64> {
        let ticks = self.slots(worker).iter().map(|slot| slot.load(Ordering::Acquire));
        ticks.filter(|&tick| tick != 0).collect()
    }

    /// Everything that has not returned, workers in order.
    pub fn pending(&self) -> Vec<Pending> {
        let mut pending: Vec<Pending> = self.main().pending(0).into_iter().collect();
        for worker in 0..self.size.workers {
            let control = self.control(worker);
            pending.extend(control.pending(worker));
            let stage = control.stage();
            let begun = self.pairs_in_flight(worker).into_iter();
            pending.extend(begun.map(|since_tick| Pending {
                worker,
                stage,
                operation: "pair",
                since_tick,
            }));
        }
        pending
    }

    /// Completed pairs of all workers so far.
    pub fn pairs(&self) -> u64 {
        (0..self.size.workers).map(|worker| self.control(worker).pairs()).sum()
    }
}

/// Tells whether the run was stopped.
#[derive(Clone, Copy, Debug)]
pub struct Stopper(&'static AtomicU64);

impl Stopper {
    /// Whether it was.
    pub fn is_stopped(self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

/// One worker's control block.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    words: &'static [AtomicU64],
}

impl Control {
    /// Where the worker is.
    pub fn stage(&self) -> Stage {
        Stage::from_word(self.words[STAGE].load(Ordering::Acquire))
    }

    /// Says where the worker is.
    pub fn enter_stage(&self, stage: Stage) {
        self.words[STAGE].store(stage as u64, Ordering::Release);
    }

    /// Marks `operation` as in flight while it runs, so that a hang in it has a name.
    pub fn during<T>(&self, activity: Activity, tick: u64, operation: impl FnOnce() -> T) -> T {
        self.words[ACTIVITY].store(activity as u64, Ordering::Relaxed);
        self.words[SINCE].store(tick, Ordering::Release);
        let result = operation();
        self.words[SINCE].store(0, Ordering::Release);
        result
    }

    fn pending(&self, worker: u64) -> Option<Pending> {
        let since_tick = self.words[SINCE].load(Ordering::Acquire);
        let operation = Activity::name_of(self.words[ACTIVITY].load(Ordering::Relaxed));
        (since_tick != 0).then(|| Pending { worker, stage: self.stage(), operation, since_tick })
    }

    /// Completed, published pairs.
    pub fn pairs(&self) -> u64 {
        self.words[COUNT].load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn publish_pairs(&self, count: u64) {
        self.words[COUNT].store(count, Ordering::Release);
    }

    pub(crate) fn ready_samples(&self) -> u64 {
        self.words[READY].load(Ordering::Acquire)
    }

    pub(crate) fn set_ready_samples(&self, count: u64) {
        self.words[READY].store(count, Ordering::Release);
    }

    /// Completed warm-up pairs.
    pub fn warmed(&self) -> u64 {
        self.words[WARMED].load(Ordering::Relaxed)
    }

    pub(crate) fn set_warmed(&self, count: u64) {
        self.words[WARMED].store(count, Ordering::Relaxed);
    }

    /// Times the worker waited for sample memory.
    pub fn memory_waits(&self) -> u64 {
        self.words[WAITS].load(Ordering::Relaxed)
    }

    pub(crate) fn count_memory_wait(&self) {
        self.words[WAITS].fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(size: BoardSize) -> Board {
        Board::new(synctail_sys::reserve_words(size.words() as usize).unwrap(), size)
    }

    #[test]
    fn regions_do_not_overlap() {
        let size = BoardSize { workers: 3, depth: 5, samples_per_worker: 7 };
        let board = board(size);
        let mut parts: Vec<&[AtomicU64]> = vec![board.main().words];
        for worker in 0..3 {
            parts.extend([board.control(worker).words, board.slots(worker), board.lane(worker)]);
        }
        for part in &parts {
            part.iter().for_each(|word| assert_eq!(word.swap(1, Ordering::Relaxed), 0));
        }
        assert_eq!(board.lane(2).len(), 21);
        assert!(!board.is_stopped());
    }

    #[test]
    fn what_is_in_flight_is_named_with_its_stage() {
        let board = board(BoardSize { workers: 2, depth: 2, samples_per_worker: 1 });
        assert_eq!(board.pending(), []);
        board.control(1).enter_stage(Stage::Measure);
        board.slots(1)[1].store(77, Ordering::Relaxed);
        let pair = Pending { worker: 1, stage: Stage::Measure, operation: "pair", since_tick: 77 };
        assert_eq!(board.pending(), [pair]);
        board.control(0).enter_stage(Stage::Prepare);
        board.control(0).during(Activity::FillSync, 5, || {
            let first = board.pending()[0];
            assert_eq!(
                (first.operation, first.stage, first.since_tick),
                ("fsync", Stage::Prepare, 5)
            );
        });
        assert_eq!(board.pending(), [pair]);
    }
}
