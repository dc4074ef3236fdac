//! What only a raw device itself can tell, and the claim that keeps others away from it.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use synctail_bench::Fault;
use synctail_sys::{BlockDevice, SysError, device_number};

use crate::device::{END_BYTES, RawDevice, START_BYTES, signatures};
use crate::record::Facts;

/// Claims `path` and reads its first and last bytes. One that somebody else has claimed is told as such:
/// the parent finds out who.
///
/// # Errors
/// Where there is no such device, or it cannot be read or opened for writing.
pub fn claim(path: &Path) -> Result<(Facts, Option<BlockDevice>), Fault> {
    let resolved = std::fs::canonicalize(path)
        .map_err(|error| SysError::new("open O_EXCL", path.to_string_lossy(), &error))?;
    let (device_major, device_minor) = device_number(&resolved)?;
    let claimed = match BlockDevice::claim(&resolved) {
        Ok(device) => Some(device),
        Err(error) if error.errno == nix::errno::Errno::EBUSY as i32 => None,
        Err(error) => return Err(error.into()),
    };
    let raw = claimed.as_ref().map_or(Ok(unclaimed()), look)?;
    let facts = Facts {
        path: resolved.as_os_str().as_bytes().to_vec(),
        mount_id: None,
        device_major,
        device_minor,
        filesystem_magic: None,
        free_bytes: None,
        device: Some(raw),
    };
    Ok((facts, claimed))
}

fn unclaimed() -> RawDevice {
    let signatures = Vec::new();
    RawDevice { claimed: false, bytes: 0, sector_bytes: 0, signatures, holds_data: false }
}

fn look(device: &BlockDevice) -> Result<RawDevice, SysError> {
    let start = device.read(0, START_BYTES)?;
    let end = device.read(device.bytes.saturating_sub(END_BYTES as u64), END_BYTES)?;
    Ok(RawDevice {
        claimed: true,
        bytes: device.bytes,
        sector_bytes: device.sector_bytes,
        signatures: signatures(&start, &end),
        holds_data: start.iter().any(|&byte| byte != 0),
    })
}
