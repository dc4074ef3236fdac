//! Arms of the syscall engine.

use std::fs::File;
use std::marker::PhantomData;

use synctail_sys::{Arena, CallResult, Clock, Place, SyscallFile};

use super::{DeviceFacts, FileTarget, Visitor};
use crate::device::{PairDevice, Segments, SingleDevice};
use crate::loops::{PairLoop, SingleLoop};
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

impl<C, K> SyscallDevice<C, K> {
    fn of_kind<L>(self) -> SyscallDevice<C, L> {
        let SyscallDevice { calls, files, arena, kind: _ } = self;
        SyscallDevice { calls, files, arena, kind: PhantomData }
    }
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
    ) -> V::Output {
        let calls = SyscallFile::new(file, self.arena);
        let device = SyscallDevice { calls, files, arena: self.arena, kind: PhantomData::<fn()> };
        let block_bytes = self.plan.block_size_bytes as usize;
        macro_rules! pair {
            ($kind:ty) => {
                visitor.visit(
                    PairLoop { device: device.of_kind::<$kind>(), cursor, block_bytes },
                    facts,
                )
            };
        }
        macro_rules! single {
            ($kind:ty) => {{
                let device = device.of_kind::<Alone<$kind>>();
                visitor.visit(SingleLoop { device, cursor, block_bytes }, facts)
            }};
        }
        match self.plan.arm.barrier {
            #[cfg(target_os = "linux")]
            Barrier::Fdatasync => pair!(Fdatasync),
            #[cfg(target_os = "linux")]
            Barrier::Dsync => single!(PwriteDsync),
            #[cfg(target_os = "macos")]
            Barrier::FFullfsync => pair!(FullFsync),
            #[cfg(target_os = "macos")]
            Barrier::FBarrierfsync => pair!(BarrierFsync),
            Barrier::Fsync => pair!(Fsync),
            // Open flags make the plain write synchronous; the rest of the arms cannot be named on this
            // system, because `Arm` refuses them.
            _ => single!(Pwrite),
        }
    }
}
