//! A worker's files: made, filled and removed outside the timed region.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use synctail_sys::{Arena, Clock, OpenMode, ReopenedFile, SysError};

use crate::board::{Activity, Stopper};
use crate::{Barrier, Board, Cause, Control, Fault, Layout, Plan, Storage};

/// Makes one file after the other and keeps at most as many as the plan allows.
#[derive(Debug)]
pub struct SegmentFiles<C> {
    storage: Storage,
    arena: Arena,
    mode: OpenMode,
    layout: Layout,
    segment_bytes: u64,
    kept_max: u64,
    kept: VecDeque<OsString>,
    worker: u64,
    made: u64,
    control: Control,
    stop: Stopper,
    clock: C,
}

impl<C: Clock> SegmentFiles<C> {
    /// The files of `worker` in `storage`; none exists yet.
    pub fn new(
        storage: Storage,
        arena: Arena,
        plan: &Plan,
        worker: u64,
        board: Board,
        clock: C,
    ) -> Self {
        SegmentFiles {
            storage,
            arena,
            mode: OpenMode {
                direct: plan.arm.direct,
                dsync: plan.arm.barrier == Barrier::ODsync,
                sync: plan.arm.barrier == Barrier::OSync,
            },
            layout: plan.layout,
            segment_bytes: plan.segment_bytes,
            kept_max: plan.segments_kept,
            kept: VecDeque::new(),
            worker,
            made: 0,
            control: board.control(worker),
            stop: board.stopper(),
            clock,
        }
    }

    /// Files made so far.
    pub fn made(&self) -> u64 {
        self.made
    }

    /// The next file, ready to be written; nothing where the present one is to be written again.
    pub fn next_file(&mut self) -> Result<Option<File>, Fault> {
        if self.layout == Layout::Overwrite && self.made > 0 {
            return Ok(None);
        }
        // The oldest goes first, so that the budget holds at every moment.
        while self.kept.len() as u64 >= self.kept_max {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.during(Activity::Remove, || self.storage.remove(&oldest))?;
        }
        let name = OsString::from(format!("w{:05}-{:06}", self.worker, self.made));
        let file = self.during(Activity::Create, || self.storage.open(&name, self.mode))?;
        self.kept.push_back(name.clone());
        self.made += 1;
        match self.layout {
            Layout::Append => {}
            Layout::Unwritten => {
                let bytes = self.segment_bytes;
                self.during(Activity::Allocate, || self.storage.allocate(&name, &file, bytes))?;
            }
            Layout::Overwrite => self.fill(&name, &file)?,
        }
        Ok(Some(file))
    }

    /// The present file, by another descriptor.
    pub fn open_again(&self) -> Result<File, Fault> {
        let name = self.kept.back().map(OsString::as_os_str).unwrap_or_default();
        self.during(Activity::Create, || self.storage.open_again(name, self.mode))
    }

    /// The present file, to be opened for each call.
    pub fn reopened(&self) -> Result<ReopenedFile, Fault> {
        let name = self.kept.back().map(OsString::as_os_str).unwrap_or_default();
        // A device has one claim and no name to open again; the program refuses to plan this.
        let unsupported = std::io::Error::from(std::io::ErrorKind::Unsupported);
        let no_file = || SysError::new("open", self.storage.shown(name), &unsupported);
        let dir = self.storage.directory().ok_or_else(no_file)?;
        Ok(ReopenedFile::new(Arc::clone(dir), name, self.mode, self.arena)?)
    }

    /// Writes the whole file and syncs it, so that every later write finds written blocks.
    fn fill(&self, name: &OsStr, file: &File) -> Result<(), Fault> {
        let object = self.storage.shown(name);
        let first = self.storage.first_offset(self.worker);
        let data: &[u8] = &self.arena;
        let mut offset = 0;
        while offset < self.segment_bytes {
            if self.stop.is_stopped() {
                return Err(Fault::of("write", Cause::Stopped));
            }
            let length = (self.segment_bytes - offset).min(data.len() as u64) as usize;
            let write = || file.write_all_at(&data[..length], first + offset);
            let failed = |e| SysError::new("write", object.clone(), &e);
            self.during(Activity::Fill, || write().map_err(failed))?;
            offset += length as u64;
        }
        self.during(Activity::FillSync, || self.storage.sync(name, file))
    }

