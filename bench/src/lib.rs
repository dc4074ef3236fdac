//! The measuring engine.
//!
//! A [`Plan`] says what the workers do. Each worker owns a device and a lane of sample memory, warms
//! up, waits at the gate, and then repeats the pair: read the clock, write, read the clock, barrier,
//! read the clock. Ticks go to memory that was allocated and touched before. Only afterwards are they
//! converted to nanoseconds and ranked into a [`Distribution`].
//!
//! The engine knows the kernel through `synctail-sys` only, and runs as well against a scripted device
//! and clock (feature `fake`).
#![forbid(unsafe_code)]

mod arm;
mod board;
#[cfg(test)]
mod cases;
mod comparison;
mod cursor;
mod device;
mod distribution;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
mod fault;
mod gate;
mod interval;
mod lane;
mod loops;
mod measured;
mod pace;
mod plan;
mod probe;
mod run;
mod sample;
mod segments;
mod stalls;
mod storage;
mod target;
#[cfg(test)]
mod tests;
mod worker;

pub use arm::{Arm, Barrier, Engine};
pub use board::{Activity, Board, BoardSize, Control, Pending};
pub use comparison::{ArmSlice, Contrast, Outcome, Quantity, SignedRank, outcomes, slice_order};
pub use cursor::Cursor;
pub use device::{PairDevice, RingDevice, Segments, SingleDevice};
pub use distribution::{Distribution, Percentile};
pub use fault::{Cause, Fault, Stage};
pub use interval::P99Interval;
pub use lane::{Lane, MemoryPreparer, Sink, WarmUp};
pub use loops::{
    Bounds, Chain, Ended, ManyWrites, MeasureLoop, OneWrite, PairLoop, RingLoop, SingleLoop, Writes,
};
pub use measured::{Measured, Opened};
pub use pace::{Closed, Open, Pace, Rate, Schedule};
pub use plan::{Iowq, Layout, Length, Plan, PlanError, RingOptions, SyncFd};
pub use probe::{Flush, PROBE_FILE, ProbeReport, Slice, probe};
pub use run::{RunReport, THREAD_NAME, run};
pub use sample::{PairPart, Sample};
pub use stalls::{PERIOD_NS_LEAST, Period, STALLS_LEAST, Stall, StallOutcome, Stalls};
pub use storage::Storage;
pub use target::{DeviceFacts, FileTarget, NullTarget, Target, Visitor, floor_ns};
pub use worker::WorkerReport;
