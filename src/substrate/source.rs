//! From a mount to the sysfs folders of the devices right below its filesystem.
//!
//! The device number decides wherever there is one: the source may name what does not exist
//! (`/dev/root`). It is asked only for filesystems over several devices, whose number is none.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::block;
use super::mountinfo::{Entry, lossy, option};
use super::ram::is_ram;

/// The folders that were found, and for each that was not a reason.
#[derive(Debug, Default)]
pub struct Devices {
    /// Real folders in sysfs, the filesystem's first device first.
    pub found: Vec<PathBuf>,
    /// Why something is missing.
    pub unknown: Vec<String>,
}

impl Devices {
    fn add(&mut self, what: &[u8], folder: Option<PathBuf>) {
        match folder {
            Some(folder) if self.found.contains(&folder) => {}
            Some(folder) => self.found.push(folder),
            None => self.unknown.push(format!("{}: no such device in sysfs", lossy(what))),
        }
    }
}

/// The devices right below the filesystem of `mount`.
pub fn devices(root: &Path, mount: &Entry) -> Devices {
    let mut devices = Devices::default();
    match (mount.major, mount.kind.as_slice()) {
        (0, b"btrfs") => {
            devices.add(&mount.source, by_path(root, &mount.source));
            let first = devices.found.first().cloned();
            for member in first.iter().flat_map(|first| btrfs_members(root, first)) {
                devices.add(b"btrfs member", Some(member));
            }
        }
        // Only here a colon separates devices; elsewhere it separates a server from its path.
        (0, b"bcachefs") => {
            for source in mount.source.split(|&byte| byte == b':') {
                devices.add(source, by_path(root, source));
            }
        }
        (0, _) => devices.unknown.extend(why_none(&mount.filesystem())),
        (major, _) => devices.add_number(root, major, mount.minor),
    }
    // The log is where an fsync of xfs goes; it may have a device of its own.
    if mount.kind == b"xfs" {
        for path in ["logdev", "rtdev"].iter().filter_map(|name| option(&mount.super_options, name))
        {
            devices.add(path, by_path(root, path));
        }
    }
    devices
}

impl Devices {
    /// Adds the device at this path; a file in its place has no device of its own.
    pub fn add_path(&mut self, root: &Path, path: &[u8]) {
        self.add(path, by_path(root, path));
    }

    /// Adds the device with this number.
    pub fn add_number(&mut self, root: &Path, major: u64, minor: u64) {
        match block::folder(root, &format!("{major}:{minor}")) {
            Ok(folder) => self.found.push(folder),
            Err(error) => {
                self.unknown.push(format!("resolve /sys/dev/block/{major}:{minor}: {error}"));
            }
        }
    }
}

/// The sysfs folder of a device given as a path in /dev.
///
/// The path itself is never opened. Tried in turn: the kernel's name, the name that the device
/// mapper was given, and one link (`/dev/disk/by-uuid/...`, `/dev/vg/lv`).
pub fn by_path(root: &Path, path: &[u8]) -> Option<PathBuf> {
    let rest = path.strip_prefix(b"/dev/")?;
    let kernel_name: Vec<u8> =
        rest.iter().map(|&byte| if byte == b'/' { b'!' } else { byte }).collect();
    by_name(root, &kernel_name)
        .or_else(|| by_mapper_name(root, rest.strip_prefix(b"mapper/")?))
        .or_else(|| {
            let target = fs::read_link(root.join("dev").join(OsStr::from_bytes(rest))).ok()?;
            by_name(root, target.file_name()?.as_bytes())
        })
}

fn by_name(root: &Path, name: &[u8]) -> Option<PathBuf> {
    if matches!(name, b"" | b"." | b"..") {
        return None;
    }
    fs::canonicalize(root.join("sys/class/block").join(OsStr::from_bytes(name))).ok()
}

fn by_mapper_name(root: &Path, name: &[u8]) -> Option<PathBuf> {
    let has_name = |folder: &PathBuf| {
        fs::read(folder.join("dm/name")).is_ok_and(|text| text.strip_suffix(b"\n") == Some(name))
    };
    fs::canonicalize(entries(&root.join("sys/class/block")).into_iter().find(has_name)?).ok()
}

/// All devices of the btrfs that has `first` among them.
fn btrfs_members(root: &Path, first: &Path) -> Vec<PathBuf> {
    let Some(name) = first.file_name() else { return Vec::new() };
    let mine = entries(&root.join("sys/fs/btrfs"))
        .into_iter()
        .map(|filesystem| filesystem.join("devices"))
        .find(|devices| devices.join(name).exists());
    mine.iter().flat_map(|devices| links(devices)).collect()
}

/// The real folders behind the links in `folder`, in the order of their names.
pub fn links(folder: &Path) -> Vec<PathBuf> {
    entries(folder).iter().filter_map(|entry| fs::canonicalize(entry).ok()).collect()
}

/// What `folder` holds, sorted, so that the record does not depend on the order on disk.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(read) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

