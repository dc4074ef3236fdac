//! Loop devices and mounts that are undone in the order of their making, also by a panic.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Folder;

/// Runs a program of the system and returns what it printed.
///
/// # Panics
/// Where it fails, with everything it said.
#[track_caller]
pub fn system(program: &str, args: &[&OsStr]) -> String {
    let output = Command::new(program).args(args).env("LC_ALL", "C").output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {said}{complained}");
    said
}

/// The same with arguments that hold no spaces of their own.
#[track_caller]
pub fn system_line(line: &str) -> String {
    let words: Vec<&OsStr> = line.split_whitespace().map(OsStr::new).collect();
    let (program, args) = words.split_first().expect("a program");
    system(program.to_str().expect("text"), args)
}

/// Whether `program` is installed.
pub fn has_program(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(system).any(|dir| dir.join(program).exists())
}

/// A sparse file that is the storage of a device.
#[derive(Debug)]
pub struct Image(PathBuf);

impl Image {
    /// A hole of `mebibytes` in `folder`.
    pub fn sparse(folder: &Path, mebibytes: u64) -> Image {
        let path = folder.join("image");
        let file = File::create_new(&path).unwrap();
        file.set_len(mebibytes << 20).unwrap();
        Image(path)
    }
}

/// A block device over an image.
#[derive(Debug)]
pub struct LoopDevice {
    node: PathBuf,
    _image: Image,
}

impl LoopDevice {
    /// With logical sectors of so many bytes.
    pub fn over(image: Image, sector_bytes: u32) -> LoopDevice {
        let sector = sector_bytes.to_string();
        let args = ["--find", "--show", "--sector-size", &sector].map(OsStr::new);
        let node = system("losetup", &[&args[..], &[image.0.as_os_str()]].concat());
        LoopDevice { node: node.trim().into(), _image: image }
    }

    /// Its name in /dev.
    pub fn node(&self) -> &Path {
        &self.node
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        undo("losetup", &[OsStr::new("--detach"), self.node.as_os_str()]);
    }
}

/// Something mounted on a directory of its own.
#[derive(Debug)]
pub struct Mount {
    point: PathBuf,
    _folder: Folder,
}

impl Mount {
    /// `mount ARGS DIRECTORY`.
    pub fn of(args: &[&OsStr]) -> Mount {
        let folder = Folder::open_to_all();
        let point = folder.with_dir("m");
        system("mount", &[args, &[point.as_os_str()]].concat());
        Mount { point, _folder: folder }
    }

    /// A filesystem in memory.
    pub fn tmpfs(bytes: u64) -> Mount {
        let options = format!("size={bytes}");
        Mount::of(&["-t", "tmpfs", "-o", &options, "none"].map(OsStr::new))
    }

    /// Where it is.
    pub fn point(&self) -> &Path {
        &self.point
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let point = self.point.as_os_str();
        if !undo("umount", &[point]) {
            // Lazily: what a failed test left running must not keep the mount in everybody's sight.
            undo("umount", &[OsStr::new("--lazy"), point]);
        }
    }
}

/// Undoes a step; a second panic during a first one would hide it, so that is only said.
fn undo(program: &str, args: &[&OsStr]) -> bool {
    let output = Command::new(program).args(args).output();
    let done = output.as_ref().is_ok_and(|output| output.status.success());
    if !done {
        let text = output.map(|o| String::from_utf8_lossy(&o.stderr).into_owned());
        eprintln!("{program} {args:?}: {text:?}");
    }
    done
}
