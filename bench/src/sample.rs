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

impl Board {
    /// The completed pairs of `worker` at this moment, in order of completion.
    pub fn samples(&self, worker: u64) -> impl Iterator<Item = Sample> + use<> {
        let pairs = self.control(worker).pairs() as usize;
        self.lane(worker).chunks_exact(3).take(pairs).map(|words| {
            let tick = |i: usize| words[i].load(Ordering::Relaxed);
            Sample { start: tick(0), middle: Some(tick(1)).filter(|&m| m != 0), end: tick(2) }
        })
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
