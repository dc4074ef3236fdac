//! The walk from a filesystem down to the disks.
//!
//! Every node stands once in the list, above what lies below it. The walk goes on where a loop
//! device's file lies, since the loop's own cache mode says nothing about the disk.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::block;
use super::missing;
use super::mount;
use super::mountinfo::{Entry, lossy};
use super::ram::is_ram;
use super::source::{self, Devices};
use crate::record::{Block, Unknown};

/// What the kernel appends to the name of a file that no longer has one.
const DELETED: &[u8] = b" (deleted)";
/// Where the kernel hangs block devices without a parent device.
const VIRTUAL: &str = "sys/devices/virtual/block";

/// The stack as far as it has been walked.
pub struct Stack<'a> {
    root: &'a Path,
    mounts: &'a [Entry],
    /// Every node once.
    pub block: Vec<Block>,
    /// Where the walk had to end early.
    pub unknown: Vec<Unknown>,
}

impl<'a> Stack<'a> {
    /// An empty stack; `mounts` are asked where the file of a loop device lies.
    pub fn new(root: &'a Path, mounts: &'a [Entry]) -> Self {
        Self { root, mounts, block: Vec::new(), unknown: Vec::new() }
    }

    /// Walks below the filesystem of `mount`; returns the names right below it.
    pub fn below_mount(&mut self, mount: &Entry) -> Vec<String> {
        self.below_devices(source::devices(self.root, mount))
    }

    /// Walks below a device number, for where no mount is known; 0 is not a block device.
    pub fn below_device(&mut self, major: u64, minor: u64) {
        let mut devices = Devices::default();
        if major == 0 {
            devices.unknown.push("the mount is not known and has no device number".to_owned());
        } else {
            devices.add_number(self.root, major, minor);
        }
        self.below_devices(devices);
    }

