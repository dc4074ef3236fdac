//! One filesystem on one device.

use std::ffi::OsStr;
use std::io::Write;

use super::{Expected, alone, block_names, every_arm_runs};
use crate::support::{Cmd, Filesystem, Make, Mount, is_root, system_line};

/// Every arm on `make`, and the device under it.
fn on_a_disk(make: Make) {
    let _alone = alone();
    let Some(fs) = Filesystem::new(make) else { return };
    let record = every_arm_runs(fs.path(), &Expected { filesystem: make.kind, not_durable: false });
    let names = block_names(&record);
    assert_eq!(names.first(), Some(&fs.device_name()), "{names:?}");
    let device = &record["substrate"]["block"][0];
    assert_eq!(device["kind"], "loop", "{device}");
    assert_eq!(device["logical_block_size_bytes"], make.sector_bytes, "{device}");
    let point = fs.path().canonicalize().unwrap();
    assert_eq!(record["substrate"]["mount"]["mount_point"], point.to_str().unwrap());
}

#[test]
fn ext4_with_a_journal() {
    on_a_disk(Make::EXT4);
}

#[test]
fn ext4_without_a_journal() {
    on_a_disk(Make::EXT4_WITHOUT_JOURNAL);
}

#[test]
fn ext4_on_sectors_of_4096_bytes() {
    on_a_disk(Make { sector_bytes: 4_096, ..Make::EXT4 });
}

#[test]
fn ext4_with_its_barriers_switched_off() {
    let _alone = alone();
    let make = Make { mount_options: "nobarrier", ..Make::EXT4 };
    let Some(fs) = Filesystem::new(make) else { return };
    every_arm_runs(fs.path(), &Expected { filesystem: "ext4", not_durable: true });
}

#[test]
fn xfs() {
    on_a_disk(Make::XFS);
}

#[test]
fn a_subvolume_within_a_subvolume_of_btrfs() {
    let _alone = alone();
    let Some(fs) = Filesystem::new(Make::BTRFS) else { return };
    // Each has a device number of its own, which belongs to no disk.
    let outer = fs.path().join("outer");
    let inner = outer.join("inner");
    for subvolume in [&outer, &inner] {
        system_line(&format!("btrfs subvolume create {}", subvolume.display()));
    }
    let record = every_arm_runs(&inner, &Expected { filesystem: "btrfs", not_durable: false });
    assert_eq!(block_names(&record).first(), Some(&fs.device_name()));
}

#[test]
fn a_filesystem_in_memory() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    let tmpfs = Mount::tmpfs(64 << 20);
    let record =
        every_arm_runs(tmpfs.point(), &Expected { filesystem: "tmpfs", not_durable: true });
    assert_eq!(block_names(&record), [""; 0]);
    let findings = record["verdict"]["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["code"] == "ram_backed"), "{findings:?}");
    // Fast is not durable, and the text says so first.
    let outcome = Cmd::check(tmpfs.point()).run().exits(4);
    assert!(outcome.stdout_text().contains("verdict: NOT DURABLE"), "{}", outcome.all());
}

/// ramfs, and a tmpfs without a limit, count no blocks: that is not "nothing is free".
#[test]
fn memory_without_a_limit_is_measured_and_not_durable() {
    let _alone = alone();
    if !crate::support::is_root() {
        return;
    }
    for (kind, options) in [("ramfs", "mode=755"), ("tmpfs", "size=0,nr_blocks=0")] {
        let mount = Mount::of(&["-t", kind, kind, "-o", options].map(OsStr::new));
        every_arm_runs(mount.point(), &Expected { filesystem: kind, not_durable: true });
    }
}

#[test]
fn a_filesystem_without_a_free_byte() {
    let _alone = alone();
    let Some(fs) = Filesystem::new(Make::EXT4) else { return };
    let place = fs.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let stats = nix::sys::statvfs::statvfs(fs.path()).unwrap();
    let free = stats.blocks_available() as u64 * stats.fragment_size() as u64;
    // Nearly all at once, and then every block that is still found.
    let almost = free - (64 << 10);
    system_line(&format!("fallocate --length {almost} {}", fs.path().join("filler").display()));
    let mut last = std::fs::File::create(fs.path().join("last")).unwrap();
    while last.write(&[1; 1_024]).is_ok() {}
    let record = Cmd::check_json(&place).run().failure();
    let message = record["error"]["message"].as_str().unwrap();
    assert!(message.contains("more than half of the 0 B that are free"), "{message}");
    let record = Cmd::check_json(&place).args("--max-bytes 1MiB").run().failure();
    assert_eq!(record["error"]["errno_name"], "ENOSPC", "{record:#}");
    let remedy = record["error"]["remedy"].as_str().unwrap();
    assert!(remedy.contains("free space"), "{remedy}");
    crate::support::assert_clean(&place);
}
