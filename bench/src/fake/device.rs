//! The scripted device of the loops that make calls.

use synctail_sys::{CallResult, Place};

use super::target::Tape;
use super::{FakeClock, Pair, Step};
use crate::Fault;
use crate::device::{PairDevice, Segments, SingleDevice};

/// Plays a script as one call or two.
#[derive(Debug)]
pub struct FakeDevice<'a, F> {
    pub(super) tape: Tape<'a, F>,
    pub(super) step: Step,
}

impl<F: Fn(Pair) -> Step> FakeDevice<'_, F> {
    fn start_write(&mut self) {
        self.step = self.tape.next_step();
        self.tape.count(|counts| counts.writes += 1);
        self.step.turn_clock_back();
    }
}

impl<F: Fn(Pair) -> Step> PairDevice for FakeDevice<'_, F> {
    const WRITE: &'static str = "fake write";
    const BARRIER: &'static str = "fake barrier";

    fn write(&mut self, _place: Place) -> CallResult {
        self.start_write();
        FakeClock::advance(self.step.write_ns);
        self.step.write
    }

    fn barrier(&mut self) -> CallResult {
        self.tape.count(|counts| counts.barriers += 1);
        self.step.hang();
        FakeClock::advance(self.step.barrier_ns);
        self.step.barrier
    }
}

impl<F: Fn(Pair) -> Step> SingleDevice for FakeDevice<'_, F> {
    const WRITE: &'static str = "fake write";

    fn write(&mut self, _place: Place) -> CallResult {
        self.start_write();
        self.step.hang();
        FakeClock::advance(self.step.write_ns);
        self.step.write
    }
}

impl<F: Fn(Pair) -> Step> Segments for FakeDevice<'_, F> {
    fn next_segment(&mut self) -> Result<(), Fault> {
        self.tape.next_segment()
    }

    fn segments(&self) -> u64 {
        self.tape.segments
    }
}
