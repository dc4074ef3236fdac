//! What only the path itself can tell. It may hang: the parent reads the answer, never the path.

use std::path::Path;

use std::os::unix::ffi::OsStrExt;

use nix::errno::Errno;
use synctail_bench::Fault;
use synctail_sys::{SysError, filesystem_stats, path_facts};

use crate::record::Facts;

/// Resolves `path`, which must be a directory.
pub fn facts(path: &Path) -> Result<Facts, Fault> {
    let resolved = std::fs::canonicalize(path)
        .map_err(|error| SysError::new("open", path.to_string_lossy(), &error))?;
    let found = path_facts(&resolved)?;
    if !found.is_directory {
        return Err(SysError::of("open", path.to_string_lossy(), Errno::ENOTDIR).into());
    }
    // Some filesystems refuse statfs; that is a fact that is missing, not a reason to stop.
    let stats = filesystem_stats(&resolved).ok();
    Ok(Facts {
        path: resolved.as_os_str().as_bytes().to_vec(),
        mount_id: found.mount_id,
        device_major: found.device_major,
        device_minor: found.device_minor,
        filesystem_magic: stats.map(|(magic, _)| magic),
        free_bytes: stats.and_then(|(_, free)| free),
        device: None,
    })
}
