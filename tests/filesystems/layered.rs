//! Filesystems that stand on others, and memory that looks like a disk.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Expected, alone, block_names, every_arm_runs, unknown};
use crate::support::{Cmd, Filesystem, Folder, Make, Mount, is_root, require, system};

const SMALL: Make = Make { mebibytes: 32, ..Make::EXT4 };

#[test]
fn an_overlay_says_that_its_layers_are_not_seen() {
    overlay("", false);
}

#[test]
fn a_volatile_overlay_runs_every_arm_and_keeps_nothing() {
    overlay(",volatile", true);
}

fn overlay(option: &str, not_durable: bool) {
    let _alone = alone();
    let Some(fs) = Filesystem::new(Make::EXT4) else { return };
    let layer = |name: &str| {
        let dir = fs.path().join(name);
        fs::create_dir(&dir).unwrap();
        dir
    };
    let [lower, upper, work] = ["lower", "upper", "work"].map(layer);
    let layers = format!(
        "lowerdir={},upperdir={},workdir={}{option}",
        lower.display(),
        upper.display(),
        work.display()
    );
    let overlay = Mount::of(&["-t", "overlay", "overlay", "-o", &layers].map(OsStr::new));
    let expected = Expected { filesystem: "overlay", not_durable };
    let record = every_arm_runs(overlay.point(), &expected);
    assert!(unknown(&record, "block").is_some(), "{:#}", record["substrate"]);
    for layer in [&lower, &upper] {
        crate::support::assert_clean(layer);
    }
}

#[test]
fn a_bind_mount_is_the_filesystem_that_it_shows() {
    let _alone = alone();
    let Some(fs) = Filesystem::new(Make::EXT4) else { return };
    let shown = fs.path().join("shown");
    fs::create_dir(&shown).unwrap();
    let bound = Mount::of(&[OsStr::new("--bind"), shown.as_os_str()]);
    let expected = Expected { filesystem: "ext4", not_durable: false };
    let record = every_arm_runs(bound.point(), &expected);
    assert_eq!(record["substrate"]["mount"]["root"], "/shown");
    assert_eq!(block_names(&record).first(), Some(&fs.device_name()));
    crate::support::assert_clean(&shown);
}

#[test]
fn a_loop_on_a_loop_is_followed_to_the_disk() {
    let _alone = alone();
    let Some(below) = Filesystem::new(Make::EXT4) else { return };
    let Some(above) = Filesystem::on(below.path(), SMALL) else { return };
    let record = every_arm_runs(above.path(), &Expected { filesystem: "ext4", not_durable: false });
    let names = block_names(&record);
    assert_eq!(names.first(), Some(&above.device_name()), "{names:?}");
    assert!(names.contains(&below.device_name()), "the stack goes on below: {names:?}");
    assert_eq!(record["substrate"]["block"][0]["backing_filesystem"], "ext4");
}

#[test]
fn a_loop_over_a_file_in_memory_is_not_durable() {
    let _alone = alone();
    let memory = Folder::in_memory();
    let Some(fs) = Filesystem::on(memory.path(), SMALL) else { return };
    let record = every_arm_runs(fs.path(), &Expected { filesystem: "ext4", not_durable: true });
    let evidence = record["verdict"]["durability_evidence"].as_str().unwrap();
    assert!(evidence.contains("tmpfs") && evidence.contains(&fs.device_name()), "{evidence}");
}

/// A compressed disk in memory, made for one test.
struct Zram(String);

impl Zram {
    fn new(mebibytes: u64) -> Option<Zram> {
        if !is_root() {
            return None;
        }
        let Ok(number) = fs::read_to_string("/sys/class/zram-control/hot_add") else {
            require("zram", "the kernel does not offer it");
            return None;
        };
        let zram = Zram(number.trim().to_owned());
        let size = format!("/sys/block/zram{}/disksize", zram.0);
        fs::write(size, format!("{}M", mebibytes)).unwrap();
        Some(zram)
    }

    fn node(&self) -> PathBuf {
        format!("/dev/zram{}", self.0).into()
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        if let Err(error) = fs::write("/sys/class/zram-control/hot_remove", &self.0) {
            eprintln!("zram{}: {error}", self.0);
        }
    }
}

#[test]
fn a_disk_of_compressed_memory_is_not_durable() {
    let _alone = alone();
    let Some(zram) = Zram::new(64) else { return };
    let node = zram.node();
    system("mkfs.ext4", &[OsStr::new("-q"), node.as_os_str()]);
    let mounted = Mount::of(&[node.as_os_str()]);
    let expected = Expected { filesystem: "ext4", not_durable: true };
    let record = every_arm_runs(mounted.point(), &expected);
    assert_eq!(record["substrate"]["block"][0]["kind"], "zram");
    let text = Cmd::check(mounted.point()).args("--iters 20").run().exits(4);
    assert!(text.stdout_text().contains("zram"), "{}", text.all());
}

#[test]
fn the_filesystem_is_that_of_the_directory_and_not_of_its_parent() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    // A mount on a directory within a mount, and a link that leads out of it again.
    let outer = Mount::tmpfs(16 << 20);
    let Some(disk) = Filesystem::new(SMALL) else { return };
    let inner = outer.point().join("inner");
    fs::create_dir(&inner).unwrap();
    let link = disk.path().join("link");
    std::os::unix::fs::symlink(&inner, &link).unwrap();
    let filesystem = |path: &Path| {
        let record = Cmd::check_json(path).args("--iters 3").run().json();
        record["substrate"]["filesystem"].as_str().map(str::to_owned)
    };
    assert_eq!(filesystem(&inner).as_deref(), Some("tmpfs"));
    assert_eq!(filesystem(&link).as_deref(), Some("tmpfs"));
    assert_eq!(filesystem(disk.path()).as_deref(), Some("ext4"));
}
