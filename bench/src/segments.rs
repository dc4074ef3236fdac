//! A worker's files: made, filled and removed outside the timed region.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use synctail_sys::{Arena, Clock, OpenMode, SysError, WorkDir};

use crate::board::{Activity, Stopper};
use crate::{Barrier, Board, Cause, Control, Fault, Layout, Plan};

/// Makes one file after the other and keeps at most as many as the plan allows.
#[derive(Debug)]
pub struct SegmentFiles<C> {
    dir: Arc<WorkDir>,
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
    /// The files of `worker` in `dir`; none exists yet.
    pub fn new(
        dir: Arc<WorkDir>,
        arena: Arena,
        plan: &Plan,
        worker: u64,
        board: Board,
        clock: C,
    ) -> Self {
        SegmentFiles {
            dir,
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
            self.during(Activity::Remove, || self.dir.remove(&oldest))?;
        }
        let name = OsString::from(format!("w{:05}-{:06}", self.worker, self.made));
        let file = self.during(Activity::Create, || self.dir.create(&name, self.mode))?;
        self.kept.push_back(name.clone());
        self.made += 1;
        match self.layout {
            Layout::Append => {}
            Layout::Unwritten => {
                let bytes = self.segment_bytes;
                self.during(Activity::Allocate, || self.dir.allocate(&name, &file, bytes))?;
            }
            Layout::Overwrite => self.fill(&name, &file)?,
        }
        Ok(Some(file))
    }

    /// Writes the whole file and syncs it, so that every later write finds written blocks.
    fn fill(&self, name: &OsStr, file: &File) -> Result<(), Fault> {
        let object = self.dir.path().join(name).to_string_lossy().into_owned();
        let data: &[u8] = &self.arena;
        let mut offset = 0;
        while offset < self.segment_bytes {
            if self.stop.is_stopped() {
                return Err(Fault::of("write", Cause::Stopped));
            }
            let length = (self.segment_bytes - offset).min(data.len() as u64) as usize;
            let write = || file.write_all_at(&data[..length], offset);
            let failed = |e| SysError::new("write", object.clone(), &e);
            self.during(Activity::Fill, || write().map_err(failed))?;
            offset += length as u64;
        }
        let failed = |e| SysError::new("fsync", object.clone(), &e);
        self.during(Activity::FillSync, || file.sync_all().map_err(failed))
    }

    fn during<T>(
        &self,
        activity: Activity,
        operation: impl FnOnce() -> Result<T, SysError>,
    ) -> Result<T, Fault> {
        Ok(self.control.during(activity, self.clock.ticks(), operation)?)
    }
}
