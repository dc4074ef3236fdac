//! Write, then barrier, as two calls.

use synctail_sys::Clock;

use super::{Bounds, Ended, MeasureLoop};
use crate::device::{PairDevice, Segments};
use crate::{Cursor, Fault, Sink};

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
    fn run<C: Clock, S: Sink>(
        &mut self,
        clock: &C,
        sink: &mut S,
        bounds: &Bounds,
    ) -> Result<Ended, Fault> {
        let mut last = clock.ticks();
        for _ in 0..bounds.pairs {
            if bounds.is_over(last) {
                return Ok(Ended::Bound);
            }
            if !sink.has_room() {
                return Ok(Ended::SamplesFull);
            }
            let place = match self.cursor.next_place() {
                Some(place) => place,
                None => {
                    self.device.next_segment()?;
                    self.cursor.restart();
                    // Making a file takes long enough to pass the deadline.
                    if bounds.is_over(clock.ticks()) {
                        return Ok(Ended::Bound);
                    }
                    continue_at(&mut self.cursor)?
                }
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

/// The first place of a fresh segment, which always has room: the plan checks that a block fits.
pub(super) fn continue_at(cursor: &mut Cursor) -> Result<synctail_sys::Place, Fault> {
    let too_large = || Fault::of("write", crate::Cause::ShortWrite { written: 0, wanted: 0 });
    cursor.next_place().ok_or_else(too_large)
}
