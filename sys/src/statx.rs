//! What statx(2) tells about a path or file that stat does not.

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;

use crate::SysError;

/// Identity of the filesystem that holds a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathFacts {
    /// Mount id, from Linux 5.8 on.
    pub mount_id: Option<u64>,
    /// Major of `st_dev`.
    pub device_major: u64,
    /// Minor of `st_dev`.
    pub device_minor: u64,
    /// Whether it is a directory.
    pub is_directory: bool,
}

/// What O_DIRECT asks of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectAlignment {
    /// The file and memory must be aligned.
    Known {
        /// Offset and length in the file are multiples of this.
        offset_bytes: u64,
        /// The address in memory is a multiple of this.
        memory_bytes: u64,
    },
    /// The file does not support direct I/O.
    Unsupported,
    /// The kernel (before 6.1) or the filesystem does not tell.
    Unknown,
}

/// Looks at `path`; a symbolic link is followed.
pub fn path_facts(path: &Path) -> Result<PathFacts, SysError> {
    let failed = |errno| SysError::of("statx", path.to_string_lossy(), errno);
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| failed(Errno::EINVAL))?;
    let mask = libc::STATX_BASIC_STATS | libc::STATX_MNT_ID;
    let found = statx(libc::AT_FDCWD, &name, 0, mask).map_err(failed)?;
    Ok(PathFacts {
        mount_id: (found.stx_mask & libc::STATX_MNT_ID != 0).then_some(found.stx_mnt_id),
        device_major: found.stx_dev_major.into(),
        device_minor: found.stx_dev_minor.into(),
        is_directory: u32::from(found.stx_mode) & libc::S_IFMT == libc::S_IFDIR,
    })
}

/// The alignment that O_DIRECT asks of an open file.
pub fn direct_alignment(file: &impl AsFd) -> Result<DirectAlignment, SysError> {
    let fd = file.as_fd().as_raw_fd();
    let failed = |errno| SysError::of("statx", "the test file", errno);
    let found = statx(fd, c"", libc::AT_EMPTY_PATH, libc::STATX_DIOALIGN).map_err(failed)?;
    let (offset, memory) = (found.stx_dio_offset_align.into(), found.stx_dio_mem_align.into());
    Ok(match (found.stx_mask & libc::STATX_DIOALIGN != 0, offset, memory) {
        (false, ..) => DirectAlignment::Unknown,
        (true, 0, _) | (true, _, 0) => DirectAlignment::Unsupported,
        (true, offset_bytes, memory_bytes) => DirectAlignment::Known { offset_bytes, memory_bytes },
    })
}

fn statx(dir: RawFd, name: &std::ffi::CStr, flags: i32, mask: u32) -> Result<libc::statx, Errno> {
    // SAFETY: `libc::statx` is plain integers, for which all zeroes is a valid value.
    let mut buffer: libc::statx = unsafe { std::mem::zeroed() };
    // SAFETY: the name is NUL-terminated and the buffer a live, exclusive `libc::statx`; the kernel
    // writes no more than that.
    let value = unsafe { libc::statx(dir, name.as_ptr(), flags, mask, &raw mut buffer) };
    if value == 0 { Ok(buffer) } else { Err(Errno::last()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn facts_agree_with_stat() {
        let dir = tempfile::tempdir().unwrap();
        let facts = path_facts(dir.path()).unwrap();
        let device = std::fs::metadata(dir.path()).unwrap().dev();
        assert!(facts.is_directory);
        assert_eq!(facts.device_major, u64::from(libc::major(device)));
        assert_eq!(facts.device_minor, u64::from(libc::minor(device)));
        let missing = path_facts(&dir.path().join("none")).unwrap_err();
        assert_eq!((missing.operation, missing.errno), ("statx", libc::ENOENT));
    }

    #[test]
    fn a_pipe_has_no_direct_alignment() {
        let (reader, _writer) = std::io::pipe().unwrap();
        assert!(!matches!(direct_alignment(&reader), Ok(DirectAlignment::Known { .. })));
    }
}
