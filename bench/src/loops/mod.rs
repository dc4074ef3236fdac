//! The hot loops, one per shape of arm.
//!
//! Between two clock reads stands the operation; what else stands there is named where it does. Room
//! for the sample, the stop flag and the next file are looked at before the first read of a pair.

mod pair;
mod ring;
mod single;
mod writes;

pub use pair::PairLoop;
pub use ring::{Chain, RingLoop};
pub use single::SingleLoop;
pub use writes::{ManyWrites, OneWrite, Writes};

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::atomic::{AtomicU64, Ordering};

use synctail_sys::{Clock, Place};

use crate::device::Segments;
use crate::pace::{self, Pace};
use crate::{Cause, Cursor, Fault, Sink};

/// When a loop ends by itself.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Pairs.
    pub pairs: u64,
    /// No pair begins at or after this tick; `u64::MAX` for none.
    pub deadline_tick: u64,
    /// No pair begins once this is not 0.
    pub stop: &'static AtomicU64,
}

impl Bounds {
    #[inline]
    fn is_over(&self, last_tick: u64) -> bool {
        last_tick >= self.deadline_tick || self.is_stopped()
    }

    #[inline]
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) != 0
    }
}

/// Why a loop ended without a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All pairs are done.
    Pairs,
    /// The deadline or the stop flag.
    Bound,
    /// No room for another sample: the memory is full, or the run was stopped while a worker waited
    /// for more of it.
    SamplesFull,
}

/// A loop with its device, ready to run any number of times.
pub trait MeasureLoop {
    /// Repeats the pair until a bound is reached or something fails.
    fn run<C: Clock, S: Sink, P: Pace>(
        &mut self,
        clock: &C,
        sink: &mut S,
        bounds: &Bounds,
        pace: &mut P,
    ) -> Result<Ended, Fault>;
    /// Files made so far.
    fn segments(&self) -> u64;
    /// io_uring_enter calls so far; 0 without a ring.
    fn enters(&self) -> u64 {
        0
    }
}

/// What comes before a pair where one is in flight at a time: bounds, room for the sample, the places of
/// its writes, in the next file if this one is full, and its moment. `last` is the end of the pair before.
#[inline(always)]
fn next_pair<C: Clock, S: Sink, P: Pace, D: Segments, W: Writes>(
    clock: &C,
    sink: &mut S,
    bounds: &Bounds,
    pace: &mut P,
    (device, cursor, writes): (&mut D, &mut Cursor, &mut W),
    last: u64,
) -> Result<ControlFlow<Ended>, Fault> {
    if bounds.is_over(last) {
        return Ok(Break(Ended::Bound));
    }
    if !sink.has_room() {
        return Ok(Break(Ended::SamplesFull));
    }
    let place = match cursor.next_place() {
        Some(place) => place,
        None => match next_file(clock, bounds, device, cursor)? {
            Continue(place) => place,
            Break(ended) => return Ok(Break(ended)),
        },
    };
    writes.gather(place, cursor);
    if let Break(ended) = pace::wait(clock, pace, bounds) {
        return Ok(Break(ended));
    }
    pace.advance();
    Ok(Continue(()))
}

#[cold]
fn next_file<C: Clock, D: Segments>(
    clock: &C,
    bounds: &Bounds,
    device: &mut D,
    cursor: &mut Cursor,
) -> Result<ControlFlow<Ended, Place>, Fault> {
    device.next_segment()?;
    cursor.restart();
    // Making a file takes long enough to pass the deadline.
    if bounds.is_over(clock.ticks()) {
        return Ok(Break(Ended::Bound));
    }
    // A fresh segment always has room: the plan checks that a block fits.
    let too_large = || Fault::of("write", Cause::ShortWrite { written: 0, wanted: 0 });
    cursor.next_place().map(Continue).ok_or_else(too_large)
}
