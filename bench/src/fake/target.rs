//! The target that hands scripted devices to workers, and counts what they were asked to do.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use synctail_sys::Clock;

use super::{BLOCK_BYTES, FakeClock, FakeDevice, FakeRing, Pair, Service, Step};
use crate::target::{DeviceFacts, Target, Visitor};
use crate::{Board, Chain, Cursor, Fault, OneWrite, PairLoop, RingLoop, SingleLoop};

/// Which loop a target gives to its workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A write and a barrier.
    Pair,
    /// One call.
    Single,
    /// Chains on a ring.
    Ring {
        /// How a pair becomes requests.
        chain: Chain,
        /// Chains in flight.
        depth: u32,
        /// Whether the kernel can leave out the completions of full linked writes.
        quiet: bool,
        /// How the storage takes them.
        service: Service,
    },
}

impl Shape {
    /// Chains in flight per worker.
    pub fn depth(self) -> u32 {
        if let Shape::Ring { depth, .. } = self { depth } else { 1 }
    }

    /// Whether the barrier is a request that only follows the completed write.
    pub fn barrier_follows(self) -> bool {
        matches!(self, Shape::Pair | Shape::Ring { chain: Chain::TwoTrips { .. }, .. })
    }
}

/// What the device of one worker was asked to do, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Writes.
    pub writes: u64,
    /// Of these with RWF_DSYNC.
    pub dsyncs: u64,
    /// Barriers.
    pub barriers: u64,
    /// Of these fdatasync on a ring.
    pub datasyncs: u64,
}

/// A target whose devices play `script`.
pub struct FakeTarget<F> {
    /// Which loop.
    pub shape: Shape,
    /// The plan's discarded pairs per worker.
    pub warmup: u64,
    /// Pairs until the next segment is needed.
    pub blocks_per_segment: u64,
    /// How long making a segment takes.
    pub segment_ns: u64,
    /// Asked once for each pair, on the worker's thread, when its write begins or is queued.
    pub script: F,
    counts: Mutex<BTreeMap<u64, Counts>>,
}

impl<F> fmt::Debug for FakeTarget<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeTarget").field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl<F: Fn(Pair) -> Step> FakeTarget<F> {
    /// Devices of `shape`, in one endless segment, under a plan with so many discarded pairs.
    pub fn new(shape: Shape, warmup: u64, script: F) -> FakeTarget<F> {
        let counts = Mutex::default();
        FakeTarget { shape, warmup, blocks_per_segment: 1 << 40, segment_ns: 0, script, counts }
    }

    /// What the device of `worker` was asked to do so far.
    pub fn counts(&self, worker: u64) -> Counts {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.get(&worker).copied().unwrap_or_default()
    }
}

impl<F: Fn(Pair) -> Step + Sync> Target for FakeTarget<F> {
    fn open<C: Clock, V: Visitor>(
        &self,
        worker: u64,
        _board: Board,
        _clock: &C,
        visitor: V,
    ) -> Result<V::Output, Fault> {
        let segment_bytes = self.blocks_per_segment * BLOCK_BYTES;
        let cursor = Cursor::new(BLOCK_BYTES, segment_bytes, 1 << 20, 1);
        let block_bytes = BLOCK_BYTES as usize;
        let tape = Tape { target: self, worker, begun: 0, segments: 1 };
        let (facts, writes) = (DeviceFacts::default(), OneWrite::default());
        Ok(match self.shape {
            Shape::Pair => {
                let device = FakeDevice { tape, step: Step::new(0, 0) };
                visitor.visit(PairLoop { device, cursor, block_bytes, writes }, facts)
            }
            Shape::Single => {
                let device = FakeDevice { tape, step: Step::new(0, 0) };
                visitor.visit(SingleLoop { device, cursor, block_bytes, writes }, facts)
            }
            Shape::Ring { chain, depth, quiet, service } => {
                let ring = FakeRing::new(tape, depth, service);
                visitor.visit(RingLoop::new(ring, cursor, block_bytes, chain, depth, quiet), facts)
            }
        })
    }
}

/// The place of one worker's device in the script.
#[derive(Debug)]
pub(super) struct Tape<'a, F> {
    target: &'a FakeTarget<F>,
    worker: u64,
    begun: u64,
    pub(super) segments: u64,
}

impl<F: Fn(Pair) -> Step> Tape<'_, F> {
    pub(super) fn next_step(&mut self) -> Step {
        let warmup = self.target.warmup;
        let is_warmup = self.begun < warmup;
        let index = if is_warmup { self.begun } else { self.begun - warmup };
        self.begun += 1;
        (self.target.script)(Pair { worker: self.worker, index, is_warmup })
    }

    pub(super) fn count(&self, add: impl FnOnce(&mut Counts)) {
        let mut counts = self.target.counts.lock().unwrap_or_else(PoisonError::into_inner);
        add(counts.entry(self.worker).or_default());
    }

    pub(super) fn barrier_follows(&self) -> bool {
        self.target.shape.barrier_follows()
    }

    pub(super) fn next_segment(&mut self) -> Result<(), Fault> {
        self.segments += 1;
        FakeClock::advance(self.target.segment_ns);
        Ok(())
    }
}
