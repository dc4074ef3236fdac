//! What a loop drives. One trait per shape of operation, each call static: no branch on the arm
//! remains inside a loop.

use synctail_sys::{CallResult, Place};

use crate::Fault;

/// A write and a barrier, one after the other.
pub trait PairDevice {
    /// Name of the write's call, for a fault.
    const WRITE: &'static str;
    /// Name of the barrier's call, for a fault.
    const BARRIER: &'static str;

    /// Writes one block.
    fn write(&mut self, place: Place) -> CallResult;
    /// Makes it durable.
    fn barrier(&mut self) -> CallResult;
}

/// One operation that is the whole pair.
pub trait SingleDevice {
    /// Name of the call, for a fault.
    const WRITE: &'static str;

    /// Writes one block, and makes it durable if the arm does.
    fn write(&mut self, place: Place) -> CallResult;
}

/// Which half of a chain completed.
pub use synctail_sys::Completion;

/// A queue of submissions with several chains in flight.
pub trait RingDevice {
    /// Queues a write; see `Ring::push_write`.
    fn push_write(&mut self, slot: u32, place: Place, dsync: bool, link: bool, quiet: bool);
    /// Queues a barrier.
    fn push_barrier(&mut self, slot: u32, datasync: bool);
    /// Submits and waits for `wanted` completions.
    fn enter(&mut self, wanted: u32) -> CallResult;
    /// Submits and waits for `wanted` completions, but not much longer than `patience_ns`.
    fn enter_for(&mut self, wanted: u32, patience_ns: u64) -> CallResult;
    /// Completions that can be taken now.
    fn ready(&mut self) -> u32;
    /// Takes one.
    fn take(&mut self) -> Option<Completion>;
    /// io_uring_enter calls so far.
    fn enters(&self) -> u64;
}

/// A device's file, which is replaced when it is full.
pub trait Segments {
    /// Makes the next segment current, outside the timed region; nothing is in flight.
    fn next_segment(&mut self) -> Result<(), Fault>;
    /// Files made so far.
    fn segments(&self) -> u64;
}
