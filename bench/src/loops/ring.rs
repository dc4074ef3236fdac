//! Chains in flight on a ring.
//!
//! Each chain has a slot and is timed from its own submission to the moment its last completion was
//! seen. What has completed is counted first and the clock read after that, so that no completion is
//! stamped earlier than it was there.

use std::ops::ControlFlow::{Break, Continue};

use synctail_sys::{CallResult, Clock, Completion, Part, Place};

use super::{Bounds, Ended, MeasureLoop, OneWrite, next_pair};
use crate::device::{RingDevice, Segments};
use crate::{Arm, Barrier, Cause, Cursor, Engine, Fault, Pace, Sink};

/// How a pair becomes requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chain {
    /// Write linked to barrier, one submission.
    Linked {
        /// fdatasync instead of fsync.
        datasync: bool,
    },
    /// Write, and when it has completed the barrier.
    TwoTrips {
        /// fdatasync instead of fsync.
        datasync: bool,
    },
    /// One write.
    Single {
        /// RWF_DSYNC.
        dsync: bool,
    },
}

impl Chain {
    /// How a pair of `arm`, a ring's, becomes requests.
    pub fn of(arm: Arm) -> Chain {
        let datasync = arm.barrier == Barrier::Fdatasync;
        match (arm.engine, arm.barrier) {
            (Engine::UringLinked, _) => Chain::Linked { datasync },
            (_, Barrier::Dsync) => Chain::Single { dsync: true },
            (_, Barrier::None) => Chain::Single { dsync: false },
            _ => Chain::TwoTrips { datasync },
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    busy: bool,
    start: u64,
    middle: u64,
    written: Option<CallResult>,
}

/// Repeats a chain, `depth` at a time.
#[derive(Debug)]
pub struct RingLoop<D> {
    device: D,
    cursor: Cursor,
    block_bytes: usize,
    chain: Chain,
    /// A full write of a linked pair posts no completion. With one chain in flight both are waited
    /// for and checked; with more, waiting for a write's completion would cost a round trip of its
    /// own, or delay the moment another chain's barrier is seen.
    quiet_writes: bool,
    slots: Vec<Slot>,
    idle: Vec<u32>,
}

/// What a free slot is for.
enum Next {
    /// A chain that writes there.
    Place(Place),
    /// Nothing before something has completed, or so many ticks have passed.
    Later(Option<u64>),
    /// Nothing any more.
    End(Ended),
}

/// What one completion did.
enum Step {
    Waiting,
    Complete(u32),
}

impl<D: RingDevice + Segments> RingLoop<D> {
    /// A loop of `depth` chains; `quiet_writes` only where the kernel supports it.
    pub fn new(
        device: D,
        cursor: Cursor,
        block_bytes: usize,
        chain: Chain,
        depth: u32,
        quiet_writes: bool,
    ) -> Self {
        let quiet_writes = quiet_writes && depth > 1 && matches!(chain, Chain::Linked { .. });
        RingLoop {
            device,
            cursor,
            block_bytes,
            chain,
            quiet_writes,
            slots: vec![Slot::default(); depth as usize],
            idle: (0..depth).rev().collect(),
        }
    }

    fn in_flight(&self) -> usize {
        self.slots.len() - self.idle.len()
    }

    /// Completions that a wait is for: both of a linked pair where it is the only one in flight. A
    /// signal can end a wait between the two; waiting for both once more would then never end.
    fn wanted(&self) -> u32 {
        match (self.chain, self.slots.as_slice()) {
            (Chain::Linked { .. }, [Slot { written: None, .. }]) => 2,
            _ => 1,
        }
    }

    /// What a free slot is for. A chain that has company does not wait for its moment here, and not for
    /// the next file either, which nothing may be in flight for.
    #[inline]
    fn next<C: Clock, S: Sink, P: Pace>(
        &mut self,
        clock: &C,
        sink: &mut S,
        bounds: &Bounds,
        pace: &mut P,
        last: u64,
    ) -> Result<Next, Fault> {
        if self.in_flight() == 0 {
            let mut write = OneWrite::default();
            let walk = (&mut self.device, &mut self.cursor, &mut write);
            return Ok(match next_pair(clock, sink, bounds, pace, walk, last)? {
                Continue(()) => Next::Place(write.place()),
                Break(ended) => Next::End(ended),
            });
        }
        if bounds.is_over(last) {
            return Ok(Next::End(Ended::Bound));
        }
        if !sink.has_room() {
            return Ok(Next::End(Ended::SamplesFull));
        }
        if pace.early(last) > 0 {
            let ticks = pace.early(clock.ticks());
            if ticks > 0 {
                return Ok(Next::Later(Some(ticks)));
            }
        }
        let Some(place) = self.cursor.next_place() else { return Ok(Next::Later(None)) };
        pace.advance();
        Ok(Next::Place(place))
    }

    #[inline]
    fn submit<C: Clock, S: Sink>(&mut self, clock: &C, sink: &mut S, place: Place) {
        let Some(slot) = self.idle.pop() else { return };
        let (linked, dsync) = match self.chain {
            Chain::Linked { .. } => (true, false),
            Chain::TwoTrips { .. } => (false, false),
            Chain::Single { dsync } => (false, dsync),
        };
        let start = clock.ticks();
        sink.begin(slot, start);
        self.slots[slot as usize] = Slot { busy: true, start, ..Slot::default() };
        self.device.push_write(slot, place, dsync, linked, self.quiet_writes);
        if let Chain::Linked { datasync } = self.chain {
            self.device.push_barrier(slot, datasync);
        }
    }

    /// Takes one completion that was there at `now`.
    #[inline]
    fn handle(&mut self, completion: Completion, now: u64) -> Result<Step, Fault> {
        let unknown = || Fault::of("io_uring_enter", Cause::UnknownCompletion);
        let slot = self.slots.get_mut(completion.slot as usize).filter(|s| s.busy);
        let slot = slot.ok_or_else(unknown)?;
        match completion.part {
            Part::Write => {
                slot.written = Some(completion.result);
                if !completion.result.is_full(self.block_bytes) {
                    return Err(Fault::of_write(WRITE, completion.result, self.block_bytes as u64));
                }
                match self.chain {
                    Chain::Linked { .. } => Ok(Step::Waiting),
                    Chain::Single { .. } => Ok(Step::Complete(completion.slot)),
                    Chain::TwoTrips { datasync } => {
                        slot.middle = now;
                        self.device.push_barrier(completion.slot, datasync);
                        Ok(Step::Waiting)
                    }
                }
            }
            // A linked barrier that succeeded before its write's completion was seen would mean that
            // the link did not hold; where full writes are quiet the kernel posts none.
            Part::Barrier if slot.written.is_none() && !self.quiet_writes => Err(unknown()),
            Part::Barrier if completion.result.is_success() => Ok(Step::Complete(completion.slot)),
            Part::Barrier => Err(Fault::of_barrier(BARRIER, completion.result)),
        }
    }

    /// Waits, no longer than `patience` ticks, then takes everything that was there when that ended.
    #[inline]
    fn reap<C: Clock, S: Sink>(
        &mut self,
        clock: &C,
        sink: &mut S,
        patience: Option<u64>,
    ) -> Result<u64, Fault> {
        let entered = match patience {
            None => self.device.enter(self.wanted()),
            Some(ticks) => self.device.enter_for(self.wanted(), clock.nominal_ns(ticks)),
        };
        if let Some(errno) = entered.errno() {
            return Err(Fault::of("io_uring_enter", Cause::Errno(errno)));
        }
        let ready = self.device.ready();
        let now = clock.ticks();
        for _ in 0..ready {
            let Some(completion) = self.device.take() else { break };
            if let Step::Complete(slot) = self.handle(completion, now)? {
                let Slot { start, middle, .. } = std::mem::take(&mut self.slots[slot as usize]);
                self.idle.push(slot);
                sink.commit(slot, start, middle, now)?;
            }
        }
        Ok(now)
    }

    /// After a fault nothing that is still in flight counts. The kernel keeps the file of a request
    /// that has not returned, and the arena is never freed, so it may complete whenever it wants.
    fn abandon_all<S: Sink>(&mut self, sink: &mut S) {
        let busy = (0u32..).zip(&self.slots).filter(|(_, slot)| slot.busy);
        busy.for_each(|(slot, _)| sink.abandon(slot));
    }
}

const WRITE: &str = "io_uring write";
const BARRIER: &str = "io_uring fsync";

impl<D: RingDevice + Segments> MeasureLoop for RingLoop<D> {
    fn run<C: Clock, S: Sink, P: Pace>(
        &mut self,
        clock: &C,
        sink: &mut S,
        bounds: &Bounds,
        pace: &mut P,
    ) -> Result<Ended, Fault> {
        let mut begun = 0u64;
        let mut last = clock.ticks();
        let mut ended = None;
        loop {
            let mut patience = None;
            while ended.is_none() && begun < bounds.pairs && !self.idle.is_empty() {
                match self.next(clock, sink, bounds, pace, last)? {
                    Next::Place(place) => {
                        self.submit(clock, sink, place);
                        begun += 1;
                    }
                    Next::Later(ticks) => {
                        patience = ticks;
                        break;
                    }
                    Next::End(why) => ended = Some(why),
                }
            }
            if self.in_flight() == 0 {
                return Ok(ended.unwrap_or(Ended::Pairs));
            }
            let reaped = self.reap(clock, sink, patience);
            last = reaped.inspect_err(|_| self.abandon_all(sink))?;
        }
    }

    fn segments(&self) -> u64 {
        self.device.segments()
    }

    fn enters(&self) -> u64 {
        self.device.enters()
    }
}
