//! One node of the block stack, read from its folder in sysfs.
//!
//! What a node is follows from the files in its folder and its major number, never from its name:
//! names are cut and glued in too many ways (`nvme0n1p1`, `cciss!c0d0p1`, `zd32p1`).

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::mountinfo::lossy;
use super::{declared, text};
use crate::record::Block;

/// brd; fixed in the kernel's list of devices, and brd leaves no other mark in sysfs.
const RAMDISK_MAJOR: &str = "1";
/// loop; fixed as well. The folder `loop` is there only while a file is bound.
const LOOP_MAJOR: &str = "7";

/// The real folder of a device number below `root`.
pub fn folder(root: &Path, device: &str) -> std::io::Result<PathBuf> {
    fs::canonicalize(root.join("sys/dev/block").join(device))
}

/// Reads the node in `dir`, without what lies below it.
pub fn node(dir: &Path) -> Block {
    let device = text(&dir.join("dev")).unwrap_or_default();
    let kind = kind(dir, &device).to_owned();
    let queue = |file: &str| value(&dir.join("queue").join(file));
    let mut node = Block {
        name: name(dir),
        kind,
        write_cache: queue("write_cache"),
        fua: queue("fua").and_then(|text| flag(&text)),
        rotational: queue("rotational").and_then(|text| flag(&text)),
        logical_block_size_bytes: queue("logical_block_size").and_then(|text| text.parse().ok()),
        physical_block_size_bytes: queue("physical_block_size").and_then(|text| text.parse().ok()),
        scheduler: queue("scheduler").and_then(|text| in_force(&text)),
        transport: transport(dir).map(str::to_owned),
        firmware: value(&dir.join("device/firmware_rev"))
            .or_else(|| value(&dir.join("device/rev"))),
        nomerges: queue("nomerges").and_then(|text| text.parse().ok()),
        // -1 where the kernel is built without it.
        wbt_lat_us: queue("wbt_lat_usec").and_then(|text| text.parse().ok()),
        model: value(&dir.join("device/model")),
        numa_node: super::cpus::node_of_device(dir),
        backing_file: backing_file(dir).map(|path| lossy(&path)),
        device,
        ..Block::default()
    };
    declared::by_sysfs(dir, &mut node);
    node
}

/// A loop device's file as the kernel prints it: nothing is escaped, one newline follows.
pub fn backing_file(dir: &Path) -> Option<Vec<u8>> {
    let mut path = fs::read(dir.join("loop/backing_file")).ok()?;
    if path.last() == Some(&b'\n') {
        path.pop();
    }
    (!path.is_empty()).then_some(path)
}

/// sysfs cannot have a slash in a name and writes an exclamation mark.
fn name(dir: &Path) -> String {
    dir.file_name().map(OsStr::to_string_lossy).unwrap_or_default().replace('!', "/")
}

fn kind(dir: &Path, device: &str) -> &'static str {
    let has = |file: &str| dir.join(file).exists();
    let major = device.split(':').next().unwrap_or_default();
    // First, since the partition of a loop or a RAM disk is a partition.
    if has("partition") {
        "partition"
    } else if has("dm") {
        "dm"
    } else if has("md") {
        "md"
    } else if has("loop") || major == LOOP_MAJOR {
        "loop"
    } else if has("mm_stat") || has("comp_algorithm") {
        // zram has no major of its own, but these files.
        "zram"
    } else if major == RAMDISK_MAJOR {
        "ram"
    } else {
        "disk"
    }
}

/// By the parts of the device's real path in sysfs. Only for a disk: a partition has its disk's.
fn transport(dir: &Path) -> Option<&'static str> {
    if dir.join("partition").exists() {
        return None;
    }
    let path = dir.to_string_lossy();
    let has = |part: &str| path.split('/').any(|component| component.starts_with(part));
    let known = [
        ("nvme-fabrics", has("nvme-fabrics")),
        ("virtual", has("virtual") && !has("nvme")),
        ("virtio", has("virtio")),
        ("xen", has("vbd-")),
        ("hyperv", has("vmbus") || has("VMBUS")),
        ("nvme", has("nvme")),
        ("usb", has("usb")),
        ("mmc", has("mmc_host")),
        ("sas", has("end_device-")),
        ("sata", has("ata")),
        ("scsi", has("target")),
    ];
    known.iter().find(|(_, holds)| *holds).map(|(name, _)| *name)
}

