//! What lies under the measured path: mount, filesystem, block stack, machine.
//!
//! Text in, facts out. Everything is read below a given root folder, so a copy of a few files of
//! /proc and /sys is as good as the machine. The measured path itself is never touched: it may
//! hang, and a measuring child has already brought back what only the path can tell. Nothing here
//! is fatal: what cannot be read becomes an [`Unknown`] with its reason.

mod block;
#[cfg(test)]
mod cases;
mod command;
mod cpus;
mod declared;
#[cfg(test)]
mod fake;
mod interrupts;
mod limits;
mod machine;
mod mount;
mod mountinfo;
mod ram;
mod route;
mod source;
mod stack;
mod weakened;
mod zfs;

pub use command::output as program_output;
pub use interrupts::completion;
pub use ram::{ram_backed, refused};
pub use weakened::weakened;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::program::this_binary;
use crate::record::{Facts, Machine, Substrate, Unknown};
use mountinfo::Entry;
use stack::Stack;

/// In place of a filesystem's type.
const RAW_DEVICE: &str = "raw device";

/// Finds out what lies under the path that `facts` describes.
///
/// `root` is `/`, or a folder that holds copies of `proc` and `sys`.
pub fn discover(root: &Path, facts: &Facts) -> Substrate {
    let mut substrate = discover_asking(root, facts, &command::output);
    let Substrate { block, unknown, .. } = &mut substrate;
    declared::by_controllers(root, block, unknown, &ask_self);
    substrate
}

/// This program as a child, so that a device that hangs holds nobody else.
fn ask_self(args: &[&str]) -> Result<String, String> {
    let program = this_binary().map_err(|error| format!("find this program: {error}"))?;
    command::output(&program.to_string_lossy(), args)
}

fn discover_asking(root: &Path, facts: &Facts, ask: zfs::Ask) -> Substrate {
    let mut unknown = Vec::new();
    let machine = machine::read(root, &mut unknown);
    if facts.device.is_some() {
        return raw_device(root, facts, machine, unknown);
    }
    if facts.free_bytes.is_none() {
        unknown.push(missing("free_bytes", "statfs is refused here, or counts no blocks"));
    }
    let mounts = mounts(root, &mut unknown);
    let chosen = mount::holding(&mounts, &facts.path, facts.mount_id);
    let filesystem = filesystem(chosen, facts);
    if filesystem.is_none() {
        unknown.push(missing("filesystem", "no mount in mountinfo holds this path"));
    }
    let mut stack = Stack::new(root, &mounts);
    match chosen {
        Some(entry) => {
            stack.below_mount(entry);
        }
        None => stack.below_device(facts.device_major, facts.device_minor),
    }
    let zfs = chosen.filter(|entry| entry.kind == b"zfs").map(|entry| {
        let (zfs, reasons) = zfs::dataset(root, entry, ask);
        stack.below_paths(zfs.data_devices.iter().chain(&zfs.log_devices));
        unknown.extend(reasons.iter().map(|reason| missing("zfs", reason)));
        zfs
    });
    unknown.append(&mut stack.unknown);
    let limits = limits::in_force(root, &stack.block);
    let upper_filesystem = chosen.and_then(|entry| upper_in_memory(root, &mounts, entry));
    Substrate {
        filesystem,
        mount: chosen.map(Entry::to_mount),
        block: stack.block,
        upper_filesystem,
        limits,
        zfs,
        machine,
        unknown,
    }
}

/// A device without a filesystem: the stack below its number.
fn raw_device(
    root: &Path,
    facts: &Facts,
    machine: Machine,
    mut unknown: Vec<Unknown>,
) -> Substrate {
    let mounts = mounts(root, &mut unknown);
    let mut stack = Stack::new(root, &mounts);
    stack.below_device(facts.device_major, facts.device_minor);
    unknown.append(&mut stack.unknown);
    let limits = limits::in_force(root, &stack.block);
    let filesystem = Some(RAW_DEVICE.to_owned());
    Substrate { filesystem, block: stack.block, limits, machine, unknown, ..Substrate::default() }
}

