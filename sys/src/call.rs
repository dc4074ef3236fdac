//! System calls of the measured loop: made once, neither retried nor interpreted.

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};

use crate::{Arena, Place};

/// What a call or completion returned: bytes or 0, or a negated errno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallResult(pub i32);

impl CallResult {
    /// The errno, if it failed.
    pub fn errno(self) -> Option<i32> {
        (self.0 < 0).then(|| self.0.saturating_neg())
    }

    /// Whether exactly `bytes` were transferred.
    #[inline]
    pub fn is_full(self, bytes: usize) -> bool {
        self.0 >= 0 && self.0 as usize == bytes
    }

    /// Whether a call without a count succeeded.
    #[inline]
    pub fn is_success(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(crate) fn from_return(value: isize) -> CallResult {
        if value >= 0 {
            // One write is at most 256 MiB, checked by the plan.
            CallResult(i32::try_from(value).unwrap_or(i32::MAX))
        } else {
            CallResult(-nix::errno::Errno::last_raw())
        }
    }
}

/// One open file and the data to write to it.
#[derive(Debug)]
pub struct SyscallFile {
    file: File,
    arena: Arena,
}

impl SyscallFile {
    /// Owns `file`; writes blocks of `arena`.
    pub fn new(file: File, arena: Arena) -> SyscallFile {
        SyscallFile { file, arena }
    }

    pub(crate) fn into_file(self) -> File {
        self.file
    }

    fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// pwrite(2) of one block.
    #[inline]
    pub fn pwrite(&self, place: Place) -> CallResult {
        let block = self.arena.block(place.data);
        let offset = place.offset as libc::off_t;
        // SAFETY: the descriptor is open as long as `self.file`; `block` is a live slice and its own
        // length is passed.
        let value = unsafe { libc::pwrite(self.fd(), block.as_ptr().cast(), block.len(), offset) };
        CallResult::from_return(value)
    }

    /// pwritev2(2) with RWF_DSYNC: write and barrier in one call.
    #[cfg(target_os = "linux")]
    #[inline]
    pub fn pwrite_dsync(&self, place: Place) -> CallResult {
        let block = self.arena.block(place.data);
        let io = libc::iovec { iov_base: block.as_ptr().cast_mut().cast(), iov_len: block.len() };
        let offset = place.offset as libc::off_t;
        // SAFETY: the descriptor is open; the one iovec and the block it names live over the call, and
        // a write never stores through `iov_base`.
        let value = unsafe { libc::pwritev2(self.fd(), &raw const io, 1, offset, libc::RWF_DSYNC) };
        CallResult::from_return(value)
    }

    /// fdatasync(2) through libc, as a service would call it: a preloaded library is seen, not evaded.
    #[cfg(target_os = "linux")]
    #[inline]
    pub fn fdatasync(&self) -> CallResult {
        // SAFETY: takes a descriptor, which is open as long as `self.file`, and no memory.
        CallResult::from_return(unsafe { libc::fdatasync(self.fd()) } as isize)
    }

    /// fdatasync(2) past the C library: what a preloaded library cannot reach.
    #[cfg(target_os = "linux")]
    #[inline]
    pub fn fdatasync_raw(&self) -> CallResult {
        // SAFETY: takes a descriptor, which is open as long as `self.file`, and no memory.
        CallResult::from_return(unsafe { libc::syscall(libc::SYS_fdatasync, self.fd()) } as isize)
    }

    /// fsync(2) through libc.
    #[inline]
    pub fn fsync(&self) -> CallResult {
        // SAFETY: takes a descriptor, which is open as long as `self.file`, and no memory.
        CallResult::from_return(unsafe { libc::fsync(self.fd()) } as isize)
    }

    /// fcntl(F_FULLFSYNC): the drive's cache is flushed too.
    #[cfg(target_os = "macos")]
    #[inline]
    pub fn full_fsync(&self) -> CallResult {
        crate::darwin::full_fsync(self.fd())
    }

    /// fcntl(F_BARRIERFSYNC): ordered, not durable.
    #[cfg(target_os = "macos")]
    #[inline]
    pub fn barrier_fsync(&self) -> CallResult {
        crate::darwin::barrier_fsync(self.fd())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn the_calls_return_what_the_kernel_says() {
        let mut file = tempfile::tempfile().unwrap();
        let arena = Arena::new(512, 1);
        let target = SyscallFile::new(file.try_clone().unwrap(), arena);
        assert!(target.pwrite(Place { offset: 0, data: 3 }).is_full(512));
        assert!(target.fsync().is_success());
        #[cfg(target_os = "linux")]
        {
            assert!(target.pwrite_dsync(Place { offset: 512, data: 9 }).is_full(512));
            assert!(target.fdatasync().is_success());
            let mut written = Vec::new();
            file.read_to_end(&mut written).unwrap();
            assert_eq!(written, [arena.block(3), arena.block(9)].concat());
        }
    }

    #[test]
    fn a_refused_call_carries_its_errno() {
        let read_only = File::open("/proc/self/exe").unwrap();
        let target = SyscallFile::new(read_only, Arena::new(16, 1));
        let result = target.pwrite(Place { offset: 0, data: 0 });
        assert_eq!(result.errno(), Some(libc::EBADF));
        assert!(
            !result.is_full(16) && !CallResult(8).is_full(16) && CallResult(8).errno().is_none()
        );
    }
}
