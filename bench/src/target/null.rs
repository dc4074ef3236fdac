//! A device that does nothing at once: what remains of a pair is the tool itself.
//!
//! The loops are those of the real arms. Of a ring only what the loop does with it is there, not the
//! queue that it shares with the kernel.

use std::collections::VecDeque;

use synctail_sys::{CallResult, Clock, Completion, Part, Place};

use super::{DeviceFacts, Target, Visitor};
use crate::device::{PairDevice, RingDevice, Segments, SingleDevice};
use crate::loops::{ManyWrites, OneWrite, PairLoop, RingLoop, SingleLoop};
use crate::{Board, BoardSize, Chain, Cursor, Distribution, Engine, Fault, Length, PairPart, Plan};

/// As far as the data of a real run is walked.
const DATA_SPAN_BYTES: usize = 1 << 20;

/// Workers on nothing.
#[derive(Clone, Debug)]
pub struct NullTarget {
    /// Which loop, and how it is driven.
    pub plan: Plan,
}

/// Takes every write and barrier and does nothing with them.
#[derive(Debug)]
struct Null {
    block_bytes: i32,
    completions: VecDeque<Completion>,
}

impl Target for NullTarget {
    fn open<C: Clock, V: Visitor>(
        &self,
        _worker: u64,
        _board: Board,
        _clock: &C,
        visitor: V,
    ) -> Result<V::Output, Fault> {
        let plan = &self.plan;
        // A plan's block is at most 256 MiB.
        let device =
            Null { block_bytes: plan.block_size_bytes as i32, completions: VecDeque::new() };
        let cursor = Cursor::new(plan.block_size_bytes, plan.segment_bytes, DATA_SPAN_BYTES, 1)
            .in_pairs_of(plan.writes_per_barrier);
        let block_bytes = plan.block_size_bytes as usize;
        let facts = DeviceFacts::default();
        let (one, many) = (OneWrite::default(), || ManyWrites::of(plan.writes_per_barrier));
        Ok(match (plan.arm.engine, plan.writes_per_barrier) {
            (Engine::Syscall, 1) if plan.arm.has_bare_barrier() => {
                visitor.visit(PairLoop { device, cursor, block_bytes, writes: one }, facts)
            }
            (Engine::Syscall, _) if plan.arm.has_bare_barrier() => {
                visitor.visit(PairLoop { device, cursor, block_bytes, writes: many() }, facts)
            }
            (Engine::Syscall, 1) => {
                visitor.visit(SingleLoop { device, cursor, block_bytes, writes: one }, facts)
            }
            (Engine::Syscall, _) => {
                visitor.visit(SingleLoop { device, cursor, block_bytes, writes: many() }, facts)
            }
            (Engine::Uring | Engine::UringLinked, _) => {
                let (chain, depth) = (Chain::of(plan.arm), plan.depth as u32);
                visitor
                    .visit(RingLoop::new(device, cursor, block_bytes, chain, depth, false), facts)
            }
        })
    }
}

impl PairDevice for Null {
    const WRITE: &'static str = "nothing";
    const BARRIER: &'static str = "nothing";

    #[inline(always)]
    fn write(&mut self, place: Place) -> CallResult {
        std::hint::black_box(place);
        CallResult(self.block_bytes)
    }

    #[inline(always)]
    fn barrier(&mut self) -> CallResult {
        CallResult(0)
    }
}

impl SingleDevice for Null {
    const WRITE: &'static str = "nothing";

    #[inline(always)]
    fn write(&mut self, place: Place) -> CallResult {
        PairDevice::write(self, place)
    }
}

impl RingDevice for Null {
    fn push_write(&mut self, slot: u32, place: Place, _dsync: bool, _link: bool, _quiet: bool) {
        let result = PairDevice::write(self, place);
        self.completions.push_back(Completion { slot, part: Part::Write, result });
    }

    fn push_barrier(&mut self, slot: u32, _datasync: bool) {
        let result = self.barrier();
        self.completions.push_back(Completion { slot, part: Part::Barrier, result });
    }

    fn enter(&mut self, _wanted: u32) -> CallResult {
        CallResult(0)
    }

    fn enter_for(&mut self, _wanted: u32, _patience_ns: u64) -> CallResult {
        CallResult(0)
    }

    fn ready(&mut self) -> u32 {
        self.completions.len() as u32
    }

    fn take(&mut self) -> Option<Completion> {
        self.completions.pop_front()
    }

    fn enters(&self) -> u64 {
        0
    }
}

impl Segments for Null {
    fn next_segment(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn segments(&self) -> u64 {
        0
    }
}

/// Median of what the tool itself adds to a pair of `plan`, by a thousand pairs of one worker on nothing,
/// on this machine and now. Nothing where no memory could be had for it.
pub fn floor_ns(plan: &Plan, clock: &impl Clock) -> Option<u64> {
    const PAIRS: u64 = 1_000;
    let plan = Plan {
        workers: 1,
        depth: 1,
        cpus: plan.cpus.first().copied().into_iter().collect(),
        length: Length::Iterations(PAIRS),
        warmup: PAIRS,
        samples_per_worker: PAIRS,
        rate: None,
        ..plan.clone()
    };
    let size = BoardSize { workers: 1, depth: 1, samples_per_worker: PAIRS };
    let board = Board::new(synctail_sys::reserve_words(size.words() as usize).ok()?, size);
    crate::run(&plan, clock, &NullTarget { plan: plan.clone() }, board);
    let scale = synctail_sys::Scale::nominal(clock.nominal_ticks_per_s());
    let measured = board.measured(clock.ticks());
    let mut total = measured.part_ns(0, PairPart::Total, plan.arm, &scale, 0)?;
    Distribution::of(&mut total)?.p50_ns
}
