//! Processes of the binary, found by what they measure.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Processes that run the binary with `path` on their command line. A child keeps its parent's command
/// line, also when the parent is gone, and every test has a path of its own.
pub fn measuring_in(path: &Path) -> Vec<i32> {
    let wanted = path.as_os_str().as_bytes();
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        // A process may end while it is looked at; then it is none of them.
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let exe = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        let ours = exe.file_name().is_some_and(|name| name.as_bytes().starts_with(b"synctail"));
        ours && line.split(|&byte| byte == 0).any(|arg| arg.starts_with(wanted))
    })
    .collect()
}

/// Looks until `holds`, for no longer than `patience`; for what other processes do in their own time.
pub fn eventually(patience: Duration, holds: impl Fn() -> bool) -> bool {
    let end = Instant::now() + patience;
    loop {
        if holds() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
