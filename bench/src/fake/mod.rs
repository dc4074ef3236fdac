//! A scripted device and its clock, so that every rule of the engine has a test without a disk.
//!
//! The script gives, for each pair of each worker, how long write and barrier take and what they
//! return. The device moves the time of its own thread by that much and touches nothing else: the
//! ticks of a run are known beforehand to the nanosecond, however the threads are scheduled.
//!
//! A misuse that a kernel would answer with silence or with damage (a wait for completions that
//! cannot come, a slot used twice, a file changed under a request) is a panic here.

mod clock;
mod device;
mod ring;
mod script;
mod target;

pub use clock::FakeClock;
pub use device::FakeDevice;
pub use ring::{FakeRing, Service};
pub use script::{Hold, Pair, Step};
pub use target::{Counts, FakeTarget, Shape};

/// Bytes of a full write; the plan's block size must be the same.
pub const BLOCK_BYTES: u64 = 4_096;