    /// Walks below devices that a pool names by path, in place of what sysfs does not show.
    pub fn below_paths<'p>(&mut self, paths: impl Iterator<Item = &'p String>) {
        let mut devices = Devices::default();
        paths.for_each(|path| devices.add_path(self.root, path.as_bytes()));
        if !devices.found.is_empty() {
            self.unknown.clear();
        }
        self.below_devices(devices);
    }

    fn below_devices(&mut self, devices: Devices) -> Vec<String> {
        self.unknown.extend(devices.unknown.iter().map(|reason| missing("block", reason)));
        devices.found.iter().map(|dir| self.visit(dir)).collect()
    }

    fn visit(&mut self, dir: &Path) -> String {
        let node = block::node(dir);
        let name = node.name.clone();
        // The kernel's names are unique; seen before means shared by two parents.
        if self.block.iter().any(|seen| seen.name == name) {
            return name;
        }
        let at = self.block.len();
        self.block.push(node);
        let below = self.below(dir, at);
        self.block[at].below = below;
        name
    }

    fn below(&mut self, dir: &Path, at: usize) -> Vec<String> {
        let (name, kind) = (self.block[at].name.clone(), self.block[at].kind.clone());
        let members: Vec<PathBuf> = match kind.as_str() {
            "loop" => return self.below_loop(dir, at),
            // The folder is already resolved, so that one level up is the disk.
            "partition" => dir.parent().map(Path::to_path_buf).into_iter().collect(),
            _ => source::links(&dir.join("slaves")),
        };
        let stacked = matches!(kind.as_str(), "dm" | "md");
        // Neither a controller nor members: nbd, drbd, a zvol, a test device.
        let bodiless = kind == "disk" && dir.parent().is_some_and(|up| up.ends_with(VIRTUAL));
        if members.is_empty() && (stacked || bodiless) {
            self.unknown_below(&name, "the kernel names no device below it");
        }
        members.iter().map(|member| self.visit(member)).collect()
    }

    fn below_loop(&mut self, dir: &Path, at: usize) -> Vec<String> {
        let name = self.block[at].name.clone();
        let Some(file) = block::backing_file(dir) else {
            self.unknown_below(&name, "no file is bound to it");
            return Vec::new();
        };
        if file.ends_with(DELETED) {
            self.unknown_below(&name, "its backing file is deleted");
            return Vec::new();
        }
        // A loop over a device: /dev is a filesystem in memory, the device is not.
        if let Some(device) = source::by_path(self.root, &file) {
            return vec![self.visit(&device)];
        }
        let mounts = self.mounts;
        let Some(mount) = mount::holding(mounts, &file, None) else {
            let reason = format!("no mount holds its backing file {}", lossy(&file));
            self.unknown_below(&name, &reason);
            return Vec::new();
        };
        if is_ram(&mount.filesystem()) && !self.could_hold(dir, &file) {
            // What is mounted there now hides the file; only memory is looked at, which cannot hang.
            self.unknown_below(&name, "its backing file is hidden by another mount");
            return Vec::new();
        }
        self.block[at].backing_filesystem = Some(mount.filesystem());
        self.block[at].backing_options = Some(mount.to_mount().super_options);
        self.below_mount(mount)
    }

    /// Whether the file that has the name now is as long as the loop device.
    fn could_hold(&self, dir: &Path, file: &[u8]) -> bool {
        let sectors = super::text(&dir.join("size")).ok().and_then(|text| text.trim().parse().ok());
        let inside = Path::new(OsStr::from_bytes(file.strip_prefix(b"/").unwrap_or(file)));
        let found = std::fs::metadata(self.root.join(inside));
        found.is_ok_and(|found| sectors.is_none_or(|sectors: u64| found.len() >= sectors * 512))
    }

    fn unknown_below(&mut self, name: &str, reason: &str) {
        self.unknown.push(missing("block", &format!("below {name}: {reason}")));
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeRoot;
    use super::*;

    /// Name, kind and names below of each node, and the reasons.
    fn walk(root: &FakeRoot, lines: &str) -> (Vec<String>, Vec<String>, Vec<Block>) {
        let mounts = super::super::mountinfo::parse(lines.as_bytes());
        let mut stack = Stack::new(root.path(), &mounts);
        stack.below_mount(&mounts[0]);
        let line = |node: &Block| format!("{} {} {}", node.name, node.kind, node.below.join(","));
        let lines = stack.block.iter().map(line).collect();
        (lines, stack.unknown.into_iter().map(|entry| entry.reason).collect(), stack.block)
    }

    #[test]
    fn a_partition_has_its_disk_one_level_up() {
        let places = [
            ("nvme/nvme0/nvme0n1", "nvme0n1p1", "nvme0n1"),
            ("virtual/nvme-subsystem/nvme-subsys0/nvme0n1", "nvme0n1p2", "nvme0n1"),
            ("ata1/host0/target0:0:0/0:0:0:0/block/sda", "sda4", "sda"),
            ("cciss0/c0d0/block/cciss!c0d0", "cciss!c0d0p1", "cciss/c0d0"),
        ];
        for (disk, partition, name) in places {
            let root = FakeRoot::new();
            root.device("9:9", disk);
            root.partition("259:3", &format!("{disk}/{partition}"));
            let (lines, unknown, _) = walk(&root, "1 0 259:3 / / rw - ext4 /dev/root rw");
            let upper = partition.replace('!', "/");
            assert_eq!(lines[0], format!("{upper} partition {name}"));
            assert!(lines[1].starts_with(&format!("{name} ")) && lines.len() == 2, "{lines:?}");
            assert_eq!(unknown.len(), 0, "{unknown:?}");
        }
    }

    #[test]
    fn every_member_is_walked_and_each_node_stands_once() {
        let root = FakeRoot::new();
        root.device("253:0", "virtual/block/dm-0");
        root.file("sys/devices/virtual/block/dm-0/dm/name", "a--b-c\n");
        root.device("9:0", "virtual/block/md0");
        root.file("sys/devices/virtual/block/md0/md/level", "raid1\n");
        for (disk, number) in [("sda", 0), ("sdb", 16)] {
            root.device(&format!("8:{number}"), &format!("pci/block/{disk}"));
            for part in [1, 2] {
                let place = format!("pci/block/{disk}/{disk}{part}");
                root.partition(&format!("8:{}", number + part), &place);
            }
            root.member("virtual/block/md0", &format!("pci/block/{disk}/{disk}1"));
        }
        root.member("virtual/block/dm-0", "virtual/block/md0");
        root.member("virtual/block/dm-0", "pci/block/sdb/sdb2");
        let (lines, unknown, _) = walk(&root, "1 0 253:0 / / rw - xfs /dev/mapper/a--b-c rw");
        let expected = [
            "dm-0 dm md0,sdb2",
            "md0 md sda1,sdb1",
            "sda1 partition sda",
            "sda disk ",
            "sdb1 partition sdb",
            "sdb disk ",
            "sdb2 partition sdb",
        ];
        assert_eq!(lines, expected);
        assert_eq!(unknown.len(), 0, "{unknown:?}");
    }

    fn with_loop(file: &str) -> FakeRoot {
        let root = FakeRoot::new();
        root.device("7:0", "virtual/block/loop0");
        root.file("sys/devices/virtual/block/loop0/loop/backing_file", format!("{file}\n"));
        root.partition("259:3", "virtual/block/loop0/loop0p1");
        root.device("8:0", "pci/block/sda");
        root
    }

    const OVER_LOOP: &str = "3 1 259:3 / /mnt rw - ext4 /dev/loop0p1 rw
1 0 8:0 / / rw - xfs /dev/sda rw\n2 1 0:5 / /dev rw - devtmpfs none rw
4 2 0:6 / /dev/shm rw - tmpfs none rw\n";

    #[test]
    fn the_walk_goes_on_below_the_file_of_a_loop() {
        let (lines, unknown, block) = walk(&with_loop("/srv/x.img"), OVER_LOOP);
        assert_eq!(lines, ["loop0p1 partition loop0", "loop0 loop sda", "sda disk "]);
        assert_eq!(unknown.len(), 0, "{unknown:?}");
        assert_eq!(block[1].backing_file.as_deref(), Some("/srv/x.img"));
        assert_eq!(block[1].backing_filesystem.as_deref(), Some("xfs"));
    }

    #[test]
    fn a_loop_may_lie_in_memory_or_on_a_device() {
        let root = with_loop("/dev/shm/x");
        root.file("sys/devices/virtual/block/loop0/size", "2\n");
        let (_, unknown, block) = walk(&root, OVER_LOOP);
        assert!(unknown[0].contains("hidden by another mount"), "{unknown:?}");
        assert_eq!(block[1].backing_filesystem, None);
        root.file("dev/shm/x", [0; 1_024]);
        let (lines, unknown, block) = walk(&root, OVER_LOOP);
        assert_eq!(lines, ["loop0p1 partition loop0", "loop0 loop "]);
        assert_eq!(unknown.len(), 0, "{unknown:?}");
        assert_eq!(block[1].backing_filesystem.as_deref(), Some("tmpfs"));
        let (lines, _, block) = walk(&with_loop("/dev/sda"), OVER_LOOP);
        assert_eq!(lines, ["loop0p1 partition loop0", "loop0 loop sda", "sda disk "]);
        assert_eq!(block[1].backing_filesystem, None);
    }

    #[test]
    fn what_lies_below_a_deleted_or_missing_file_is_unknown() {
        let (lines, unknown, block) = walk(&with_loop("/srv/x.img (deleted)"), OVER_LOOP);
        assert_eq!(lines, ["loop0p1 partition loop0", "loop0 loop "]);
        assert_eq!(unknown, ["below loop0: its backing file is deleted"]);
        assert_eq!(block[1].backing_filesystem, None);
        let (_, unknown, _) = walk(&with_loop(""), OVER_LOOP);
        assert_eq!(unknown, ["below loop0: no file is bound to it"]);
        let (_, unknown, _) = walk(&with_loop("/srv/x"), OVER_LOOP.lines().next().unwrap());
        assert_eq!(unknown, ["below loop0: no mount holds its backing file /srv/x"]);
    }

    #[test]
    fn a_file_on_its_own_loop_ends_the_walk() {
        let (lines, _, _) = walk(&with_loop("/mnt/x"), OVER_LOOP);
        assert_eq!(lines, ["loop0p1 partition loop0", "loop0 loop loop0p1"]);
    }

    #[test]
    fn a_device_without_a_controller_is_said_to_be_unknown_below() {
        let some = [("zd32", "size", 1), ("dm-1", "dm/name", 1), ("md1", "md/level", 1)];
        for (place, mark, unknowns) in some.into_iter().chain([("zram0", "mm_stat", 0)]) {
            let root = FakeRoot::new();
            root.device("230:32", &format!("virtual/block/{place}"));
            root.file(&format!("sys/devices/virtual/block/{place}/{mark}"), "1\n");
            let (lines, unknown, _) = walk(&root, "1 0 230:32 / / rw - ext4 x rw");
            let reason = format!("below {place}: the kernel names no device below it");
            assert_eq!((lines.len(), unknown), (1, vec![reason; unknowns]));
        }
    }
}
