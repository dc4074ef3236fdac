//! A directory held open: what is made and removed in it is reached by handle, never by path.

use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, renameat};
use nix::sys::stat::{Mode, fstat, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::{OpenMode, SysError};

const FLAGS: OFlag =
    OFlag::O_DIRECTORY.union(OFlag::O_NOFOLLOW).union(OFlag::O_RDONLY).union(OFlag::O_CLOEXEC);

/// An open directory; it stays the same one, whatever happens to its path.
#[derive(Debug)]
pub struct DirHandle {
    path: PathBuf,
    handle: OwnedFd,
}

impl DirHandle {
    /// Opens an existing directory; a symbolic link is refused.
    pub fn open(path: &Path) -> Result<DirHandle, SysError> {
        let handle = open(path, FLAGS, Mode::empty());
        let handle = handle.map_err(|e| SysError::of("open", path.to_string_lossy(), e))?;
        Ok(DirHandle { path: path.to_owned(), handle })
    }

    /// Opens a directory in this one; a symbolic link is refused.
    pub fn open_dir(&self, name: &OsStr) -> Result<DirHandle, SysError> {
        let handle = openat(&self.handle, name, FLAGS, Mode::empty());
        let handle = handle.map_err(|errno| self.error("open", name, errno))?;
        Ok(DirHandle { path: self.path.join(name), handle })
    }

    /// Where it was when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The last part of that path.
    pub fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    fn error(&self, operation: &'static str, name: &OsStr, errno: Errno) -> SysError {
        SysError::of(operation, self.path.join(name).to_string_lossy(), errno)
    }

    /// What is in it, in no order.
    pub fn names(&self) -> Result<Vec<OsString>, SysError> {
        let failed = |errno| self.error("readdir", OsStr::new(""), errno);
        let mut dir = Dir::openat(&self.handle, ".", FLAGS, Mode::empty()).map_err(failed)?;
        let mut names = Vec::new();
        for entry in dir.iter() {
            let bytes = entry.map_err(failed)?.file_name().to_bytes().to_vec();
            if bytes != b"." && bytes != b".." {
                names.push(OsString::from_vec(bytes));
            }
        }
        Ok(names)
    }

    /// Makes a directory that only its owner may enter, and opens it.
    pub fn make_dir(&self, name: &OsStr) -> Result<DirHandle, SysError> {
        let made = mkdirat(&self.handle, name, Mode::S_IRWXU);
        made.map_err(|e| SysError::of("mkdir", self.path.to_string_lossy(), e))?;
        self.open_dir(name).inspect_err(|_| {
            // The name is ours since a moment; where it cannot be opened it must not stay either.
            let _ = unlinkat(&self.handle, name, UnlinkatFlags::RemoveDir);
        })
    }

    /// Creates a file that must not exist yet, readable by its owner only.
    pub fn create(&self, name: &OsStr, mode: OpenMode) -> Result<File, SysError> {
        let permissions = Mode::S_IRUSR | Mode::S_IWUSR;
        let file = openat(&self.handle, name, mode.flags(), permissions);
        file.map(File::from).map_err(|errno| self.error("open", name, errno))
    }

    /// Opens a file that is there to write to it: a call of the measured loop, without a word on an error.
    #[inline]
    pub(crate) fn open_existing(&self, name: &CStr, mode: OpenMode) -> Result<File, Errno> {
        let flags = OFlag::O_WRONLY | OFlag::O_NOFOLLOW | mode.of_existing();
        openat(&self.handle, name, flags, Mode::empty()).map(File::from)
    }

    /// Opens a file that is there to write to it.
    pub fn open_again(&self, name: &OsStr, mode: OpenMode) -> Result<File, SysError> {
        let flags = OFlag::O_WRONLY | OFlag::O_NOFOLLOW | mode.of_existing();
        let file = openat(&self.handle, name, flags, Mode::empty());
        file.map(File::from).map_err(|errno| self.error("open", name, errno))
    }

    /// Opens a file to read; neither a link is followed nor the other end of a pipe waited for.
    pub fn read(&self, name: &OsStr) -> Result<File, SysError> {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let file = openat(&self.handle, name, flags, Mode::empty());
        file.map(File::from).map_err(|errno| self.error("open", name, errno))
    }

    /// Gives a file another name.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> Result<(), SysError> {
        let done = renameat(&self.handle, from, &self.handle, to);
        done.map_err(|errno| self.error("rename", from, errno))
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

    /// Removes an empty directory that was opened from here, unless something else has its name now.
    pub fn remove_dir(&self, dir: &DirHandle) -> Result<(), SysError> {
        let failed = |errno| self.error("rmdir", dir.name(), errno);
        let here =
            fstatat(&self.handle, dir.name(), AtFlags::AT_SYMLINK_NOFOLLOW).map_err(failed)?;
        let held = fstat(&dir.handle).map_err(failed)?;
        if (here.st_dev, here.st_ino) != (held.st_dev, held.st_ino) {
            return Err(failed(Errno::ESTALE));
        }
        unlinkat(&self.handle, dir.name(), UnlinkatFlags::RemoveDir).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_file_is_never_opened() {
        let dir = tempfile::tempdir().unwrap();
        let work = DirHandle::open(dir.path()).unwrap();
        std::fs::write(dir.path().join("a"), "keep").unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("b")).unwrap();
        for name in ["a", "b"] {
            let error = work.create(OsStr::new(name), OpenMode::default()).unwrap_err();
            assert_eq!(error.errno, libc::EEXIST);
        }
        assert_eq!(std::fs::read(dir.path().join("a")).unwrap(), b"keep");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        assert!(DirHandle::open(&link).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_is_opened_with_exactly_the_flags_of_its_arm() {
        use nix::fcntl::{FcntlArg, fcntl};
        let dir = tempfile::tempdir().unwrap();
        let work = DirHandle::open(dir.path()).unwrap();
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
        let work = DirHandle::open(dir.path()).unwrap();
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
    fn a_directory_that_was_replaced_is_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        let parent = DirHandle::open(dir.path()).unwrap();
        let ours = parent.make_dir(OsStr::new("ours")).unwrap();
        ours.create(OsStr::new("a"), OpenMode::default()).unwrap();
        assert_eq!(ours.names().unwrap(), ["a"]);
        ours.remove(OsStr::new("a")).unwrap();
        let moved = dir.path().join("moved");
        std::fs::rename(dir.path().join("ours"), &moved).unwrap();
        assert_eq!(parent.remove_dir(&ours).unwrap_err().errno, libc::ENOENT);
        std::fs::create_dir(dir.path().join("ours")).unwrap();
        assert_eq!(parent.remove_dir(&ours).unwrap_err().errno, libc::ESTALE);
        std::fs::rename(&moved, dir.path().join("ours")).unwrap();
        parent.remove_dir(&ours).unwrap();
        assert!(parent.names().unwrap().is_empty());
    }
}
