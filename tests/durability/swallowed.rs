//! Devices and mount options that keep a flush from the disk, and honest filesystems beside them.

use std::ffi::OsStr;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{flushes_per_barrier, is_caught, is_not_accused, run};
use crate::support::{Cmd, Filesystem, Make, Mount, heavy};

pub const NOBARRIER: Make = Make { mount_options: "nobarrier", ..Make::EXT4 };

#[test]
fn barriers_that_a_mount_option_switches_off_are_caught_in_every_kind_of_arm() {
    let _heavy = heavy();
    let Some(fs) = Filesystem::new(NOBARRIER) else { return };
    for arm in ["syscall/fdatasync", "syscall/o_dsync", "uring-linked/fdatasync", "uring/dsync"] {
        let (outcome, record) = run(Cmd::check_json(fs.path()), arm);
        is_caught(&outcome, &record, "barriers_off");
    }
    // And a disk in a file on such a filesystem.
    let small = Make { mebibytes: 16, ..Make::EXT4_WITHOUT_JOURNAL };
    let Some(above) = Filesystem::on(fs.path(), small) else { return };
    let (outcome, record) = run(Cmd::check_json(above.path()), "syscall/fdatasync");
    is_caught(&outcome, &record, "barriers_off");
}

#[test]
fn a_volatile_overlay_is_caught_and_an_honest_one_is_not_accused() {
    let _heavy = heavy();
    let Some(fs) = Filesystem::new(Make::EXT4) else { return };
    let overlay = |name: &str, options: &str| {
        let layer = |kind: &str| {
            let dir = fs.path().join(format!("{name}-{kind}"));
            fs::create_dir(&dir).unwrap();
            dir.display().to_string()
        };
        let [lower, upper, work] = ["lower", "upper", "work"].map(layer);
        let layers = format!("lowerdir={lower},upperdir={upper},workdir={work}{options}");
        Mount::of(&["-t", "overlay", "overlay", "-o", &layers].map(OsStr::new))
    };
    let volatile = overlay("volatile", ",volatile");
    for arm in ["syscall/fdatasync", "uring-linked/fdatasync"] {
        let (outcome, record) = run(Cmd::check_json(volatile.point()), arm);
        is_caught(&outcome, &record, "barriers_off");
    }
    let honest = overlay("honest", "");
    let record = is_not_accused(honest.point(), "syscall/fdatasync");
    let evidence = record["verdict"]["durability_evidence"].as_str().unwrap();
    assert!(evidence.contains("overlay"), "{evidence}");
}

/// The kernel is told that the loop device has no cache: no flush leaves it, and what it wrote stays in
/// the page cache of its file.
#[test]
fn a_device_that_lets_no_flush_through_is_caught_by_the_counters_below_it() {
    let _heavy = heavy();
    let Some(fs) = Filesystem::new(Make::EXT4_WITHOUT_JOURNAL) else { return };
    let _cache = WithoutCache::of(&fs.device_name());
    let (outcome, record) = run(Cmd::check_json(fs.path()), "syscall/fdatasync");
    let last = record["substrate"]["block"].as_array().unwrap().last().unwrap().clone();
    if last["write_cache"] == "write back" {
        is_caught(&outcome, &record, "cache_denied");
    } else {
        eprintln!("the disk below has no cache by the kernel's word: {last}");
        assert_ne!(record["verdict"]["durability"], "proved", "{}", outcome.all());
    }
}

/// The kernel's belief outlives the file of a loop device, so it is put back.
pub struct WithoutCache(String);

impl WithoutCache {
    pub fn of(device: &str) -> WithoutCache {
        let path = format!("/sys/block/{device}/queue/write_cache");
        fs::write(&path, "write through").unwrap();
        WithoutCache(path)
    }
}

impl Drop for WithoutCache {
    fn drop(&mut self) {
        fs::write(&self.0, "write back").unwrap();
    }
}

/// Load of others on the same disk, for as long as it lives.
struct Syncing<'a>(&'a AtomicBool);

impl Drop for Syncing<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn honest_filesystems_are_not_accused_whether_others_flush_or_not() {
    let _heavy = heavy();
    for make in [Make::EXT4, Make::EXT4_WITHOUT_JOURNAL, Make::XFS, Make::BTRFS] {
        let Some(fs) = Filesystem::new(make) else { return };
        for layout in ["append", "overwrite"] {
            let cmd = || Cmd::check_json(fs.path()).args("--layout").arg(layout);
            let (outcome, record) = run(cmd(), "syscall/fdatasync");
            let evidence = record["verdict"]["durability_evidence"].as_str().unwrap();
            assert_ne!(record["verdict"]["durability"], "not_durable", "{}", outcome.all());
            let share = flushes_per_barrier(&record);
            assert!(share >= 0.9, "{}: {share}: {evidence}", make.kind);
        }
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let _load = Syncing(&over);
            scope.spawn(|| {
                let path = fs.path().join("busy");
                while !over.load(Ordering::Relaxed) {
                    let file = fs::File::create(&path).unwrap();
                    std::io::Write::write_all(&mut &file, &[7; 4_096]).unwrap();
                    file.sync_all().unwrap();
                }
            });
            is_not_accused(fs.path(), "syscall/fdatasync");
        });
    }
}
