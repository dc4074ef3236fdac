//! Where a loop's ticks go: a worker's lane of sample memory, or nowhere (warm-up).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::board::SAMPLE_WORDS;
use crate::{Board, Cause, Control, Fault};

/// Takes the ticks of each pair.
pub trait Sink {
    /// Whether there is room for one more pair that is not begun yet.
    fn has_room(&mut self) -> bool;

    /// A pair begins in `slot`. The only thing besides the operation between the first clock read and
    /// the write: one store to the worker's own cache line, so that a hang is seen with its start.
    fn begin(&mut self, slot: u32, start: u64);

    /// The pair that began in `slot` is complete; `middle` is 0 where the arm has none.
    fn commit(&mut self, slot: u32, start: u64, middle: u64, end: u64) -> Result<(), Fault>;

    /// The pair that began in `slot` does not count.
    fn abandon(&mut self, slot: u32);
}

/// Refuses a pair whose clock reads do not ascend.
#[inline]
fn check_order(start: u64, middle: u64, end: u64) -> Result<(), Fault> {
    let middle = if middle == 0 { start } else { middle };
    if start <= middle && middle <= end {
        return Ok(());
    }
    let back = start.saturating_sub(middle).max(middle.saturating_sub(end));
    Err(Fault::of("clock", Cause::ClockBackwards(back)))
}

/// A worker's samples, in memory that is touched before it is used.
#[derive(Debug)]
pub struct Lane {
    words: &'static [AtomicU64],
    slots: &'static [AtomicU64],
    stop: &'static AtomicU64,
    control: Control,
    begun: u64,
    count: u64,
    ready: u64,
}

impl Lane {
    /// The lane of `worker`, from its first sample on.
    pub fn new(board: &Board, worker: u64) -> Lane {
        let control = board.control(worker);
        Lane {
            words: board.lane(worker),
            slots: board.slots(worker),
            stop: board.stop_word(),
            control,
            begun: 0,
            count: 0,
            ready: control.ready_samples(),
        }
    }

    fn capacity(&self) -> u64 {
        self.words.len() as u64 / SAMPLE_WORDS
    }

    /// Whether the lane is full: the run has to end.
    pub fn is_full(&self) -> bool {
        self.begun >= self.capacity()
    }

    /// Waits, outside the timed region, until the preparing thread has touched more memory.
    #[cold]
    fn wait_for_memory(&mut self) -> bool {
        if self.is_full() {
            return false;
        }
        self.ready = self.control.ready_samples();
        if self.begun < self.ready {
            return true;
        }
        self.control.count_memory_wait();
        while self.begun >= self.ready && self.stop.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_micros(50));
            self.ready = self.control.ready_samples();
        }
        self.begun < self.ready
    }
}

impl Sink for Lane {
    #[inline]
    fn has_room(&mut self) -> bool {
        self.begun < self.ready || self.wait_for_memory()
    }

    #[inline]
    fn begin(&mut self, slot: u32, start: u64) {
        self.slots[slot as usize].store(start, Ordering::Relaxed);
        self.begun += 1;
    }

    #[inline]
    fn commit(&mut self, slot: u32, start: u64, middle: u64, end: u64) -> Result<(), Fault> {
        self.slots[slot as usize].store(0, Ordering::Relaxed);
        check_order(start, middle, end)?;
        let at = (self.count * SAMPLE_WORDS) as usize;
        for (word, tick) in self.words[at..at + 3].iter().zip([start, middle, end]) {
            word.store(tick, Ordering::Relaxed);
        }
        self.count += 1;
        self.control.publish_pairs(self.count);
        Ok(())
    }

    fn abandon(&mut self, slot: u32) {
        self.slots[slot as usize].store(0, Ordering::Relaxed);
        self.begun -= 1;
    }
}

/// Counts warm-up pairs and keeps none of them; a hang among them is seen as well.
#[derive(Debug)]
pub struct WarmUp {
    slots: &'static [AtomicU64],
    control: Control,
    count: u64,
}

impl WarmUp {
    /// The warm-up of `worker`.
    pub fn new(board: &Board, worker: u64) -> WarmUp {
        WarmUp { slots: board.slots(worker), control: board.control(worker), count: 0 }
    }
}

impl Sink for WarmUp {
    fn has_room(&mut self) -> bool {
        true
    }

    fn begin(&mut self, slot: u32, start: u64) {
        self.slots[slot as usize].store(start, Ordering::Relaxed);
    }

    fn commit(&mut self, slot: u32, start: u64, middle: u64, end: u64) -> Result<(), Fault> {
        self.slots[slot as usize].store(0, Ordering::Relaxed);
        check_order(start, middle, end)?;
        self.count += 1;
        self.control.set_warmed(self.count);
        Ok(())
    }

    fn abandon(&mut self, slot: u32) {
        self.slots[slot as usize].store(0, Ordering::Relaxed);
    }
}

/// Touches the memory of the next samples of every lane before its worker gets there. Touching in the
/// loop would add a page fault to every 170th sample.
#[derive(Debug)]
pub struct MemoryPreparer {
    board: Board,
    chunk: u64,
}

impl MemoryPreparer {
    /// All lanes together are kept ahead by this much.
    const AHEAD_BYTES: u64 = 64 << 20;
    const CHUNK_MAX: u64 = 1 << 16;

    /// For the lanes of `board`.
    pub fn new(board: Board) -> MemoryPreparer {
        let per_worker = Self::AHEAD_BYTES / (SAMPLE_WORDS * 8) / board.size().workers;
        MemoryPreparer { board, chunk: per_worker.clamp(512, Self::CHUNK_MAX) }
    }

    /// Brings every lane at least one chunk ahead of its worker; whether any will need more later.
    pub fn advance(&self) -> bool {
        let mut more = false;
        for worker in 0..self.board.size().workers {
            let control = self.board.control(worker);
            let ready = control.ready_samples();
            let wanted =
                (control.pairs() + 2 * self.chunk).min(self.board.size().samples_per_worker);
            // Whole chunks, so that a lane is not touched page by page.
            if wanted >= ready + self.chunk || wanted == self.board.size().samples_per_worker {
                self.touch(worker, ready, wanted);
                control.set_ready_samples(wanted.max(ready));
            }
            more |= control.ready_samples() < self.board.size().samples_per_worker;
        }
        more
    }

    fn touch(&self, worker: u64, from: u64, to: u64) {
        let lane = self.board.lane(worker);
        let words = (from * SAMPLE_WORDS) as usize..(to.max(from) * SAMPLE_WORDS) as usize;
        // Every word is zero until its sample is taken, so storing zero changes nothing but the page.
        lane[words].iter().step_by(64).for_each(|word| word.store(0, Ordering::Relaxed));
    }
}