    fn during<T>(
        &self,
        activity: Activity,
        operation: impl FnOnce() -> Result<T, SysError>,
    ) -> Result<T, Fault> {
        Ok(self.control.during(activity, self.clock.ticks(), operation)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeClock;
    use crate::{Arm, BoardSize, Length, RingOptions, SyncFd};
    use std::path::Path;
    use synctail_sys::DirHandle;

    /// Neither a multiple of the block nor of the arena.
    const SEGMENT_BYTES: u64 = (3 << 20) + 1_234;

    fn files(dir: &Path, layout: Layout, kept: u64) -> (SegmentFiles<FakeClock>, Board, Arena) {
        let plan = Plan {
            arm: Arm::DEFAULT,
            block_size_bytes: 512,
            writes_per_barrier: 1,
            sync_fd: SyncFd::Own,
            workers: 4,
            length: Length::Iterations(1),
            warmup: 1,
            layout,
            segment_bytes: SEGMENT_BYTES,
            segments_kept: kept,
            depth: 1,
            ring: RingOptions::default(),
            cpus: vec![None; 4],
            samples_per_worker: 1,
            rate: None,
            seed: 3,
        };
        let size = BoardSize { workers: 4, depth: 1, samples_per_worker: 1 };
        let words = synctail_sys::reserve_words(size.words() as usize).unwrap();
        let (board, arena) = (Board::new(words, size), Arena::new(512, plan.seed));
        let storage = Storage::Directory(Arc::new(DirHandle::open(dir).unwrap()));
        (SegmentFiles::new(storage, arena, &plan, 3, board, FakeClock), board, arena)
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_newest_files_are_kept_and_never_more_than_allowed() {
        for (layout, bytes) in [(Layout::Append, 0), (Layout::Unwritten, SEGMENT_BYTES)] {
            for kept in [1, 3] {
                let dir = tempfile::tempdir().unwrap();
                let (mut files, board, _) = files(dir.path(), layout, kept);
                for made in 1..=6 {
                    let file = files.next_file().unwrap().unwrap();
                    assert_eq!(file.metadata().unwrap().len(), bytes, "{layout:?}");
                    assert_eq!(files.made(), made);
                    let oldest = made.saturating_sub(kept);
                    let expected: Vec<String> =
                        (oldest..made).map(|i| format!("w00003-{i:06}")).collect();
                    assert_eq!(names(dir.path()), expected, "{layout:?}, {kept} kept");
                }
                assert_eq!(board.pending(), []);
            }
        }
    }

    #[test]
    fn the_oldest_file_goes_before_the_next_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let (mut files, ..) = files(dir.path(), Layout::Append, 2);
        files.next_file().unwrap();
        files.next_file().unwrap();
        // The third cannot be made: whether the first is gone by then shows the order.
        std::fs::write(dir.path().join("w00003-000002"), "in the way").unwrap();
        let fault = files.next_file().unwrap_err();
        assert_eq!((fault.operation.as_str(), fault.cause), ("open", Cause::Errno(17)));
        assert_eq!(names(dir.path()), ["w00003-000001", "w00003-000002"]);
        let kept = std::fs::read(dir.path().join("w00003-000002")).unwrap();
        assert_eq!(kept, b"in the way");
    }

    #[test]
    fn a_file_to_be_overwritten_is_filled_once() {
        let dir = tempfile::tempdir().unwrap();
        let (mut files, board, arena) = files(dir.path(), Layout::Overwrite, 1);
        assert!(files.next_file().unwrap().is_some());
        let bytes = std::fs::read(dir.path().join("w00003-000000")).unwrap();
        assert_eq!(bytes.len() as u64, SEGMENT_BYTES);
        let filled = bytes.chunks(arena.len()).all(|chunk| *chunk == arena[..chunk.len()]);
        assert!(filled, "holes or other bytes than the arena's");
        assert!(files.next_file().unwrap().is_none());
        assert!(files.next_file().unwrap().is_none());
        assert_eq!((files.made(), names(dir.path()).len()), (1, 1));
        assert_eq!(board.pending(), []);
    }

    #[test]
    fn a_stop_ends_the_filling() {
        let dir = tempfile::tempdir().unwrap();
        let (mut files, board, _) = files(dir.path(), Layout::Overwrite, 1);
        board.stop();
        assert_eq!(files.next_file().unwrap_err().cause, Cause::Stopped);
        assert_eq!(std::fs::read(dir.path().join("w00003-000000")).unwrap().len(), 0);
    }
}