/// Why no device is seen below a filesystem that has no device number; none if it lies in memory,
/// for then nothing is missing.
fn why_none(filesystem: &str) -> Option<String> {
    if is_ram(filesystem) {
        return None;
    }
    let why = match filesystem {
        "zfs" => "its pool keeps the devices, and sysfs does not show them",
        "overlay" | "aufs" => {
            "the layers below are not visible from here; measure a path on a volume instead"
        }
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "lustre" | "gfs2" | "ocfs2" | "afs" => {
            "the storage is on another machine"
        }
        "9p" | "virtiofs" | "vboxsf" => "the storage is the host's and not visible from here",
        _ if filesystem.starts_with("fuse") => {
            "a process serves this filesystem, and where it writes is not visible"
        }
        _ => "this filesystem has no block device number",
    };
    Some(format!("{filesystem}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeRoot;
    use super::super::mountinfo::parse;
    use super::*;

    fn found(root: &FakeRoot, line: &str) -> (Vec<String>, Vec<String>) {
        let mounts = parse(line.as_bytes());
        let devices = devices(root.path(), &mounts[0]);
        let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        (devices.found.iter().map(name).collect(), devices.unknown)
    }

    #[test]
    fn the_number_decides_and_not_the_source() {
        let root = FakeRoot::new();
        root.partition("259:1", "nvme/nvme0/nvme0n1/nvme0n1p1");
        root.device("8:0", "block/sda");
        let (names, unknown) = found(&root, "29 1 259:1 / / rw - ext4 /dev/sda rw");
        assert_eq!((names, unknown.len()), (vec!["nvme0n1p1".to_owned()], 0));
        let (names, unknown) = found(&root, "29 1 259:9 / / rw - ext4 /dev/sda rw");
        assert_eq!(names.len(), 0);
        assert!(unknown[0].starts_with("resolve /sys/dev/block/259:9: "), "{unknown:?}");
    }

    #[test]
    fn btrfs_is_found_by_its_source_with_all_members() {
        let root = FakeRoot::new();
        root.device("253:3", "virtual/block/dm-3");
        root.file("sys/devices/virtual/block/dm-3/dm/name", "vgX-lvY\n");
        root.device("8:16", "block/sdb");
        root.link("sys/fs/btrfs/u-1/devices/sdz", "../../../../class/block/sdz");
        root.link("sys/fs/btrfs/u-2/devices/dm-3", "../../../../class/block/dm-3");
        root.link("sys/fs/btrfs/u-2/devices/sdb", "../../../../class/block/sdb");
        let line = "72 2 0:33 /@ / rw - btrfs /dev/mapper/vgX-lvY rw,subvol=/@";
        let (names, unknown) = found(&root, line);
        assert_eq!((names, unknown.len()), (vec!["dm-3".to_owned(), "sdb".to_owned()], 0));
        let (names, unknown) = found(&root, "72 2 0:33 / / rw - btrfs /dev/root rw");
        assert_eq!((names.len(), unknown), (0, vec!["/dev/root: no such device in sysfs".into()]));
    }

    #[test]
    fn only_bcachefs_is_split_at_colons() {
        let root = FakeRoot::new();
        root.partition("8:17", "block/sdb/sdb1");
        root.partition("8:19", "block/sdb/sdb3");
        let (names, unknown) = found(&root, "90 1 0:40 / /m rw - bcachefs /dev/sdb1:/dev/sdb3 rw");
        assert_eq!((names, unknown.len()), (vec!["sdb1".to_owned(), "sdb3".to_owned()], 0));
        let (names, unknown) = found(&root, "90 1 0:40 / /m rw - nfs4 /dev/sdb1:/dev/sdb3 rw");
        assert_eq!(names.len(), 0);
        assert_eq!(unknown, ["nfs4: the storage is on another machine"]);
    }

    #[test]
    fn an_external_log_is_a_device_too() {
        let root = FakeRoot::new();
        root.device("8:0", "block/sda");
        root.device("259:0", "nvme/nvme0/nvme0n1");
        let line = "9 1 8:0 / /d rw - xfs /dev/sda rw,logdev=/dev/nvme0n1,noquota";
        assert_eq!(found(&root, line).0, ["sda", "nvme0n1"]);
        assert_eq!(found(&root, &line.replace("xfs", "ext4")).0, ["sda"]);
    }

    #[test]
    fn a_path_in_dev_is_found_by_name_and_by_link() {
        let root = FakeRoot::new();
        root.device("104:0", "block/cciss!c0d0");
        root.link("dev/disk/by-uuid/1-2", "../../cciss!c0d0");
        root.link("dev/loop", "../..");
        let folder = by_path(root.path(), b"/dev/cciss/c0d0").unwrap();
        assert!(folder.ends_with("block/cciss!c0d0"), "{folder:?}");
        assert_eq!(by_path(root.path(), b"/dev/disk/by-uuid/1-2"), Some(folder));
        for path in ["/dev/", "/dev/..", "/dev/mapper/x", "/dev/loop", "cciss/c0d0", "/srv/x"] {
            assert_eq!(by_path(root.path(), path.as_bytes()), None, "{path}");
        }
    }

    #[test]
    fn a_missing_device_is_explained_unless_there_is_none() {
        let root = FakeRoot::new();
        for kind in ["zfs", "overlay", "fuse.sshfs", "9p", "ubifs"] {
            let (names, unknown) = found(&root, &format!("1 0 0:9 / / rw - {kind} x rw"));
            assert_eq!((names.len(), unknown.len()), (0, 1), "{kind}");
            assert!(unknown[0].starts_with(&format!("{kind}: ")), "{unknown:?}");
        }
        let (names, unknown) = found(&root, "1 0 0:9 / / rw - tmpfs x rw");
        assert_eq!((names.len(), unknown.len()), (0, 0));
    }
}
