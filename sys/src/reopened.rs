//! A file that is opened for its write and for its barrier, and closed after each: calls of the measured loop.

use std::ffi::{CString, OsStr};
use std::os::fd::IntoRawFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use nix::errno::Errno;

use crate::{Arena, CallResult, DirHandle, OpenMode, SysError, SyscallFile};

/// A name in an open directory, opened and closed again and again.
#[derive(Debug)]
pub struct ReopenedFile {
    dir: Arc<DirHandle>,
    name: CString,
    mode: OpenMode,
    arena: Arena,
    opened: Option<SyscallFile>,
}

impl ReopenedFile {
    /// Of `name`, which exists; closed as yet.
    ///
    /// # Errors
    /// EINVAL for a name with a zero in it.
    pub fn new(
        dir: Arc<DirHandle>,
        name: &OsStr,
        mode: OpenMode,
        arena: Arena,
    ) -> Result<ReopenedFile, SysError> {
        let name = CString::new(name.as_bytes())
            .map_err(|_| SysError::of("open", name.to_string_lossy(), Errno::EINVAL))?;
        Ok(ReopenedFile { dir, name, mode, arena, opened: None })
    }

    /// openat(2); what was open before is closed.
    #[inline]
    pub fn open(&mut self) -> CallResult {
        match self.dir.open_existing(&self.name, self.mode) {
            Ok(file) => {
                self.opened = Some(SyscallFile::new(file, self.arena));
                CallResult(0)
            }
            Err(errno) => CallResult(-(errno as i32)),
        }
    }

    /// What `call` returns on the open file; EBADF where it is closed.
    #[inline]
    pub fn with(&self, call: impl FnOnce(&SyscallFile) -> CallResult) -> CallResult {
        self.opened.as_ref().map_or(CallResult(-(Errno::EBADF as i32)), call)
    }

    /// close(2), whose error counts: a server may tell of a lost write there and nowhere else.
    #[inline]
    pub fn close(&mut self) -> CallResult {
        let Some(file) = self.opened.take() else { return CallResult(-(Errno::EBADF as i32)) };
        match nix::unistd::close(file.into_file().into_raw_fd()) {
            Ok(()) => CallResult(0),
            Err(errno) => CallResult(-(errno as i32)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;

    #[test]
    fn the_file_is_written_while_it_is_open_and_never_made() {
        let dir = tempfile::tempdir().unwrap();
        let handle = Arc::new(DirHandle::open(dir.path()).unwrap());
        let arena = Arena::new(512, 1);
        let of = |name: &str| {
            let handle = Arc::clone(&handle);
            ReopenedFile::new(handle, OsStr::new(name), OpenMode::default(), arena).unwrap()
        };
        assert_eq!(of("none").open().errno(), Some(libc::ENOENT));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        std::fs::write(dir.path().join("a"), "").unwrap();
        let mut file = of("a");
        let write = |file: &SyscallFile| file.pwrite(Place { offset: 0, data: 7 });
        assert_eq!(file.with(write).errno(), Some(libc::EBADF));
        assert_eq!(file.close().errno(), Some(libc::EBADF));
        assert!(file.open().is_success() && file.with(write).is_full(512));
        assert!(file.close().is_success());
        assert_eq!(std::fs::read(dir.path().join("a")).unwrap(), arena.block(7));
        assert!(file.open().is_success() && file.with(SyscallFile::fsync).is_success());
    }
}
