//! What ended a run: a fact with its place, without words for people.

use serde::{Deserialize, Serialize};
use synctail_sys::{CallResult, SysError};

/// Where in a run something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u64)]
pub enum Stage {
    /// Not started.
    Idle = 0,
    /// Making and filling files.
    Prepare = 1,
    /// Asking the kernel what it supports.
    Probe = 2,
    /// Discarded pairs.
    Warmup = 3,
    /// Warm, waiting for the others.
    Gate = 4,
    /// Measured pairs.
    Measure = 5,
    /// Removing files.
    Cleanup = 6,
}

impl Stage {
    const ALL: [Stage; 7] = [
        Stage::Idle,
        Stage::Prepare,
        Stage::Probe,
        Stage::Warmup,
        Stage::Gate,
        Stage::Measure,
        Stage::Cleanup,
    ];

    /// The name in the record.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Idle => "idle",
            Stage::Prepare => "prepare",
            Stage::Probe => "probe",
            Stage::Warmup => "warmup",
            Stage::Gate => "gate",
            Stage::Measure => "measure",
            Stage::Cleanup => "cleanup",
        }
    }

    pub(crate) fn from_word(word: u64) -> Stage {
        Self::ALL.into_iter().find(|stage| *stage as u64 == word).unwrap_or(Stage::Idle)
    }
}

/// Why an operation did not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The kernel refused it.
    Errno(i32),
    /// Fewer bytes were written than asked.
    ShortWrite {
        /// Bytes that were.
        written: u64,
        /// Bytes that were asked.
        wanted: u64,
    },
    /// The clock ran backwards within a pair by so many ticks.
    ClockBackwards(u64),
    /// A completion that belongs to no request in flight.
    UnknownCompletion,
    /// O_DIRECT is not supported there.
    DirectUnsupported,
    /// O_DIRECT needs sizes that are multiples of this.
    DirectAlignment {
        /// Bytes.
        needed: u64,
    },
    /// The run was stopped before this was finished: no fault of the storage.
    Stopped,
    /// A thread of ours panicked.
    Panicked(String),
}

/// The first thing that went wrong; it ends the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// When.
    pub stage: Stage,
    /// In which worker; absent where it was not a worker's.
    pub worker: Option<u64>,
    /// The call, such as `fdatasync`.
    pub operation: String,
    /// What it was done to, where that is more than the worker's test file.
    pub object: Option<String>,
    /// Why it did not count.
    pub cause: Cause,
}

impl Fault {
    /// A fault of the worker's own test file; stage and worker are filled in where they are known.
    pub fn of(operation: &str, cause: Cause) -> Fault {
        let operation = operation.to_owned();
        Fault { stage: Stage::Measure, worker: None, operation, object: None, cause }
    }

    /// What a write that was not full means.
    pub fn of_write(operation: &str, result: CallResult, wanted: u64) -> Fault {
        let short = || Cause::ShortWrite { written: result.0.max(0) as u64, wanted };
        Fault::of(operation, result.errno().map_or_else(short, Cause::Errno))
    }

    /// What a barrier that did not return 0 means; a positive value is no success either.
    pub fn of_barrier(operation: &str, result: CallResult) -> Fault {
        Fault::of(operation, Cause::Errno(result.errno().unwrap_or(libc_eio())))
    }

    /// The same fault at its place.
    pub fn at(self, stage: Stage, worker: u64) -> Fault {
        Fault { stage, worker: Some(worker), ..self }
    }
}

/// EIO: 5 on every system that we build for.
const fn libc_eio() -> i32 {
    5
}

impl From<SysError> for Fault {
    fn from(error: SysError) -> Fault {
        Fault {
            object: Some(error.object.clone()),
            ..Fault::of(error.operation, Cause::Errno(error.errno))
        }
    }
}
