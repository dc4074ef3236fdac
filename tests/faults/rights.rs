//! A directory in which nothing may be made.

use std::ffi::OsStr;

use super::has_errno;
use crate::support::{Cmd, Filesystem, Folder, Make, Mount, Nobody, assert_clean, heavy, system};

#[test]
fn a_read_only_filesystem_is_refused_by_name() {
    let _heavy = heavy();
    let Some(fs) = Filesystem::new(Make { mount_options: "ro", ..Make::EXT4 }) else { return };
    refused_as_read_only(fs.path());
}

#[test]
fn a_read_only_bind_mount_of_a_writable_directory_is_refused_too() {
    if !crate::support::is_root() {
        return;
    }
    let folder = Folder::new();
    let bound = Mount::of(&[OsStr::new("--bind"), folder.path().as_os_str()]);
    let options = ["-o", "remount,bind,ro"].map(OsStr::new);
    system("mount", &[&options[..], &[bound.point().as_os_str()]].concat());
    refused_as_read_only(bound.point());
    folder.is_clean();
}

fn refused_as_read_only(place: &std::path::Path) {
    for args in ["", "--layout overwrite", "--clean"] {
        let record = Cmd::check_json(place).args(args).run().failure();
        has_errno(&record, 30, "EROFS");
        let message = record["error"]["message"].as_str().unwrap();
        assert!(message.contains(place.to_str().unwrap()), "{message}");
        assert!(record["error"]["remedy"].as_str().unwrap().contains("read-write"), "{record}");
    }
    Cmd::check(place).run().exits(3).complains("EROFS").complains("read-write");
    assert_clean(place);
}

#[test]
fn a_directory_of_somebody_else_is_refused_by_name() {
    let Some(nobody) = Nobody::new() else { return };
    let outer = Folder::open_to_all();
    // Neither may be written; the second may not even be looked into.
    let readable = outer.with_dir("readable");
    let closed = outer.with_dir("closed");
    let inner = closed.join("inner");
    std::fs::create_dir(&inner).unwrap();
    system("chmod", &[OsStr::new("0755"), readable.as_os_str()]);
    system("chmod", &[OsStr::new("0700"), closed.as_os_str()]);
    for place in [&readable, &closed, &inner] {
        let record = nobody.runs(Cmd::check_json(place)).run().failure();
        has_errno(&record, 13, "EACCES");
        let message = record["error"]["message"].as_str().unwrap();
        assert!(message.contains(place.to_str().unwrap()), "{message}");
        let remedy = record["error"]["remedy"].as_str().unwrap();
        assert!(remedy.contains("directory that this user may write"), "{remedy}");
    }
    for place in [&readable, &inner] {
        assert_clean(place);
    }
    assert_eq!(outer.names(), ["closed", "readable"]);
}

#[test]
fn a_user_without_any_right_can_measure_a_directory_of_his_own() {
    let Some(nobody) = Nobody::new() else { return };
    let folder = Folder::open_to_all();
    let outcome = nobody.runs(Cmd::check_json(folder.path()).args("--iters 20")).run();
    let record = outcome.json();
    assert_eq!(record["status"], "complete", "{}", outcome.all());
    assert_eq!(record["counters"]["pairs"], 20);
    folder.is_clean();
}
