//! Each mark and each use, on bytes and text made by hand.

use super::signature::{END_BYTES, START_BYTES};
use super::*;
use std::fs;

fn on(start: &[(usize, &[u8])], end: &[(usize, &[u8])]) -> Vec<String> {
    let (mut first, mut last) = (vec![0; START_BYTES], vec![0; END_BYTES]);
    start.iter().for_each(|(at, bytes)| first[*at..at + bytes.len()].copy_from_slice(bytes));
    end.iter().for_each(|(back, bytes)| {
        let at = END_BYTES - back;
        last[at..at + bytes.len()].copy_from_slice(bytes);
    });
    signatures(&first, &last)
}

#[test]
fn well_known_marks_are_found_where_they_stand_and_nowhere_else() {
    assert_eq!(on(&[], &[]), Vec::<String>::new());
    assert_eq!(on(&[(0x438, b"\x53\xef")], &[]), ["an ext2, ext3 or ext4 filesystem"]);
    assert_eq!(on(&[(0x439, b"\x53\xef")], &[]), Vec::<String>::new());
    assert_eq!(on(&[], &[(512, b"EFI PART")]), ["a GPT partition table"]);
    let uberblock = 0x00ba_b10c_u64.to_le_bytes();
    assert_eq!(on(&[((128 << 10) + 4_096, &uberblock)], &[]), ["a ZFS pool member"]);
    assert_eq!(on(&[(100 << 10, &uberblock)], &[]), Vec::<String>::new());
}

#[test]
fn a_device_shorter_than_the_marks_is_no_panic() {
    for length in [0, 1, 511, 512, 4_096, 65_535] {
        assert_eq!(signatures(&vec![0; length], &vec![0; length]), Vec::<String>::new());
    }
}

/// A disk `sdx` of two partitions.
fn machine() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let disk = root.path().join("sys/devices/block/sdx");
    for (name, number) in [("", "8:0"), ("sdx1", "8:1"), ("sdx2", "8:2")] {
        let folder = disk.join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("dev"), number).unwrap();
        let links = [("sys/dev/block", number), ("sys/class/block", &folder_name(&folder))];
        for (place, link) in links {
            fs::create_dir_all(root.path().join(place)).unwrap();
            std::os::unix::fs::symlink(&folder, root.path().join(place).join(link)).unwrap();
        }
        if !name.is_empty() {
            fs::write(folder.join("partition"), "1\n").unwrap();
        }
    }
    fs::create_dir_all(root.path().join("proc/self")).unwrap();
    root
}

fn folder_name(folder: &Path) -> String {
    folder.file_name().unwrap().to_string_lossy().into_owned()
}

fn first_use(root: &Path, minor: u64) -> Option<String> {
    let family = Family::of(root, 8, minor);
    uses::first(root, &family, "/dev/given").map(|(why, _)| why)
}

#[test]
fn a_disk_is_used_where_its_partition_is_and_a_partition_where_its_disk_is() {
    let root = machine();
    let mounts = root.path().join("proc/self/mountinfo");
    fs::write(&mounts, "30 1 8:2 / /data rw - ext4 /dev/sdx2 rw\n").unwrap();
    assert!(first_use(root.path(), 0).unwrap().contains("mounted at /data"));
    assert!(first_use(root.path(), 2).unwrap().contains("mounted at /data"));
    assert_eq!(first_use(root.path(), 1), None, "its sibling is");
    fs::write(&mounts, "30 1 0:44 / /b rw - btrfs /dev/sdx1 rw\n").unwrap();
    assert!(first_use(root.path(), 1).unwrap().contains("mounted at /b"), "by its source");
    fs::write(&mounts, "30 1 8:0 / /d rw - ext4 /dev/sdx rw\n").unwrap();
    assert!(first_use(root.path(), 1).unwrap().contains("mounted at /d"));
    assert_eq!(Family::of(root.path(), 8, 0).partitions, ["sdx1", "sdx2"]);
}

#[test]
fn swap_holders_and_loops_are_named() {
    let root = machine();
    let file = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("proc/swaps", "Filename Type Size Used Priority\n/dev/sdx2 partition 1 0 -2\n");
    assert!(first_use(root.path(), 0).unwrap().contains("swap (/dev/sdx2)"));
    file("proc/swaps", "Filename Type Size Used Priority\n");
    file("sys/block/loop7/loop/backing_file", "/dev/sdx1\n");
    assert!(first_use(root.path(), 0).unwrap().contains("loop7"));
    fs::remove_dir_all(root.path().join("sys/block")).unwrap();
    assert_eq!(first_use(root.path(), 0), None);
    file("sys/class/block/dm-3/dm/name", "vg-data\n");
    fs::create_dir_all(root.path().join("sys/devices/block/sdx/sdx1/holders/dm-3")).unwrap();
    let why = first_use(root.path(), 0).unwrap();
    assert_eq!(why, "is part of dm-3 (vg-data), which holds sdx1");
}

#[test]
fn a_program_that_writes_is_named_and_one_that_reads_is_not() {
    let root = machine();
    let process = root.path().join("proc/4711");
    fs::create_dir_all(process.join("fd")).unwrap();
    fs::create_dir_all(process.join("fdinfo")).unwrap();
    std::os::unix::fs::symlink("/dev/sdx1", process.join("fd/5")).unwrap();
    fs::write(process.join("comm"), "qemu\n").unwrap();
    fs::write(process.join("fdinfo/5"), "pos:\t0\nflags:\t0100000\n").unwrap();
    assert_eq!(first_use(root.path(), 1), None);
    fs::write(process.join("fdinfo/5"), "pos:\t0\nflags:\t0100002\n").unwrap();
    assert!(first_use(root.path(), 1).unwrap().contains("process 4711 (qemu)"));
}
