//! The work directory, its files, and what the filesystem says of its space.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag, open, openat};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::SysError;

/// Flags of open(2) that belong to the measured arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenMode {
    /// O_DIRECT.
    pub direct: bool,
    /// O_DSYNC.
    pub dsync: bool,
    /// O_SYNC.
    pub sync: bool,
}

impl OpenMode {
    fn flags(self) -> OFlag {
        let mut flags = OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_WRONLY;
        flags |= OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
        #[cfg(target_os = "linux")]
        flags.set(OFlag::O_DIRECT, self.direct);
        // O_SYNC contains O_DSYNC: clearing the one would clear the other, so both are only added.
        if self.dsync {
            flags |= OFlag::O_DSYNC;
        }
        if self.sync {
            flags |= OFlag::O_SYNC;
        }
        flags
    }
}

/// An open directory in which files are made and removed by name, whatever happens to its path.
#[derive(Debug)]
pub struct WorkDir {
    path: PathBuf,
    handle: OwnedFd,
}

impl WorkDir {
    /// Opens an existing directory; a symbolic link is refused.
    pub fn open(path: &Path) -> Result<WorkDir, SysError> {
        let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_RDONLY | OFlag::O_CLOEXEC;
        let handle = open(path, flags, Mode::empty());
        let handle = handle.map_err(|e| SysError::of("open", path.to_string_lossy(), e))?;
        Ok(WorkDir { path: path.to_owned(), handle })
    }

    /// Where it was when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn error(&self, operation: &'static str, name: &OsStr, errno: Errno) -> SysError {
        SysError::of(operation, self.path.join(name).to_string_lossy(), errno)
    }

    /// Creates a file that must not exist yet, readable by its owner only.
    pub fn create(&self, name: &OsStr, mode: OpenMode) -> Result<File, SysError> {
        let permissions = Mode::S_IRUSR | Mode::S_IWUSR;
        let file = openat(&self.handle, name, mode.flags(), permissions);
        file.map(File::from).map_err(|errno| self.error("open", name, errno))
    }

    /// Allocates the first `bytes` of a file without writing them.
    pub fn allocate(&self, name: &OsStr, file: &impl AsFd, bytes: u64) -> Result<(), SysError> {
        let failed = |errno| self.error("fallocate", name, errno);
        let length = i64::try_from(bytes).map_err(|_| failed(Errno::EFBIG))?;
        #[cfg(target_os = "linux")]
        {
            use nix::fcntl::{FallocateFlags, fallocate};
            fallocate(file, FallocateFlags::empty(), 0, length).map_err(failed)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (file, length);
            Err(failed(Errno::ENOTSUP))
        }
    }

    /// fsync(2), once: an interrupted or failed one is an error, not a reason to try again.
    pub fn sync(&self, name: &OsStr, file: &impl AsFd) -> Result<(), SysError> {
        nix::unistd::fsync(file).map_err(|errno| self.error("fsync", name, errno))
    }

    /// Removes a file; one that is already gone is no error.
    pub fn remove(&self, name: &OsStr) -> Result<(), SysError> {
        match unlinkat(&self.handle, name, UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(errno) => Err(self.error("unlink", name, errno)),
        }
    }
}

/// Takes the exclusive lock of an open file without waiting; nothing if somebody else holds it. The
/// lock ends with the value, or with the process.
pub fn lock_exclusive(file: File) -> Option<Flock<File>> {
    Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()
}

/// Type magic of the filesystem that holds `path`, and the bytes that this user may still write there:
/// nothing where the filesystem counts no blocks at all, as ramfs and a tmpfs without a limit do.
#[cfg(target_os = "linux")]
pub fn filesystem_stats(path: &Path) -> Result<(u64, Option<u64>), SysError> {
    let stats = nix::sys::statfs::statfs(path);
    let stats = stats.map_err(|errno| SysError::of("statfs", path.to_string_lossy(), errno))?;
    // The magic is a 32-bit pattern in a signed word.
    let magic = (stats.filesystem_type().0 as u64) & u64::from(u32::MAX);
    let unit = u64::try_from(stats.block_size()).unwrap_or(0);
    let counted = stats.blocks() > 0;
    Ok((magic, counted.then(|| stats.blocks_available().saturating_mul(unit))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_file_is_never_opened() {
        let dir = tempfile::tempdir().unwrap();
        let work = WorkDir::open(dir.path()).unwrap();
        std::fs::write(dir.path().join("a"), "keep").unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("b")).unwrap();
        for name in ["a", "b"] {
            let error = work.create(OsStr::new(name), OpenMode::default()).unwrap_err();
            assert_eq!(error.errno, libc::EEXIST);
        }
        assert_eq!(std::fs::read(dir.path().join("a")).unwrap(), b"keep");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        assert!(WorkDir::open(&link).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_is_opened_with_exactly_the_flags_of_its_arm() {
        use nix::fcntl::{FcntlArg, fcntl};
        let dir = tempfile::tempdir().unwrap();
        let work = WorkDir::open(dir.path()).unwrap();
        let mode = |dsync, sync| OpenMode { direct: false, dsync, sync };
        let cases = [
            ("plain", mode(false, false), OFlag::empty()),
            ("dsync", mode(true, false), OFlag::O_DSYNC),
            ("sync", mode(false, true), OFlag::O_SYNC),
        ];
        for (name, mode, expected) in cases {
            let file = work.create(OsStr::new(name), mode).unwrap();
            let flags = OFlag::from_bits_retain(fcntl(&file, FcntlArg::F_GETFL).unwrap());
            assert_eq!(flags & OFlag::O_SYNC, expected, "{name}");
        }
    }

    #[test]
    fn files_are_made_and_removed_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let work = WorkDir::open(dir.path()).unwrap();
        let name = OsStr::new("w0");
        let file = work.create(name, OpenMode { dsync: true, ..OpenMode::default() }).unwrap();
        #[cfg(target_os = "linux")]
        {
            work.allocate(name, &file, 12_345).unwrap();
            assert_eq!(file.metadata().unwrap().len(), 12_345);
        }
        drop(file);
        work.remove(name).unwrap();
        work.remove(name).unwrap();
        assert!(!dir.path().join("w0").exists());
    }

    #[test]
    fn a_held_lock_is_not_given_twice() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = lock_exclusive(File::create(&path).unwrap());
        assert!(held.is_some());
        assert!(lock_exclusive(File::open(&path).unwrap()).is_none());
        drop(held);
        assert!(lock_exclusive(File::open(&path).unwrap()).is_some());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn space_is_known() {
        let (magic, free) = filesystem_stats(Path::new("/")).unwrap();
        assert!(magic != 0 && free.unwrap() > 0);
        assert_eq!(filesystem_stats(Path::new("/proc")).unwrap().1, None);
    }
}
