//! System calls of synctail's measuring path behind a safe surface.
//!
//! The contract of this crate:
//! - It is the only one with `unsafe`; each block does one thing and argues why it is sound.
//! - Calls on the measuring path are not retried and not interpreted: they return what the kernel
//!   said, as [`CallResult`]. An error of preparation is a [`SysError`] that says what was attempted,
//!   on what, and why it failed.
//! - Memory that the kernel may read asynchronously (the data arena) lives as long as the process.

mod affinity;
mod arena;
#[cfg(target_os = "linux")]
mod block_device;
mod call;
mod clock;
#[cfg(any(target_os = "macos", test))]
mod darwin;
mod directory;
mod durable;
mod error;
mod file;
mod limits;
#[cfg(target_os = "linux")]
mod nvme;
mod process;
mod reopened;
#[cfg(target_os = "linux")]
mod ring;
mod shared;
mod skew;
#[cfg(target_os = "linux")]
mod statx;
#[cfg(target_os = "linux")]
mod symbols;

pub use affinity::{
    allowed_cpus, current_cpu, pin, run_delay_ns, scheduling_class, sleep_precisely,
};
pub use arena::{Arena, Place};
#[cfg(target_os = "linux")]
pub use block_device::{BlockDevice, device_number};
pub use call::{CallResult, SyscallFile};
pub use clock::{Clock, OsClock, Scale, ScalePoint, TscClock, read_cost_ns};
pub use directory::DirHandle;
pub use durable::{DurableFile, Way};
pub use error::{SysError, errno_name, errno_text};
pub use file::{OpenMode, filesystem_stats, lock_exclusive};
pub use limits::{ignore_signals, raise_open_files_limit};
#[cfg(target_os = "linux")]
pub use nvme::{IDENTIFY_BYTES, identify_controller};
pub use process::{Fork, detach_stdio, fork};
pub use reopened::ReopenedFile;
#[cfg(target_os = "linux")]
pub use ring::{Completion, Part, Ring, RingSetup};
pub use shared::reserve_words;
pub use skew::measure_skew_ticks;
#[cfg(target_os = "linux")]
pub use statx::{DirectAlignment, PathFacts, direct_alignment, path_facts};
#[cfg(target_os = "linux")]
pub use symbols::{Symbol, flush_refuses_bad_descriptor, flush_symbols};
