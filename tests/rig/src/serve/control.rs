//! The control file in the root directory: reading it shows the ledger, writing it gives a command. It
//! is served without script and ledger.

use std::ffi::OsStr;
use std::time::SystemTime;

use fuser::{FileAttr, FileType, INodeNo};
use nix::errno::Errno;

use super::Shared;

/// Its name.
pub const NAME: &str = ".rig";
/// Its number, below all that files get.
pub const NUMBER: INodeNo = INodeNo(2);

/// Whether this is the control file.
pub fn is_named(parent: INodeNo, name: &OsStr) -> bool {
    parent == INodeNo::ROOT && name == NAME
}

/// As stat shows it.
pub fn attributes() -> FileAttr {
    let time = SystemTime::UNIX_EPOCH;
    FileAttr {
        ino: NUMBER,
        size: 0,
        blocks: 0,
        atime: time,
        mtime: time,
        ctime: time,
        crtime: time,
        kind: FileType::RegularFile,
        perm: 0o600,
        nlink: 1,
        uid: nix::unistd::geteuid().as_raw(),
        gid: nix::unistd::getegid().as_raw(),
        rdev: 0,
        blksize: 4_096,
        flags: 0,
    }
}

/// Does what was written into it.
pub fn command(shared: &Shared, written: &[u8]) -> Result<(), Errno> {
    match written.trim_ascii() {
        b"release" => shared.gate.release(),
        b"power-cut" => shared.cut_power(),
        _ => return Err(Errno::EINVAL),
    }
    Ok(())
}

/// At most `length` bytes of the ledger from `offset` on.
pub fn read(shared: &Shared, offset: u64, length: u64) -> Vec<u8> {
    let text = shared.ledger.to_tsv().into_bytes();
    let start = text.len().min(offset as usize);
    let end = text.len().min(start.saturating_add(length as usize));
    text[start..end].to_vec()
}
