//! Arms of the syscall engine.

use std::fs::File;
use std::marker::PhantomData;

use synctail_sys::{Arena, CallResult, Clock, Place, SyscallFile};

use super::{DeviceFacts, FileTarget, Visitor};
use crate::device::{PairDevice, Segments, SingleDevice};
use crate::loops::{ManyWrites, OneWrite, PairLoop, SingleLoop};
use crate::segments::SegmentFiles;
use crate::{Barrier, Cursor, Fault};

/// A system call as a type, so that a loop calls it without a branch.
pub trait BarrierCall {
    /// Name for a fault.
    const NAME: &'static str;
    /// Makes the call.
    fn call(file: &SyscallFile) -> CallResult;
}

/// A synchronous or plain write as a type.
pub trait WriteCall {
    /// Name for a fault.
    const NAME: &'static str;
    /// Makes the call.
    fn call(file: &SyscallFile, place: Place) -> CallResult;
}

macro_rules! barrier_call {
    ($(#[$attribute:meta])* $type:ident, $name:literal, $method:ident) => {
        $(#[$attribute])*
        struct $type;
        $(#[$attribute])*
        impl BarrierCall for $type {
            const NAME: &'static str = $name;
            #[inline(always)]
            fn call(file: &SyscallFile) -> CallResult {
                file.$method()
            }
        }
    };
}

barrier_call!(
    #[cfg(target_os = "linux")]
    Fdatasync,
    "fdatasync",
    fdatasync
);
barrier_call!(Fsync, "fsync", fsync);
barrier_call!(
    #[cfg(target_os = "macos")]
    FullFsync,
    "fcntl F_FULLFSYNC",
    full_fsync
);
barrier_call!(
    #[cfg(target_os = "macos")]
    BarrierFsync,
    "fcntl F_BARRIERFSYNC",
    barrier_fsync
);

struct Pwrite;
impl WriteCall for Pwrite {
    const NAME: &'static str = "pwrite";
    #[inline(always)]
    fn call(file: &SyscallFile, place: Place) -> CallResult {
        file.pwrite(place)
    }
}

#[cfg(target_os = "linux")]
struct PwriteDsync;
#[cfg(target_os = "linux")]
impl WriteCall for PwriteDsync {
    const NAME: &'static str = "pwritev2";
    #[inline(always)]
    fn call(file: &SyscallFile, place: Place) -> CallResult {
        file.pwrite_dsync(place)
    }
}

/// A file written by system calls; `K` says by which.
#[derive(Debug)]
struct SyscallDevice<C, K> {
    calls: SyscallFile,
    files: SegmentFiles<C>,
    arena: Arena,
    kind: PhantomData<K>,
}

/// What a loop is made of, whatever the arm.
pub(super) struct Opening<C> {
    pub file: File,
    pub files: SegmentFiles<C>,
    pub cursor: Cursor,
    pub facts: DeviceFacts,
}

impl<C: Clock, B: BarrierCall> PairDevice for SyscallDevice<C, B> {
    const WRITE: &'static str = "pwrite";
    const BARRIER: &'static str = B::NAME;

    #[inline(always)]
    fn write(&mut self, place: Place) -> CallResult {
        self.calls.pwrite(place)
    }

    #[inline(always)]
    fn barrier(&mut self) -> CallResult {
        B::call(&self.calls)
    }
}

/// Marks a device whose one call is the whole pair.
struct Alone<W>(PhantomData<W>);

impl<C: Clock, W: WriteCall> SingleDevice for SyscallDevice<C, Alone<W>> {
    const WRITE: &'static str = W::NAME;

    #[inline(always)]
    fn write(&mut self, place: Place) -> CallResult {
        W::call(&self.calls, place)
    }
}

impl<C: Clock, K> Segments for SyscallDevice<C, K> {
    fn next_segment(&mut self) -> Result<(), Fault> {
        if let Some(file) = self.files.next_file()? {
            self.calls = SyscallFile::new(file, self.arena);
        }
        Ok(())
    }

    fn segments(&self) -> u64 {
        self.files.made()
    }
}

impl FileTarget {
    pub(super) fn open_syscall<C: Clock, V: Visitor>(
        &self,
        file: File,
        files: SegmentFiles<C>,
        cursor: Cursor,
        facts: DeviceFacts,
        visitor: V,
    ) -> Result<V::Output, Fault> {
        let opening = Opening { file, files, cursor, facts };
        match self.plan.arm.barrier {
            #[cfg(target_os = "linux")]
            Barrier::Fdatasync => self.open_pair::<C, Fdatasync, V>(opening, visitor),
            #[cfg(target_os = "linux")]
            Barrier::Dsync => Ok(self.open_single::<C, PwriteDsync, V>(opening, visitor)),
            #[cfg(target_os = "macos")]
            Barrier::FFullfsync => self.open_pair::<C, FullFsync, V>(opening, visitor),
            #[cfg(target_os = "macos")]
            Barrier::FBarrierfsync => self.open_pair::<C, BarrierFsync, V>(opening, visitor),
            Barrier::Fsync => self.open_pair::<C, Fsync, V>(opening, visitor),
            // Open flags make the plain write synchronous; the rest of the arms cannot be named on this
            // system, because `Arm` refuses them.
            _ => Ok(self.open_single::<C, Pwrite, V>(opening, visitor)),
        }
    }

    fn open_pair<C: Clock, B: BarrierCall, V: Visitor>(
        &self,
        opening: Opening<C>,
        visitor: V,
    ) -> Result<V::Output, Fault> {
        if !self.plan.sync_fd.is_own() {
            return self.open_other_fd::<C, B, V>(opening, visitor);
        }
        let device = self.device::<C, B>(opening.file, opening.files);
        let (cursor, facts) = (opening.cursor, opening.facts);
        let block_bytes = self.plan.block_size_bytes as usize;
        Ok(match self.plan.writes_per_barrier {
            1 => {
                let writes = OneWrite::default();
                visitor.visit(PairLoop { device, cursor, block_bytes, writes }, facts)
            }
            count => {
                let writes = ManyWrites::of(count);
                visitor.visit(PairLoop { device, cursor, block_bytes, writes }, facts)
            }
        })
    }

    fn open_single<C: Clock, W: WriteCall, V: Visitor>(
        &self,
        opening: Opening<C>,
        visitor: V,
    ) -> V::Output {
        let device = self.device::<C, Alone<W>>(opening.file, opening.files);
        let (cursor, facts) = (opening.cursor, opening.facts);
        let block_bytes = self.plan.block_size_bytes as usize;
        match self.plan.writes_per_barrier {
            1 => {
                let writes = OneWrite::default();
                visitor.visit(SingleLoop { device, cursor, block_bytes, writes }, facts)
            }
            count => {
                let writes = ManyWrites::of(count);
                visitor.visit(SingleLoop { device, cursor, block_bytes, writes }, facts)
            }
        }
    }

    fn device<C, K>(&self, file: File, files: SegmentFiles<C>) -> SyscallDevice<C, K> {
        let calls = SyscallFile::new(file, self.arena);
        SyscallDevice { calls, files, arena: self.arena, kind: PhantomData }
    }
}
