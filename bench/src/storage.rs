//! Where workers write: files in a directory, or areas of a raw device.

use std::ffi::OsStr;
use std::fs::File;
use std::sync::Arc;

#[cfg(target_os = "linux")]
use synctail_sys::BlockDevice;
use synctail_sys::{DirHandle, OpenMode, SysError};

/// Where workers write.
#[derive(Clone, Debug)]
pub enum Storage {
    /// Files of their own in this directory.
    Directory(Arc<DirHandle>),
    /// Areas of their own of this device, one behind the other. The layout is overwrite.
    #[cfg(target_os = "linux")]
    Device {
        /// Claimed.
        device: Arc<BlockDevice>,
        /// Of each worker; a multiple of the block, and of the page where pages are written.
        area_bytes: u64,
    },
}

impl Storage {
    /// Where the area of `worker` begins in what it writes to.
    pub fn first_offset(&self, worker: u64) -> u64 {
        match self {
            Storage::Directory(_) => 0,
            #[cfg(target_os = "linux")]
            Storage::Device { area_bytes, .. } => worker * area_bytes,
        }
    }

    /// The sector that every direct write must be a multiple of, where it is known before one is opened.
    pub fn sector_bytes(&self) -> Option<u64> {
        match self {
            Storage::Directory(_) => None,
            #[cfg(target_os = "linux")]
            Storage::Device { device, .. } => Some(device.sector_bytes),
        }
    }

    /// Bytes that the probe may write from the start of what it opened.
    pub fn probe_bytes_max(&self) -> u64 {
        match self {
            Storage::Directory(_) => u64::MAX,
            #[cfg(target_os = "linux")]
            Storage::Device { area_bytes, .. } => *area_bytes,
        }
    }

    /// A new file with this name, or the device.
    pub fn open(&self, name: &OsStr, mode: OpenMode) -> Result<File, SysError> {
        match self {
            Storage::Directory(dir) => dir.create(name, mode),
            #[cfg(target_os = "linux")]
            Storage::Device { device, .. } => device.open(mode),
        }
    }

    /// A file that is there, by another descriptor.
    pub fn open_again(&self, name: &OsStr, mode: OpenMode) -> Result<File, SysError> {
        match self {
            Storage::Directory(dir) => dir.open_again(name, mode),
            #[cfg(target_os = "linux")]
            Storage::Device { device, .. } => device.open(mode),
        }
    }

    /// Its directory; nothing on a device.
    pub fn directory(&self) -> Option<&Arc<DirHandle>> {
        match self {
            Storage::Directory(dir) => Some(dir),
            #[cfg(target_os = "linux")]
            Storage::Device { .. } => None,
        }
    }

    /// Allocates the first `bytes` of a file.
    pub fn allocate(&self, name: &OsStr, file: &File, bytes: u64) -> Result<(), SysError> {
        match self {
            Storage::Directory(dir) => dir.allocate(name, file, bytes),
            #[cfg(target_os = "linux")]
            Storage::Device { .. } => Ok(()),
        }
    }

    /// fsync(2), once.
    pub fn sync(&self, name: &OsStr, file: &File) -> Result<(), SysError> {
        let failed = |e: std::io::Error| SysError::new("fsync", self.shown(name), &e);
        match self {
            Storage::Directory(dir) => dir.sync(name, file),
            #[cfg(target_os = "linux")]
            Storage::Device { .. } => file.sync_all().map_err(failed),
        }
    }

    /// Removes a file; a device stays.
    pub fn remove(&self, name: &OsStr) -> Result<(), SysError> {
        match self {
            Storage::Directory(dir) => dir.remove(name),
            #[cfg(target_os = "linux")]
            Storage::Device { .. } => Ok(()),
        }
    }

    /// The path for a message.
    pub fn shown(&self, name: &OsStr) -> String {
        match self {
            Storage::Directory(dir) => dir.path().join(name).to_string_lossy().into_owned(),
            #[cfg(target_os = "linux")]
            Storage::Device { device, .. } => device.path().to_string_lossy().into_owned(),
        }
    }
}