/// Adds the serial numbers of the devices, which a record does not carry unless it is asked to.
pub fn add_serials(root: &Path, substrate: &mut Substrate) {
    for node in &mut substrate.block {
        let folder = root.join("sys/class/block").join(node.name.replace('/', "!"));
        let places = ["serial", "device/serial", "device/wwid"];
        let found = places.iter().find_map(|place| text(&folder.join(place)).ok());
        node.serial =
            found.map(|serial| serial.trim().to_owned()).filter(|serial| !serial.is_empty());
    }
}

/// Under a device that does nothing lies only the machine.
pub fn nothing(root: &Path) -> Substrate {
    let mut unknown = Vec::new();
    let machine = machine::read(root, &mut unknown);
    Substrate { filesystem: Some("null".to_owned()), machine, unknown, ..Substrate::default() }
}

/// The memory filesystem that holds an overlay's upper layer. The option names a path of whoever mounted
/// it, which in a container means nothing or something else; so it counts only where it leads into memory
/// and is a directory there, which can be looked at without touching a disk.
fn upper_in_memory(root: &Path, mounts: &[Entry], overlay: &Entry) -> Option<String> {
    let upper = mountinfo::option(&overlay.super_options, "upperdir")?;
    let kind = mount::holding(mounts, upper, None)?.filesystem();
    let inside = Path::new(OsStr::from_bytes(upper.strip_prefix(b"/")?));
    // overlayfs makes `work` in its work directory; what was mounted over both later has none.
    let work = mountinfo::option(&overlay.super_options, "workdir")?.strip_prefix(b"/")?;
    let made = root.join(Path::new(OsStr::from_bytes(work))).join("work");
    let is_there = ram::is_ram(&kind) && root.join(inside).is_dir() && made.is_dir();
    (overlay.kind == b"overlay" && is_there).then_some(kind)
}

fn mounts(root: &Path, unknown: &mut Vec<Unknown>) -> Vec<Entry> {
    match fs::read(root.join("proc/self/mountinfo")) {
        Ok(text) => mountinfo::parse(&text),
        Err(error) => {
            unknown.push(missing("mount", &format!("read /proc/self/mountinfo: {error}")));
            Vec::new()
        }
    }
}

/// mountinfo decides; the magic number only where there is no mountinfo.
fn filesystem(chosen: Option<&Entry>, facts: &Facts) -> Option<String> {
    match chosen {
        Some(entry) => Some(entry.filesystem()),
        None => facts.filesystem_magic.and_then(ram::type_by_magic).map(str::to_owned),
    }
}

fn missing(fact: &str, reason: &str) -> Unknown {
    Unknown { fact: fact.to_owned(), reason: reason.to_owned() }
}

