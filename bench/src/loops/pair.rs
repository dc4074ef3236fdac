//! Write, then barrier, as two calls.

use std::ops::ControlFlow::Break;

use synctail_sys::Clock;

use super::{Bounds, Ended, MeasureLoop, Writes, next_pair};
use crate::device::{PairDevice, Segments};
use crate::{Cursor, Fault, Pace, Sink};

/// Repeats write and barrier on a device.
#[derive(Debug)]
pub struct PairLoop<D, W> {
    /// What is measured.
    pub device: D,
    /// Where each write goes.
    pub cursor: Cursor,
    /// Bytes of one write.
    pub block_bytes: usize,
    /// The writes of one pair.
    pub writes: W,
}

impl<D: PairDevice + Segments, W: Writes> MeasureLoop for PairLoop<D, W> {
    fn run<C: Clock, S: Sink, P: Pace>(
        &mut self,
        clock: &C,
        sink: &mut S,
        bounds: &Bounds,
        pace: &mut P,
    ) -> Result<Ended, Fault> {
        let mut last = clock.ticks();
        for _ in 0..bounds.pairs {
            let walk = (&mut self.device, &mut self.cursor, &mut self.writes);
            if let Break(ended) = next_pair(clock, sink, bounds, pace, walk, last)? {
                return Ok(ended);
            }
            let start = clock.ticks();
            sink.begin(0, start);
            let (device, block_bytes) = (&mut self.device, self.block_bytes);
            let written = self.writes.make(block_bytes, |place| device.write(place));
            let middle = clock.ticks();
            // One compare within the barrier's time: a barrier after a write that failed would mean
            // nothing, and could hang.
            if !written.is_full(self.block_bytes) {
                sink.abandon(0);
                return Err(Fault::of_write(D::WRITE, written, self.block_bytes as u64));
            }
            let flushed = self.device.barrier();
            let end = clock.ticks();
            if !flushed.is_success() {
                sink.abandon(0);
                return Err(Fault::of_barrier(D::BARRIER, flushed));
            }
            sink.commit(0, start, middle, end)?;
            last = end;
        }
        Ok(Ended::Pairs)
    }

    fn segments(&self) -> u64 {
        self.device.segments()
    }
}
