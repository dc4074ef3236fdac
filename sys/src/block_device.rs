//! A block device that is about to be overwritten: claimed for this process alone, never created.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use crate::{OpenMode, SysError};

/// The name of the claim in an error.
const CLAIM: &str = "open O_EXCL";

/// A claimed block device. The kernel refuses mounts and other claims as long as the value lives.
#[derive(Debug)]
pub struct BlockDevice {
    path: PathBuf,
    claimed: File,
    /// Its size.
    pub bytes: u64,
    /// Its logical sector.
    pub sector_bytes: u64,
}

impl BlockDevice {
    /// Claims `path`, which must be a block device.
    ///
    /// # Errors
    /// ENOTBLK for anything else, which is not opened; EBUSY where the kernel or a program has claimed it.
    pub fn claim(path: &Path) -> Result<BlockDevice, SysError> {
        let object = || path.to_string_lossy().into_owned();
        let failed = |error| SysError::new(CLAIM, object(), &error);
        device_number(path)?;
        // Nothing here creates: a name that vanished meanwhile is an error.
        let opened =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_EXCL).open(path);
        let mut claimed = opened.map_err(failed)?;
        if !claimed.metadata().map_err(failed)?.file_type().is_block_device() {
            return Err(SysError::of(CLAIM, object(), Errno::ENOTBLK));
        }
        let bytes = claimed.seek(SeekFrom::End(0)).map_err(failed)?;
        let sector_bytes = sector_bytes(&claimed).map_err(|e| SysError::of(CLAIM, object(), e))?;
        Ok(BlockDevice { path: path.to_owned(), claimed, bytes, sector_bytes })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn device(&self) -> Result<u64, SysError> {
        let found = self.claimed.metadata();
        let found = found.map_err(|e| SysError::new("fstat", self.path.to_string_lossy(), &e))?;
        Ok(found.rdev())
    }

    /// Up to `length` bytes from `offset`; less at the end of the device.
    pub fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>, SysError> {
        let there = self.bytes.saturating_sub(offset).min(length as u64) as usize;
        let mut bytes = vec![0; there];
        let read = self.claimed.read_exact_at(&mut bytes, offset);
        read.map_err(|e| SysError::new("pread", self.path.to_string_lossy(), &e))?;
        Ok(bytes)
    }

    /// Opens the same device once more, to be written under `mode`, beside the claim.
    pub fn open(&self, mode: OpenMode) -> Result<File, SysError> {
        let failed = |e: std::io::Error| SysError::new("open", self.path.to_string_lossy(), &e);
        let flags = mode.of_existing().bits();
        let file = OpenOptions::new().write(true).custom_flags(flags).open(&self.path);
        let file = file.map_err(failed)?;
        // The name may belong to another device by now.
        if file.metadata().map_err(failed)?.rdev() != self.device()? {
            return Err(SysError::of("open", self.path.to_string_lossy(), Errno::ESTALE));
        }
        Ok(file)
    }
}

/// Major and minor of the block device that `path` names, without opening it.
///
/// # Errors
/// ENOTBLK where it names anything else.
pub fn device_number(path: &Path) -> Result<(u64, u64), SysError> {
    let object = || path.to_string_lossy().into_owned();
    let found = std::fs::metadata(path).map_err(|e| SysError::new(CLAIM, object(), &e))?;
    if !found.file_type().is_block_device() {
        return Err(SysError::of(CLAIM, object(), Errno::ENOTBLK));
    }
    Ok((libc::major(found.rdev()).into(), libc::minor(found.rdev()).into()))
}

/// The logical sector, by BLKSSZGET (linux/fs.h).
fn sector_bytes(device: &File) -> Result<u64, Errno> {
    /// `_IO(0x12, 104)`; the libc crate has no name for it.
    const BLKSSZGET: u32 = 0x1268;
    let mut bytes: libc::c_int = 0;
    // SAFETY: BLKSSZGET writes one int to the given address, which is live and exclusive; the
    // descriptor is open.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), BLKSSZGET as _, &raw mut bytes) };
    Errno::result(result)?;
    u64::try_from(bytes).ok().filter(|&bytes| bytes > 0).ok_or(Errno::EINVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_block_device_is_claimed_and_nothing_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "keep").unwrap();
        for path in [&file, dir.path(), Path::new("/dev/null")] {
            let error = BlockDevice::claim(path).unwrap_err();
            assert_eq!(error.errno, libc::ENOTBLK, "{}", path.display());
        }
        let none = dir.path().join("none");
        assert_eq!(BlockDevice::claim(&none).unwrap_err().errno, libc::ENOENT);
        assert!(!none.exists());
        assert_eq!(std::fs::read(&file).unwrap(), b"keep");
    }
}
