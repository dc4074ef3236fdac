//! One pair's ticks, and their conversion to nanoseconds after the run.

use std::sync::atomic::Ordering;

use synctail_sys::Scale;

use crate::{Arm, Board};

/// Ticks of one completed pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Right before the write.
    pub start: u64,
    /// Between write and barrier; nothing where the arm has no such moment.
    pub middle: Option<u64>,
    /// Right after the barrier.
    pub end: u64,
}

/// A part of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairPart {
    /// The write alone.
    Write,
    /// The barrier alone.
    Barrier,
    /// The pair.
    Total,
}

impl Sample {
    /// Nanoseconds of a part; nothing where it was not timed.
    pub fn part_ns(&self, part: PairPart, arm: Arm, scale: &Scale) -> Option<u64> {
        let ticks = match part {
            PairPart::Total => self.end - self.start,
            PairPart::Barrier => self.end - self.middle?,
            // Without any barrier the write is the whole pair.
            PairPart::Write if arm.has_own_write() => self.middle.unwrap_or(self.end) - self.start,
            PairPart::Write => return None,
        };
        Some(scale.ns(ticks))
    }
}

/// The pairs that were complete at one moment. A worker that had to be left behind may go on: what it
/// completes later is not part of it, so that every figure is of the same pairs.
#[derive(Clone, Debug)]
pub struct Measured {
    board: Board,
    pairs: Vec<u64>,
}

impl Board {
    /// What is complete now.
    pub fn measured(&self) -> Measured {
        let workers = 0..self.size().workers;
        Measured { board: *self, pairs: workers.map(|w| self.control(w).pairs()).collect() }
    }

    /// The completed pairs of `worker` at this moment, in order of completion.
    pub fn samples(&self, worker: u64) -> impl Iterator<Item = Sample> + use<> {
        self.first_samples(worker, self.control(worker).pairs())
    }

    fn first_samples(&self, worker: u64, pairs: u64) -> impl Iterator<Item = Sample> + use<> {
        self.lane(worker).chunks_exact(3).take(pairs as usize).map(|words| {
            let tick = |i: usize| words[i].load(Ordering::Relaxed);
            Sample { start: tick(0), middle: Some(tick(1)).filter(|&m| m != 0), end: tick(2) }
        })
    }
}

impl Measured {
    /// Pairs of all workers.
    pub fn pairs(&self) -> u64 {
        self.pairs.iter().sum()
    }

    /// The pairs of `worker`, in order of completion.
    pub fn samples(&self, worker: u64) -> impl Iterator<Item = Sample> + use<> {
        let pairs = self.pairs.get(worker as usize).copied().unwrap_or(0);
        self.board.first_samples(worker, pairs)
    }

    /// Nanoseconds of one part of every pair of `worker`; nothing where the arm does not time it.
    pub fn part_ns(
        &self,
        worker: u64,
        part: PairPart,
        arm: Arm,
        scale: &Scale,
    ) -> Option<Vec<u64>> {
        self.samples(worker).map(|sample| sample.part_ns(part, arm, scale)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    const TIMED: Sample = Sample { start: 100, middle: Some(130), end: 200 };
    const WHOLE: Sample = Sample { start: 100, middle: None, end: 200 };

    /// Write, barrier and total of a sample, at two nanoseconds a tick.
    fn parts(sample: Sample, arm: &str) -> [Option<u64>; 3] {
        let arm = arm.parse().unwrap();
        [PairPart::Write, PairPart::Barrier, PairPart::Total]
            .map(|part| sample.part_ns(part, arm, &Scale::nominal(5e8)))
    }

    #[test]
    fn two_calls_have_two_parts() {
        for arm in ["syscall/fsync", "syscall/fdatasync+direct", "uring/fdatasync"] {
            assert_eq!(parts(TIMED, arm), [Some(60), Some(140), Some(200)], "{arm}");
        }
    }

    #[test]
    fn one_submission_has_only_a_total() {
        for arm in ["uring-linked/fdatasync", "syscall/dsync", "syscall/o_sync", "uring/dsync"] {
            assert_eq!(parts(WHOLE, arm), [None, None, Some(200)], "{arm}");
        }
    }

    #[test]
    fn without_a_barrier_the_write_is_all() {
        for arm in ["syscall/none", "uring/none", "syscall/none+direct"] {
            assert_eq!(parts(WHOLE, arm), [Some(200), None, Some(200)], "{arm}");
        }
    }

    #[test]
    fn only_published_pairs_are_read() {
        let size = crate::BoardSize { workers: 2, depth: 1, samples_per_worker: 4 };
        let words = synctail_sys::reserve_words(size.words() as usize).unwrap();
        let board = Board::new(words, size);
        let lane = board.lane(1);
        let store = |(word, tick): (&AtomicU64, u64)| word.store(tick, Ordering::Relaxed);
        lane.iter().zip([100, 130, 200, 100, 0, 200, 7, 8, 9]).for_each(store);
        board.control(1).publish_pairs(2);
        assert!(board.samples(1).eq([TIMED, WHOLE]));
        assert_eq!(board.samples(0).count(), 0);
        let part = |worker, part| {
            board.measured().part_ns(
                worker,
                part,
                "syscall/fsync".parse().unwrap(),
                &Scale::nominal(1e9),
            )
        };
        assert_eq!(part(1, PairPart::Total), Some(vec![100, 100]));
        // One pair without the part, and the part is absent: half a list would be a wrong one.
        assert_eq!(part(1, PairPart::Barrier), None);
        assert_eq!(part(0, PairPart::Total), Some(Vec::new()));
    }

    #[test]
    fn what_is_complete_later_is_not_part_of_what_was_measured() {
        let size = crate::BoardSize { workers: 1, depth: 1, samples_per_worker: 4 };
        let words = synctail_sys::reserve_words(size.words() as usize).unwrap();
        let board = Board::new(words, size);
        let complete = |count| board.control(0).publish_pairs(count);
        complete(2);
        let measured = board.measured();
        complete(3);
        assert_eq!((measured.pairs(), measured.samples(0).count()), (2, 2));
        assert_eq!(board.samples(0).count(), 3);
    }
}
