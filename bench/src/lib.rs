//! The measuring engine.
//!
//! A [`Plan`] says what the workers do. Each worker owns a device and a lane of sample memory, warms
//! up, waits at the gate, and then repeats the pair: read the clock, write, read the clock, barrier,
//! read the clock. Ticks go to memory that was allocated and touched before. Only afterwards are they
//! converted to nanoseconds and ranked into a [`Distribution`].
#![forbid(unsafe_code)]

mod arm;
mod distribution;
mod plan;

pub use arm::{Arm, Barrier, Engine};
pub use distribution::{Distribution, Percentile};
pub use plan::{Iowq, Layout, Length, Plan, PlanError, RingOptions};
