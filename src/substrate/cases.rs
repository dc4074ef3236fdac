//! Machines that were reported as bugs elsewhere: copies of their files, in the folder that
//! SYNCTAIL_CASES names. Without it these tests say that they were skipped.

use std::path::{Path, PathBuf};

use super::fake::{FakeRoot, facts};
use super::mountinfo::{Entry, parse};
use super::{discover, mount, source};
use crate::record::{CounterKind, Substrate};

fn case(name: &str) -> Option<String> {
    let folder = std::env::var_os("SYNCTAIL_CASES").filter(|folder| !folder.is_empty());
    let Some(folder) = folder else {
        eprintln!("skipped: cases: SYNCTAIL_CASES is not set");
        let required = std::env::var("SYNCTAIL_REQUIRE").unwrap_or_default();
        assert!(!required.split([',', ' ']).any(|word| word == "cases"), "cases are required here");
        return None;
    };
    let path = PathBuf::from(folder).join(name);
    Some(
        std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
}

/// What is found under `path` on a machine with the mounts of the case and no /sys at all.
fn under(name: &str, path: &str) -> Option<Substrate> {
    let root = FakeRoot::new();
    root.file("proc/self/mountinfo", case(name)?);
    Some(discover(root.path(), &facts(path)))
}

fn reasons(substrate: &Substrate) -> String {
    let all: Vec<String> =
        substrate.unknown.iter().map(|u| format!("{}: {}", u.fact, u.reason)).collect();
    all.join("\n")
}

#[test]
fn a_path_is_on_the_mount_that_covers_it() {
    let name = "mountinfo-overmount.txt";
    for (path, filesystem) in
        [("/testvolume/x", "xfs"), ("/testvolume2", "ext4"), ("/testvol", "ext4")]
    {
        let Some(found) = under(name, path) else { return };
        assert_eq!(found.filesystem.as_deref(), Some(filesystem), "{path}");
    }
}

#[test]
fn a_container_sees_its_volume_and_not_below_its_root() {
    let name = "mountinfo-container-overlay.txt";
    let Some(root) = under(name, "/x") else { return };
    assert_eq!(root.filesystem.as_deref(), Some("overlay"));
    assert!(reasons(&root).contains("measure a path on a volume instead"), "{}", reasons(&root));
    let volume = under(name, "/data/nats").unwrap();
    assert_eq!(volume.filesystem.as_deref(), Some("xfs"));
}

#[test]
fn dev_root_is_found_by_its_number() {
    let Some(text) = case("mountinfo-devroot.txt") else { return };
    let root = FakeRoot::new();
    root.file("proc/self/mountinfo", text);
    root.partition("259:1", "nvme/nvme0/nvme0n1/nvme0n1p1");
    let found = discover(root.path(), &facts("/var/lib"));
    assert_eq!(found.block[0].name, "nvme0n1p1", "{}", reasons(&found));
}

#[test]
fn a_filesystem_over_several_devices_has_all_of_them() {
    let Some(text) = case("mountinfo-bcachefs-btrfs-homed.txt") else { return };
    let root = FakeRoot::new();
    for (number, name) in [("8:17", "sdb1"), ("8:19", "sdb3")] {
        root.partition(number, &format!("pci/block/sdb/{name}"));
    }
    let mounts = parse(text.as_bytes());
    let on = |path: &str| mount::holding(&mounts, path.as_bytes(), None).unwrap();
    let devices = source::devices(root.path(), on("/mnt/tmp/x"));
    assert_eq!(devices.found.len(), 2, "{:?}", devices.unknown);
    assert_eq!(on("/home/user/x").kind, b"btrfs");
}

#[test]
fn a_dataset_keeps_the_spaces_of_its_name() {
    let Some(text) = case("mountinfo-zfs.txt") else { return };
    let mounts: Vec<Entry> = parse(text.as_bytes());
    let dataset = |path: &str| {
        let mount = mount::holding(&mounts, path.as_bytes(), None).unwrap();
        let none = |_: &str, _: &[&str]| Err("no zfs here".to_owned());
        super::zfs::dataset(Path::new("/none"), mount, &none).0.dataset
    };
    assert_eq!(dataset("/data/x"), "testpool/VirtualBox VMs");
    assert_eq!(dataset("/data/OpenVMS"), "testpool/VirtualBox VMs/OpenVMS");
    assert_eq!(dataset("/bind/x"), "testpool/VirtualBox VMs");
}

#[test]
fn log_devices_are_those_of_the_section_logs() {
    let Some(logs) = case("zpool-status-logs-cache.txt") else { return };
    let special = case("zpool-status-special-trailing-space.txt").unwrap();
    let mounts = parse(b"1 0 0:4 / / rw - zfs test-123 rw");
    let of = |text: String| {
        let ask = move |program: &str, _: &[&str]| match program {
            "zpool" => Ok(text.clone()),
            _ => Err("not asked".to_owned()),
        };
        super::zfs::dataset(Path::new("/none"), &mounts[0], &ask).0
    };
    let pool = of(logs);
    assert_eq!(pool.log_devices, ["/vdevs/vdev1", "/vdevs/vdev2"]);
    assert_eq!(pool.data_devices, ["/vdevs/vdev0"]);
    // Short names are what zpool prints without -P: nothing is guessed from them.
    assert!(of(special).log_devices.is_empty());
}

#[test]
fn flush_counts_need_a_line_that_has_them() {
    let Some(text) = case("diskstats-14-18-20.txt") else { return };
    let of = |name: &str| crate::evidence::flushes(&text, name);
    assert_eq!(of("nvme0n1"), Some(4_958));
    assert_eq!((of("md0"), of("dm-0"), of("ram0")), (None, None, None));
}

#[test]
fn intent_log_counters_of_every_version_are_found_by_name() {
    for (name, kind) in [
        ("zfs-zil-slog-used.kstat", CounterKind::ZilSlog),
        ("zfs-zil-slog-unused-old.kstat", CounterKind::ZilCommits),
        ("zfs-zil-newer-fields.kstat", CounterKind::ZilCommits),
    ] {
        let Some(text) = case(name) else { return };
        assert!(crate::evidence::zil_value(&text, kind).is_some(), "{name}: {kind:?}");
    }
    let used = case("zfs-zil-slog-used.kstat").unwrap();
    assert_eq!(crate::evidence::zil_value(&used, CounterKind::ZilSlog), Some(9_557_603));
}
