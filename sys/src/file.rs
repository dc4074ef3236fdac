//! How files are opened, locked, and what the filesystem says of its space.

use std::fs::File;
use std::path::Path;

use nix::fcntl::{Flock, FlockArg, OFlag};

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
    pub(crate) fn flags(self) -> OFlag {
        OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_WRONLY | OFlag::O_NOFOLLOW | self.of_existing()
    }

    /// The flags for something that is there already.
    pub(crate) fn of_existing(self) -> OFlag {
        let mut flags = OFlag::O_CLOEXEC;
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
