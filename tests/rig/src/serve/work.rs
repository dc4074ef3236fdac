//! What each operation does, once the script lets it. Results carry how many bytes were moved.

use std::ffi::OsStr;

use fuser::{FileAttr, FopenFlags, RenameFlags};
use nix::errno::Errno;

use super::Shared;
use crate::script::FsyncMode;
use crate::tree::{Make, Owner};

type Done<T> = Result<(T, u64), Errno>;

impl Shared {
    /// The flags that files are opened with.
    pub(super) fn open_flags(&self) -> FopenFlags {
        if self.direct_io { FopenFlags::FOPEN_DIRECT_IO } else { FopenFlags::empty() }
    }

    pub(super) fn find(&self, directory: u64, name: &OsStr) -> Done<FileAttr> {
        let mut tree = self.tree();
        let number = tree.find(directory, name)?;
        Ok((tree.refer(number)?, 0))
    }

    pub(super) fn make(
        &self,
        directory: u64,
        name: &OsStr,
        owner: Owner,
        what: Make,
    ) -> Done<FileAttr> {
        let mut tree = self.tree();
        let number = tree.make(directory, name, owner, what)?;
        Ok((tree.refer(number)?, 0))
    }

    pub(super) fn rename(
        &self,
        from: (u64, &OsStr),
        to: (u64, &OsStr),
        flags: RenameFlags,
    ) -> Done<()> {
        if flags.contains(RenameFlags::RENAME_EXCHANGE) {
            return Err(Errno::EINVAL);
        }
        let keep_existing = flags.contains(RenameFlags::RENAME_NOREPLACE);
        self.tree().rename(from, to, keep_existing).map(|()| ((), 0))
    }

    pub(super) fn read(&self, number: u64, offset: u64, length: u64) -> Done<Vec<u8>> {
        let bytes = self.tree().content(number)?.read(offset, length).to_vec();
        let count = bytes.len() as u64;
        Ok((bytes, count))
    }

    pub(super) fn write(
        &self,
        number: u64,
        offset: u64,
        data: &[u8],
        at_most: Option<u64>,
    ) -> Done<u32> {
        let count = at_most.map_or(data.len(), |bytes| data.len().min(bytes as usize));
        self.tree().content(number)?.write(offset, &data[..count]);
        Ok((count as u32, count as u64))
    }

    pub(super) fn sync(&self, number: u64) -> Done<()> {
        match self.fsync_mode {
            FsyncMode::Honest => self.tree().content(number)?.sync(),
            FsyncMode::Lying => {}
            FsyncMode::Unimplemented => return Err(Errno::ENOSYS),
        }
        Ok(((), 0))
    }

    /// Holes and unwritten blocks mean nothing in memory: only the plain form is here.
    pub(super) fn allocate(&self, number: u64, end: u64, mode: i32) -> Done<()> {
        if mode != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        let mut tree = self.tree();
        let content = tree.content(number)?;
        if content.len() < end {
            content.truncate(end);
        }
        Ok(((), 0))
    }
}
