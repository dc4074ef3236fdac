//! Who uses a device, by the kernel's own lists.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What holds a device for less is passing by.
const PASSING: Duration = Duration::from_millis(300);

/// A device with its partitions, and the disk that it is a partition of: what is written to one of them
/// is written to all.
#[derive(Debug, Default)]
pub struct Family {
    /// Kernel's name and `major:minor` of each.
    members: Vec<(String, String)>,
    /// Names of the partitions alone.
    pub partitions: Vec<String>,
}

impl Family {
    /// As sysfs shows it.
    pub fn of(root: &Path, major: u64, minor: u64) -> Family {
        let number = format!("{major}:{minor}");
        let folder = root.join("sys/dev/block").join(&number);
        let Ok(folder) = folder.canonicalize() else {
            return Family { members: vec![(String::new(), number)], partitions: Vec::new() };
        };
        let mut family = Family { members: vec![(name(&folder), number)], ..Family::default() };
        if folder.join("partition").exists()
            && let Some(disk) = folder.parent()
        {
            family.members.extend(numbered(disk));
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let partition = entry.path();
            if partition.join("partition").exists() {
                family.partitions.push(name(&partition));
                family.members.extend(numbered(&partition));
            }
        }
        family.partitions.sort();
        family
    }

    fn has_number(&self, number: &str) -> bool {
        self.members.iter().any(|(_, known)| known == number)
    }

    /// Whether `path` names one of them below /dev.
    fn has_path(&self, path: &str) -> bool {
        let name = path.strip_prefix("/dev/");
        name.is_some_and(|name| self.members.iter().any(|(known, _)| known == name))
    }
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().replace('!', "/")
}

fn numbered(folder: &Path) -> Option<(String, String)> {
    let number = fs::read_to_string(folder.join("dev")).ok()?;
    Some((name(folder), number.trim().to_owned()))
}

/// The first use that is found, in words, and what to do about it.
pub fn first(root: &Path, family: &Family, shown: &str) -> Option<(String, &'static str)> {
    mounted(root, family)
        .or_else(|| swap(root, family, shown))
        .or_else(|| holder(root, family))
        .or_else(|| loop_above(root, family))
        .or_else(|| lasting_writer(root, family, shown))
}

/// By number, and by source: btrfs has numbers of its own.
fn mounted(root: &Path, family: &Family) -> Option<(String, &'static str)> {
    let text = fs::read(root.join("proc/self/mountinfo")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let point = text.lines().find_map(|line| {
        let (front, back) = line.split_once(" - ")?;
        let front: Vec<&str> = front.split(' ').collect();
        let source = back.split(' ').nth(1).unwrap_or_default();
        let is_ours = family.has_number(front.get(2)?) || family.has_path(source);
        is_ours.then(|| front.get(4).map(|point| (*point).to_owned()))?
    })?;
    Some((format!("is mounted at {point}, itself or a part of it"), "unmount it first"))
}

fn swap(root: &Path, family: &Family, shown: &str) -> Option<(String, &'static str)> {
    let text = fs::read_to_string(root.join("proc/swaps")).ok()?;
    let paths = text.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    let path = paths.into_iter().find(|path| family.has_path(path) || *path == shown)?;
    Some((format!("is used as swap ({path})"), "take it out of use with swapoff first"))
}

/// Device mapper (LVM, crypt, multipath), md and bcache leave a link there.
fn holder(root: &Path, family: &Family) -> Option<(String, &'static str)> {
    let (member, holder) = family.members.iter().find_map(|(member, _)| {
        let folder = root.join("sys/class/block").join(member.replace('/', "!")).join("holders");
        let entry = fs::read_dir(folder).ok()?.flatten().next()?;
        Some((member, entry.file_name().to_string_lossy().into_owned()))
    })?;
    let called = fs::read_to_string(root.join("sys/class/block").join(&holder).join("dm/name"));
    let called = called.map_or(String::new(), |name| format!(" ({})", name.trim()));
    Some((
        format!("is part of {holder}{called}, which holds {member}"),
        "take it out of that volume, array or pool first",
    ))
}

fn loop_above(root: &Path, family: &Family) -> Option<(String, &'static str)> {
    let entries = fs::read_dir(root.join("sys/block")).ok()?;
    let above = entries.flatten().find(|entry| {
        let file = fs::read_to_string(entry.path().join("loop/backing_file"));
        file.is_ok_and(|file| family.has_path(file.trim()))
    })?;
    let name = above.file_name().to_string_lossy().into_owned();
    Some((format!("lies under the loop device {name}"), "detach that with losetup --detach first"))
}

/// A program that has it open for writing without a claim, as a virtual machine may. One that only looks
/// for a free loop device, or makes a node, is gone a moment later.
fn lasting_writer(root: &Path, family: &Family, shown: &str) -> Option<(String, &'static str)> {
    let first = writer(root, family, shown)?;
    std::thread::sleep(PASSING);
    writer(root, family, shown).filter(|second| *second == first)
}

fn writer(root: &Path, family: &Family, shown: &str) -> Option<(String, &'static str)> {
    let own = std::process::id().to_string();
    let processes = fs::read_dir(root.join("proc")).ok()?.flatten();
    let numbered = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        name.as_bytes().iter().all(u8::is_ascii_digit) && name != OsStr::new(&own)
    };
    let found = processes.filter(numbered).find_map(|process| {
        let folder = process.path();
        let is_child = parent_of(&folder).is_some_and(|parent| parent == own);
        (!is_child && writes(&folder, family, shown)).then_some(folder)
    })?;
    let called = fs::read_to_string(found.join("comm")).unwrap_or_default();
    let number = name(&found);
    Some((
        format!("is open for writing in process {number} ({})", called.trim()),
        "end that program first",
    ))
}

fn parent_of(process: &Path) -> Option<String> {
    let text = fs::read_to_string(process.join("stat")).ok()?;
    // The name in parentheses may hold anything.
    text.rsplit_once(')')?.1.split_whitespace().nth(1).map(str::to_owned)
}

fn writes(process: &Path, family: &Family, shown: &str) -> bool {
    let links = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    links.into_iter().any(|link| {
        let target: PathBuf = fs::read_link(link.path()).unwrap_or_default();
        let target = target.to_string_lossy();
        (family.has_path(&target) || target == shown)
            && is_for_writing(&process.join("fdinfo").join(link.file_name()))
    })
}

/// The access mode is the last octal digit of `flags:`; 0 is reading.
fn is_for_writing(info: &Path) -> bool {
    let text = fs::read_to_string(info).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u64::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & 3 != 0)
}
