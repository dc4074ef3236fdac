//! Write, then barrier, as two calls.

use std::ops::ControlFlow::{Break, Continue};

use synctail_sys::Clock;

use super::{Bounds, Ended, MeasureLoop, next_place};
use crate::device::{PairDevice, Segments};
use crate::{Cursor, Fault, Pace, Sink};

/// Repeats write and barrier on a device.
#[derive(Debug)]
pub struct PairLoop<D> {
    /// What is measured.
    pub device: D,
    /// Where each write goes.
    pub cursor: Cursor,
    /// Bytes of one write.
    pub block_bytes: usize,
}

impl<D: PairDevice + Segments> MeasureLoop for PairLoop<D> {
    fn run<C: Clock, S: Sink, P: Pace>(
        &mut self,
        clock: &C,
        sink: &mut S,
        bounds: &Bounds,
        pace: &mut P,
    ) -> Result<Ended, Fault> {
        let mut last = clock.ticks();
        for _ in 0..bounds.pairs {
            let (device, cursor) = (&mut self.device, &mut self.cursor);
            let place = match next_place(clock, sink, bounds, pace, device, cursor, last)? {
                Continue(place) => place,
                Break(ended) => return Ok(ended),
            };
            let start = clock.ticks();
            sink.begin(0, start);
            let written = self.device.write(place);
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
