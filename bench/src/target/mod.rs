//! Real devices for the loops: which calls an arm makes, on which files.

mod null;
mod other_fd;
#[cfg(target_os = "linux")]
mod ring;
mod syscall;

pub use null::{NullTarget, floor_ns};

use serde::{Deserialize, Serialize};
use synctail_sys::{Arena, Clock, DirectAlignment, direct_alignment};

use crate::loops::MeasureLoop;
use crate::segments::SegmentFiles;
use crate::{Board, Cause, Cursor, Engine, Fault, Plan, Stage, Storage};

/// What a device turned out to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// Ring set-up flags in force; absent without a ring.
    pub ring_flags: Option<Vec<String>>,
    /// Whether full writes of linked pairs post no completion.
    pub quiet_writes: bool,
    /// Alignment that O_DIRECT asks, where it was asked and is known.
    pub direct_alignment_bytes: Option<u64>,
}

/// Takes a loop whose type depends on the arm.
pub trait Visitor {
    /// What it makes of it.
    type Output;
    /// Uses the loop.
    fn visit<L: MeasureLoop>(self, measure: L, facts: DeviceFacts) -> Self::Output;
}

/// Something that workers can be run against.
pub trait Target: Sync {
    /// Opens the device of `worker` on the calling thread and hands its loop to `visitor`.
    fn open<C: Clock, V: Visitor>(
        &self,
        worker: u64,
        board: Board,
        clock: &C,
        visitor: V,
    ) -> Result<V::Output, Fault>;
}

/// Files in a directory of a real filesystem, or areas of a raw device.
#[derive(Debug)]
pub struct FileTarget {
    /// Where they are.
    pub storage: Storage,
    /// What is written.
    pub arena: Arena,
    /// How.
    pub plan: Plan,
    /// CPUs that io-wq may be put on.
    pub allowed_cpus: Vec<u64>,
}

const SECTOR_BYTES_MIN: u64 = 512;

impl Target for FileTarget {
    fn open<C: Clock, V: Visitor>(
        &self,
        worker: u64,
        board: Board,
        clock: &C,
        visitor: V,
    ) -> Result<V::Output, Fault> {
        let plan = &self.plan;
        let storage = self.storage.clone();
        let mut files = SegmentFiles::new(storage, self.arena, plan, worker, board, clock.clone());
        if plan.arm.direct
            && let Some(needed) = self.storage.sector_bytes()
            && !plan.block_size_bytes.is_multiple_of(needed)
        {
            return Err(Fault::of("open", Cause::DirectAlignment { needed }));
        }
        let file = files.next_file()?.ok_or_else(no_file)?;
        board.control(worker).enter_stage(Stage::Probe);
        let alignment = if plan.arm.direct { self.check_alignment(&file)? } else { None };
        let facts = DeviceFacts { direct_alignment_bytes: alignment, ..DeviceFacts::default() };
        let cursor = self.cursor(alignment).beginning_at(self.storage.first_offset(worker));
        match plan.arm.engine {
            Engine::Syscall => self.open_syscall(file, files, cursor, facts, visitor),
            #[cfg(target_os = "linux")]
            Engine::Uring | Engine::UringLinked => {
                let opening = ring::Opening { worker, file, files, cursor, facts };
                self.open_ring(opening, board, clock, visitor)
            }
            #[cfg(not(target_os = "linux"))]
            Engine::Uring | Engine::UringLinked => {
                Err(Fault::of("io_uring_setup", Cause::Errno(38)))
            }
        }
    }
}

impl FileTarget {
    fn cursor(&self, alignment: Option<u64>) -> Cursor {
        let plan = &self.plan;
        let step = match (plan.arm.direct, alignment) {
            (false, _) => 1,
            // Memory needs no more than the file's alignment on any device; without knowledge of
            // either a page satisfies both.
            (true, known) => known.map_or(Arena::ALIGNMENT, |bytes| (bytes as usize).max(512)),
        };
        Cursor::new(plan.block_size_bytes, plan.segment_bytes, self.arena.span(), step)
            .in_pairs_of(plan.writes_per_barrier)
    }

    fn check_alignment(&self, file: &std::fs::File) -> Result<Option<u64>, Fault> {
        let (needed, known) = match direct_alignment(file)? {
            DirectAlignment::Known { offset_bytes, memory_bytes } => {
                (offset_bytes, Some(offset_bytes.max(memory_bytes)))
            }
            DirectAlignment::Unsupported => {
                return Err(Fault::of("open", Cause::DirectUnsupported));
            }
            // Some of those who do not tell (btrfs, tmpfs) take any size, and then through the page
            // cache; no device has sectors below this.
            DirectAlignment::Unknown => (SECTOR_BYTES_MIN, None),
        };
        if !self.plan.block_size_bytes.is_multiple_of(needed) {
            return Err(Fault::of("open", Cause::DirectAlignment { needed }));
        }
        Ok(known)
    }
}

/// A fresh worker always gets a file; this is for the type only.
fn no_file() -> Fault {
    Fault::of("open", Cause::Stopped)
}