/// The text of an attribute. SCSI pads its strings, and an empty one tells nothing.
pub fn value(path: &Path) -> Option<String> {
    let text = text(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// The one in brackets; a device without a choice prints one bare word.
fn in_force(schedulers: &str) -> Option<String> {
    let mut words = schedulers.split_whitespace();
    let bracketed = words.clone().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    let only = words.next().filter(|_| words.next().is_none());
    bracketed.or(only).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeRoot;
    use super::*;

    fn with(files: &[(&str, &str)]) -> Block {
        let root = FakeRoot::new();
        for (path, text) in files {
            root.file(&format!("sda/{path}"), text);
        }
        node(&root.path().join("sda"))
    }

    #[test]
    fn the_attributes_of_a_disk_are_read() {
        let found = with(&[
            ("dev", "8:0\n"),
            ("queue/write_cache", "write through\n"),
            ("queue/fua", "1\n"),
            ("queue/rotational", "0\n"),
            ("queue/logical_block_size", "512\n"),
            ("queue/physical_block_size", "4096\n"),
            ("queue/scheduler", "none [mq-deadline] kyber bfq \n"),
            ("device/model", "  INTEL SSDSC2KB96 \n"),
        ]);
        let expected = Block {
            name: "sda".to_owned(),
            device: "8:0".to_owned(),
            kind: "disk".to_owned(),
            write_cache: Some("write through".to_owned()),
            fua: Some(true),
            rotational: Some(false),
            logical_block_size_bytes: Some(512),
            physical_block_size_bytes: Some(4096),
            scheduler: Some("mq-deadline".to_owned()),
            model: Some("INTEL SSDSC2KB96".to_owned()),
            ..Block::default()
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_not_there_or_makes_no_sense_is_absent() {
        let found = with(&[
            ("dev", "8:0\n"),
            ("queue/write_cache", "\n"),
            ("queue/fua", "2\n"),
            ("queue/logical_block_size", "-1\n"),
            ("queue/scheduler", "none kyber\n"),
            ("device/model", "   \n"),
        ]);
        let expected = Block {
            name: "sda".to_owned(),
            device: "8:0".to_owned(),
            kind: "disk".to_owned(),
            ..Block::default()
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn the_kind_follows_from_marks_and_not_from_the_name() {
        let kinds = [
            ("partition", "8:1", "partition"),
            ("dm/name", "253:0", "dm"),
            ("md/level", "9:0", "md"),
            ("loop/backing_file", "7:0", "loop"),
            ("size", "7:1", "loop"),
            ("mm_stat", "253:0", "zram"),
            ("size", "1:0", "ram"),
            ("size", "259:0", "disk"),
            ("partition", "7:1", "partition"),
        ];
        for (mark, device, kind) in kinds {
            assert_eq!(with(&[("dev", device), (mark, "1")]).kind, kind, "{mark} {device}");
        }
    }

    #[test]
    fn a_lone_scheduler_is_in_force() {
        assert_eq!(in_force("none"), Some("none".to_owned()));
        assert_eq!(in_force("[none]"), Some("none".to_owned()));
        assert_eq!(in_force("[none] mq-deadline"), Some("none".to_owned()));
        assert_eq!(in_force("none mq-deadline"), None);
        assert_eq!(in_force(""), None);
    }

    #[test]
    fn an_exclamation_mark_in_sysfs_is_a_slash() {
        assert_eq!(node(Path::new("/nowhere/cciss!c0d0")).name, "cciss/c0d0");
    }

    #[test]
    fn only_the_final_newline_is_cut_from_a_backing_file() {
        let root = FakeRoot::new();
        root.file("loop0/loop/backing_file", "/a b \n\n");
        assert_eq!(backing_file(&root.path().join("loop0")), Some(b"/a b \n".to_vec()));
        root.file("loop1/loop/backing_file", "\n");
        assert_eq!(backing_file(&root.path().join("loop1")), None);
    }
}
