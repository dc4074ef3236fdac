//! A real filesystem on a loop device, for as long as a test lasts.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::device::{has_program, system};
use super::{Folder, Image, LoopDevice, Mount, is_root, require};

/// What to make.
#[derive(Clone, Copy, Debug)]
pub struct Make {
    /// As mkfs and the kernel know it.
    pub kind: &'static str,
    /// Options of mkfs.
    pub options: &'static [&'static str],
    /// Options of mount.
    pub mount_options: &'static str,
    /// Size of the device.
    pub mebibytes: u64,
    /// Logical sector of the device.
    pub sector_bytes: u32,
}

impl Make {
    /// ext4 with a journal.
    pub const EXT4: Make = Make {
        kind: "ext4",
        options: &["-q", "-F", "-m", "0", "-E", "lazy_itable_init=1", "-O", "has_journal"],
        mount_options: "defaults",
        mebibytes: 64,
        sector_bytes: 512,
    };
    /// ext4 without one, as some virtual machines have.
    pub const EXT4_WITHOUT_JOURNAL: Make =
        Make { options: &["-q", "-F", "-m", "0", "-O", "^has_journal"], ..Make::EXT4 };
    /// The smallest size that mkfs.xfs makes by default is 300 MiB.
    pub const XFS: Make =
        Make { kind: "xfs", options: &["-q", "-f"], mebibytes: 320, ..Make::EXT4 };
    /// One device, data once.
    pub const BTRFS: Make =
        Make { kind: "btrfs", options: &["-q", "-f"], mebibytes: 256, ..Make::EXT4 };
}

/// A mounted filesystem. Fields are dropped in this order: mount, device, folder.
#[derive(Debug)]
pub struct Filesystem {
    mount: Mount,
    device: LoopDevice,
    _folder: Folder,
}

impl Filesystem {
    /// Makes and mounts it; nothing, said, where this machine cannot.
    #[track_caller]
    pub fn new(make: Make) -> Option<Filesystem> {
        Filesystem::on(Path::new(env!("CARGO_TARGET_TMPDIR")), make)
    }

    /// The same with its image in a directory of another filesystem.
    #[track_caller]
    pub fn on(below: &Path, make: Make) -> Option<Filesystem> {
        let can = can_loop() && can_make(make.kind);
        can.then(|| Filesystem::made_in(Folder::inside(below), make))
    }

    fn made_in(folder: Folder, make: Make) -> Filesystem {
        let image = Image::sparse(folder.path(), make.mebibytes);
        let device = LoopDevice::over(image, make.sector_bytes);
        let node = device.node().as_os_str();
        let mut args: Vec<&OsStr> = make.options.iter().map(OsStr::new).collect();
        args.push(node);
        system(&format!("mkfs.{}", make.kind), &args);
        let options = ["-t", make.kind, "-o", make.mount_options].map(OsStr::new);
        let mount = Mount::of(&[&options[..], &[node]].concat());
        Filesystem { mount, device, _folder: folder }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.mount.point()
    }

    /// The kernel's name of its device, such as `loop3`.
    pub fn device_name(&self) -> String {
        self.device.node().file_name().unwrap().to_string_lossy().into_owned()
    }
}

#[track_caller]
fn can_loop() -> bool {
    if !is_root() {
        return false;
    }
    let can = Path::new("/dev/loop-control").exists();
    if !can {
        require("loop", "no /dev/loop-control");
    }
    can
}

#[track_caller]
fn can_make(kind: &str) -> bool {
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    if !known.split_whitespace().any(|word| word == kind) {
        require(kind, "the kernel does not have it");
        return false;
    }
    let tool = format!("mkfs.{kind}");
    let can = has_program(&tool);
    if !can {
        require(kind, &format!("{tool} is not installed"));
    }
    can
}
