//! Libraries that make fsync a call that does nothing.

use std::path::{Path, PathBuf};

use super::{is_caught, is_not_accused, run};
use crate::support::{Cmd, Folder, has_program, require, system};

/// Swallows both calls, and answers a bad descriptor as the kernel would.
const OWN: &str = "
#include <errno.h>
#include <fcntl.h>
int fsync(int fd) { if (fcntl(fd, F_GETFD) < 0) { errno = EBADF; return -1; } return 0; }
int fdatasync(int fd) { return fsync(fd); }
";

pub fn own_swallower(folder: &Folder) -> Option<PathBuf> {
    if !has_program("cc") {
        require("cc", "no C compiler");
        return None;
    }
    let (source, library) = (folder.at("swallow.c"), folder.at("libswallow.so"));
    std::fs::write(&source, OWN).unwrap();
    let args = ["-shared", "-fPIC", "-o"].map(std::ffi::OsStr::new);
    system("cc", &[&args[..], &[library.as_os_str(), source.as_os_str()]].concat());
    Some(library)
}

pub fn eatmydata() -> Option<PathBuf> {
    let folders =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib", "/usr/lib64"];
    let found = folders.iter().map(|folder| Path::new(folder).join("libeatmydata.so"));
    let found = found.into_iter().find(|path| path.exists());
    if found.is_none() {
        require("eatmydata", "libeatmydata.so is not installed");
    }
    found
}

fn every_touched_arm_is_caught(library: &Path) {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    for arm in ["syscall/fdatasync", "syscall/fsync"] {
        let preload = library.to_str().unwrap();
        let (outcome, record) = run(Cmd::check_json(&place).env("LD_PRELOAD", preload), arm);
        is_caught(&outcome, &record, "fsync_intercepted");
        let evidence = record["verdict"]["durability_evidence"].as_str().unwrap();
        assert!(evidence.contains(preload), "{evidence}");
    }
    // The ring and a write with RWF_DSYNC do not pass by the library's fsync.
    for arm in ["uring-linked/fdatasync", "uring/fsync", "syscall/dsync"] {
        let preload = library.to_str().unwrap();
        let (outcome, record) = run(Cmd::check_json(&place).env("LD_PRELOAD", preload), arm);
        assert_eq!(record["verdict"]["durability"], "unproved", "{arm}: {}", outcome.all());
    }
}

#[test]
fn eatmydata_is_caught_in_every_arm_that_it_touches() {
    let Some(library) = eatmydata() else { return };
    every_touched_arm_is_caught(&library);
}

#[test]
fn a_swallower_that_answers_as_the_kernel_does_is_caught_too() {
    let folder = Folder::new();
    let Some(library) = own_swallower(&folder) else { return };
    every_touched_arm_is_caught(&library);
}

#[test]
fn without_a_library_in_between_nobody_is_accused() {
    let folder = Folder::new();
    let record = is_not_accused(folder.path(), "syscall/fdatasync");
    let symbols = record["proof"]["symbols"].as_array().unwrap();
    let object = |name: &str| {
        let symbol = symbols.iter().find(|symbol| symbol["name"] == name).unwrap();
        symbol["object"].as_str().unwrap().to_owned()
    };
    assert!(object("fdatasync").contains("libc"), "{symbols:?}");
    assert_eq!(record["proof"]["refuses_bad_descriptor"], true);
}
