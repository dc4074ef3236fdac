//! One call that is the whole pair: a synchronous write, or no barrier at all.

use std::ops::ControlFlow::Break;

use synctail_sys::Clock;

use super::{Bounds, Ended, MeasureLoop, Writes, next_pair};
use crate::device::{Segments, SingleDevice};
use crate::{Cursor, Fault, Pace, Sink};

/// Repeats one call on a device.
#[derive(Debug)]
pub struct SingleLoop<D, W> {
    /// What is measured.
    pub device: D,
    /// Where each write goes.
    pub cursor: Cursor,
    /// Bytes of one write.
    pub block_bytes: usize,
    /// The writes of one pair.
    pub writes: W,
}

impl<D: SingleDevice + Segments, W: Writes> MeasureLoop for SingleLoop<D, W> {
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
            let end = clock.ticks();
            if !written.is_full(self.block_bytes) {
                sink.abandon(0);
                return Err(Fault::of_write(D::WRITE, written, self.block_bytes as u64));
            }
            sink.commit(0, start, 0, end)?;
            last = end;
        }
        Ok(Ended::Pairs)
    }

    fn segments(&self) -> u64 {
        self.device.segments()
    }
}
