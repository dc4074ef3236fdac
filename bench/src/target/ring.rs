//! Arms of the ring engines.

use std::fs::File;

use synctail_sys::{CallResult, Clock, Completion, Place, Ring, RingSetup, SysError};

use super::{DeviceFacts, FileTarget, Visitor};
use crate::board::Activity;
use crate::device::{RingDevice, Segments};
use crate::loops::{Chain, RingLoop};
use crate::segments::SegmentFiles;
use crate::{Board, Cursor, Engine, Fault, Iowq};

/// What a worker has when its ring is to be made.
pub(super) struct Opening<C> {
    pub worker: u64,
    pub file: File,
    pub files: SegmentFiles<C>,
    pub cursor: Cursor,
    pub facts: DeviceFacts,
}

impl FileTarget {
    fn ring_setup(&self, worker: u64) -> RingSetup {
        let own = self.plan.cpus.get(worker as usize).copied().flatten();
        let iowq_cpus = match self.plan.ring.iowq {
            None => Vec::new(),
            Some(Iowq::Any) => self.allowed_cpus.clone(),
            Some(Iowq::Same) => own.map_or_else(|| self.allowed_cpus.clone(), |cpu| vec![cpu]),
            Some(Iowq::Other) => {
                self.allowed_cpus.iter().copied().filter(|cpu| Some(*cpu) != own).collect()
            }
        };
        RingSetup {
            depth: self.plan.depth as u32,
            sqpoll: self.plan.ring.sqpoll,
            registered: self.plan.ring.registered,
            iowq_cpus,
        }
    }

    pub(super) fn open_ring<C: Clock, V: Visitor>(
        &self,
        opening: Opening<C>,
        board: Board,
        clock: &C,
        visitor: V,
    ) -> Result<V::Output, Fault> {
        let Opening { worker, file, files, cursor, facts } = opening;
        let plan = &self.plan;
        let setup = self.ring_setup(worker);
        let control = board.control(worker);
        let ring =
            control.during(Activity::RingSetup, clock.ticks(), || Ring::new(setup, self.arena));
        let mut device = RingFile { ring: ring?, files };
        device.ring.use_file(file)?;
        let chain = Chain::of(plan.arm);
        let depth = plan.depth as u32;
        let quiet_writes = device.ring.can_skip_completions()
            && depth > 1
            && plan.arm.engine == Engine::UringLinked;
        let flags = device.ring.flags().iter().map(|&flag| flag.to_owned()).collect();
        let facts = DeviceFacts { ring_flags: Some(flags), quiet_writes, ..facts };
        let block_bytes = plan.block_size_bytes as usize;
        let measure = RingLoop::new(device, cursor, block_bytes, chain, depth, quiet_writes);
        Ok(visitor.visit(measure, facts))
    }
}

/// A file written through a ring.
struct RingFile<C> {
    ring: Ring,
    files: SegmentFiles<C>,
}

impl<C: Clock> RingDevice for RingFile<C> {
    #[inline(always)]
    fn push_write(&mut self, slot: u32, place: Place, dsync: bool, link: bool, quiet: bool) {
        self.ring.push_write(slot, place, dsync, link, quiet);
    }

    #[inline(always)]
    fn push_barrier(&mut self, slot: u32, datasync: bool) {
        self.ring.push_barrier(slot, datasync);
    }

    #[inline(always)]
    fn enter(&mut self, wanted: u32) -> CallResult {
        self.ring.enter(wanted)
    }

    #[inline(always)]
    fn enter_for(&mut self, wanted: u32, patience_ns: u64) -> CallResult {
        self.ring.enter_for(wanted, patience_ns)
    }

    #[inline(always)]
    fn ready(&mut self) -> u32 {
        self.ring.ready()
    }

    #[inline(always)]
    fn take(&mut self) -> Option<Completion> {
        self.ring.take()
    }

    fn enters(&self) -> u64 {
        self.ring.enters()
    }
}

impl<C: Clock> Segments for RingFile<C> {
    fn next_segment(&mut self) -> Result<(), Fault> {
        if let Some(file) = self.files.next_file()? {
            self.ring.use_file(file).map_err(|e: SysError| Fault::from(e))?;
        }
        Ok(())
    }

    fn segments(&self) -> u64 {
        self.files.made()
    }
}