/// A small file of /proc or /sys without the white space at its end.
fn text(path: &Path) -> io::Result<String> {
    let bytes = fs::read(path)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::fake::{FakeRoot, facts};
    use super::*;

    #[test]
    fn the_upper_layer_of_an_overlay_may_lie_in_memory_where_it_is_seen() {
        let lines = "1 0 0:20 / / rw - overlay overlay rw,lowerdir=/ro,upperdir=/rw/u,workdir=/rw/w\n\
                     2 1 0:21 / /rw rw - tmpfs tmpfs rw\n";
        let root = FakeRoot::new();
        root.file("proc/self/mountinfo", lines);
        // In a container the same words name a path of the host.
        assert_eq!(discover(root.path(), &facts("/var")).upper_filesystem, None);
        root.file("rw/u/x", "");
        assert_eq!(discover(root.path(), &facts("/var")).upper_filesystem, None, "mounted over it");
        root.file("rw/w/work/x", "");
        let found = discover(root.path(), &facts("/var"));
        assert_eq!(found.upper_filesystem.as_deref(), Some("tmpfs"));
        assert!(ram_backed(&found).unwrap().contains("upper layer is on tmpfs"));
        root.file("proc/self/mountinfo", lines.replace("tmpfs", "ext4"));
        assert_eq!(discover(root.path(), &facts("/var")).upper_filesystem, None);
    }

    fn reason<'a>(found: &'a Substrate, fact: &str) -> Option<&'a str> {
        found.unknown.iter().find(|entry| entry.fact == fact).map(|entry| entry.reason.as_str())
    }

    #[test]
    fn a_whole_root_is_read() {
        let root = FakeRoot::new();
        root.file(
            "proc/self/mountinfo",
            "25 1 254:1 / / rw - ext4 /dev/root rw\n26 25 0:30 / /tmp rw - tmpfs tmpfs rw\n",
        );
        root.file("proc/sys/kernel/osrelease", "6.1.0\n");
        root.partition("254:1", "pci0000:00/0000:00:02.0/virtio1/block/vda/vda1");
        root.device("254:0", "pci0000:00/0000:00:02.0/virtio1/block/vda");
        let found = discover(root.path(), &facts("/srv/data"));
        assert_eq!(found.filesystem.as_deref(), Some("ext4"));
        assert_eq!(found.mount.as_ref().map(|mount| mount.id), Some(25));
        let names: Vec<_> = found.block.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["vda1", "vda"]);
        assert_eq!(found.machine.kernel.as_deref(), Some("6.1.0"));
        assert!(reason(&found, "block").is_none());
        assert!(reason(&found, "cpu_model").is_some());
    }

    #[test]
    fn an_empty_root_yields_reasons_and_no_error() {
        let root = FakeRoot::new();
        let mut given = facts("/srv");
        given.device_major = 8;
        given.free_bytes = None;
        let found = discover(root.path(), &given);
        assert_eq!((found.filesystem.as_ref(), found.block.len()), (None, 0));
        for fact in ["mount", "filesystem", "block", "free_bytes", "kernel", "clocksource"] {
            assert!(reason(&found, fact).is_some(), "{fact}: {:?}", found.unknown);
        }
        given.device_major = 0;
        let found = discover(root.path(), &given);
        let text = "the mount is not known and has no device number";
        assert_eq!(reason(&found, "block"), Some(text));
    }

    #[test]
    fn without_mountinfo_the_device_number_and_the_magic_are_used() {
        let root = FakeRoot::new();
        root.device("8:0", "pci0000:00/block/sda");
        let mut given = facts("/srv");
        (given.device_major, given.filesystem_magic) = (8, Some(0x0102_1994));
        let found = discover(root.path(), &given);
        assert_eq!(found.block.first().map(|node| node.name.as_str()), Some("sda"));
        assert_eq!(found.filesystem.as_deref(), Some("tmpfs"));
    }

    #[test]
    fn the_mount_id_wins_over_the_path() {
        let root = FakeRoot::new();
        root.file(
            "proc/self/mountinfo",
            "25 1 0:7 / / rw - ramfs none rw\n26 25 0:30 / /tmp rw - tmpfs none rw\n",
        );
        let mut given = facts("/tmp/x");
        given.mount_id = Some(25);
        assert_eq!(discover(root.path(), &given).filesystem.as_deref(), Some("ramfs"));
        given.mount_id = Some(99);
        assert_eq!(discover(root.path(), &given).filesystem.as_deref(), Some("tmpfs"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_is_read_without_a_panic() {
        use std::os::unix::fs::MetadataExt;

        use nix::sys::stat::{major, minor};

        let here = env!("CARGO_MANIFEST_DIR");
        let device = fs::metadata(here).unwrap().dev();
        let mut given = facts(here);
        (given.device_major, given.device_minor) = (major(device), minor(device));
        let found = discover(Path::new("/"), &given);
        assert!(found.filesystem.is_some(), "{found:?}");
        assert!(found.machine.kernel.is_some(), "{found:?}");
        let mount = found.mount.clone().unwrap();
        let explained = !found.block.is_empty() || reason(&found, "block").is_some();
        assert!(explained || ram_backed(&found).is_some(), "{found:?}");
        if let Some(first) = found.block.first() {
            assert!(mount.device.starts_with("0:") || first.device == mount.device, "{found:?}");
            assert!(found.block.iter().any(|node| node.below.is_empty()), "{found:?}");
        }
        let now = fs::read_to_string("/proc/interrupts").unwrap_or_default();
        assert_eq!(completion(Path::new("/"), &found.block, &now, &now), None);
    }
}
