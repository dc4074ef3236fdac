//! Arms whose barrier is called by another descriptor than the write's.

use std::marker::PhantomData;

use synctail_sys::{Arena, CallResult, Clock, Place, ReopenedFile, SyscallFile};

use super::syscall::{BarrierCall, Opening};
use super::{FileTarget, Visitor};
use crate::device::{PairDevice, Segments};
use crate::loops::{OneWrite, PairLoop};
use crate::segments::SegmentFiles;
use crate::{Fault, SyncFd};

/// Two descriptors of one file, both open throughout.
struct TwoDescriptors<C, B> {
    writes: SyscallFile,
    barriers: SyscallFile,
    files: SegmentFiles<C>,
    arena: Arena,
    barrier: PhantomData<B>,
}

impl<C: Clock, B: BarrierCall> PairDevice for TwoDescriptors<C, B> {
    const WRITE: &'static str = "pwrite";
    const BARRIER: &'static str = B::NAME;

    #[inline(always)]
    fn write(&mut self, place: Place) -> CallResult {
        self.writes.pwrite(place)
    }

    #[inline(always)]
    fn barrier(&mut self) -> CallResult {
        B::call(&self.barriers)
    }
}

impl<C: Clock, B> Segments for TwoDescriptors<C, B> {
    fn next_segment(&mut self) -> Result<(), Fault> {
        if let Some(file) = self.files.next_file()? {
            self.writes = SyscallFile::new(file, self.arena);
            self.barriers = SyscallFile::new(self.files.open_again()?, self.arena);
        }
        Ok(())
    }

    fn segments(&self) -> u64 {
        self.files.made()
    }
}

/// When the descriptor of the write is closed, as a type.
trait Closing {
    /// Names of all that is called before the middle of the pair, and after it.
    const NAMES: [&'static str; 2];
    fn write(file: &mut ReopenedFile, place: Place) -> CallResult;
    fn barrier<B: BarrierCall>(file: &mut ReopenedFile) -> CallResult;
}

/// Open, write, close; open, barrier, close.
struct AfterClose;

impl Closing for AfterClose {
    const NAMES: [&'static str; 2] = ["open, pwrite or close", "open, sync or close"];

    #[inline(always)]
    fn write(file: &mut ReopenedFile, place: Place) -> CallResult {
        let opened = file.open();
        if !opened.is_success() {
            return opened;
        }
        let written = file.with(|file| file.pwrite(place));
        let closed = file.close();
        if closed.is_success() { written } else { closed }
    }

    #[inline(always)]
    fn barrier<B: BarrierCall>(file: &mut ReopenedFile) -> CallResult {
        let opened = file.open();
        if !opened.is_success() {
            return opened;
        }
        let flushed = file.with(B::call);
        let closed = file.close();
        if flushed.is_success() { closed } else { flushed }
    }
}

/// Open, write; barrier, close, open, close.
struct BeforeClose;

impl Closing for BeforeClose {
    const NAMES: [&'static str; 2] = ["open or pwrite", "sync, close or open"];

    #[inline(always)]
    fn write(file: &mut ReopenedFile, place: Place) -> CallResult {
        let opened = file.open();
        if opened.is_success() { file.with(|file| file.pwrite(place)) } else { opened }
    }

    #[inline(always)]
    fn barrier<B: BarrierCall>(file: &mut ReopenedFile) -> CallResult {
        let flushed = file.with(B::call);
        let closed = file.close();
        let opened = file.open();
        let closed_again = file.close();
        let all = [flushed, closed, opened, closed_again];
        all.into_iter().find(|result| !result.is_success()).unwrap_or(flushed)
    }
}

/// A file that is opened anew for each pair.
struct Reopened<C, B, O> {
    file: ReopenedFile,
    files: SegmentFiles<C>,
    calls: PhantomData<(B, O)>,
}

impl<C: Clock, B: BarrierCall, O: Closing> PairDevice for Reopened<C, B, O> {
    const WRITE: &'static str = O::NAMES[0];
    const BARRIER: &'static str = O::NAMES[1];

    #[inline(always)]
    fn write(&mut self, place: Place) -> CallResult {
        O::write(&mut self.file, place)
    }

    #[inline(always)]
    fn barrier(&mut self) -> CallResult {
        O::barrier::<B>(&mut self.file)
    }
}

impl<C: Clock, B, O> Segments for Reopened<C, B, O> {
    fn next_segment(&mut self) -> Result<(), Fault> {
        if self.files.next_file()?.is_some() {
            self.file = self.files.reopened()?;
        }
        Ok(())
    }

    fn segments(&self) -> u64 {
        self.files.made()
    }
}

impl FileTarget {
    pub(super) fn open_other_fd<C: Clock, B: BarrierCall, V: Visitor>(
        &self,
        opening: Opening<C>,
        visitor: V,
    ) -> Result<V::Output, Fault> {
        match self.plan.sync_fd {
            SyncFd::Own | SyncFd::Other => {
                let barriers = SyscallFile::new(opening.files.open_again()?, self.arena);
                let Opening { file, files, cursor, facts } = opening;
                let (writes, arena) = (SyscallFile::new(file, self.arena), self.arena);
                let device =
                    TwoDescriptors { writes, barriers, files, arena, barrier: PhantomData::<B> };
                Ok(visitor.visit(self.one_write(device, cursor), facts))
            }
            SyncFd::AfterClose => self.open_reopened::<C, B, AfterClose, V>(opening, visitor),
            SyncFd::BeforeClose => self.open_reopened::<C, B, BeforeClose, V>(opening, visitor),
        }
    }

    fn open_reopened<C: Clock, B: BarrierCall, O: Closing, V: Visitor>(
        &self,
        opening: Opening<C>,
        visitor: V,
    ) -> Result<V::Output, Fault> {
        let file = opening.files.reopened()?;
        let Opening { file: made, files, cursor, facts } = opening;
        drop(made);
        let device = Reopened { file, files, calls: PhantomData::<(B, O)> };
        Ok(visitor.visit(self.one_write(device, cursor), facts))
    }

    fn one_write<D>(&self, device: D, cursor: crate::Cursor) -> PairLoop<D, OneWrite> {
        let block_bytes = self.plan.block_size_bytes as usize;
        PairLoop { device, cursor, block_bytes, writes: OneWrite::default() }
    }
}
