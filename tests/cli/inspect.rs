//! `synctail inspect`: looks, says, and writes nothing.

use std::fs;

use serde_json::Value;

use crate::support::{Cmd, Folder, Nobody, names_in};

fn inspect(path: impl AsRef<std::path::Path>) -> Cmd {
    Cmd::bare().arg("inspect").arg(path.as_ref())
}

fn document(cmd: Cmd, code: i32) -> Value {
    let outcome = cmd.args("--format json").run().exits(code);
    let document = outcome.json();
    assert_eq!(document["schema"], "synctail.inspection/1", "{}", outcome.all());
    document
}

#[test]
fn what_lies_under_a_path_is_said_and_nothing_is_written() {
    let folder = Folder::new();
    let document = document(inspect(folder.path()), 0);
    assert_eq!(document["durability"], "unproved");
    assert!(document["substrate"]["filesystem"].is_string(), "{document:#}");
    assert!(document["substrate"]["machine"]["kernel"].is_string(), "{document:#}");
    assert!(names_in(folder.path()).is_empty());
    let resolved = folder.path().canonicalize().unwrap();
    assert_eq!(document["path"], resolved.to_str().unwrap());
    // The record of a run has the same under it.
    let record = Cmd::check_json(folder.path()).args("--iters 5").run().json();
    for key in ["filesystem", "mount"] {
        assert_eq!(record["substrate"][key], document["substrate"][key], "{key}");
    }
    let text = inspect(folder.path()).run().exits(0);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("durability: unproved"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn memory_is_not_durable_by_looking_alone() {
    let folder = Folder::in_memory();
    let document = document(inspect(folder.path()), 4);
    assert_eq!(document["durability"], "not_durable");
    assert_eq!(document["findings"][0]["code"], "ram_backed");
}

#[test]
fn what_is_no_directory_is_refused_in_both_formats() {
    let folder = Folder::new();
    let file = folder.at("file");
    fs::write(&file, "keep").unwrap();
    for (path, errno) in [(folder.at("none"), "ENOENT"), (file.clone(), "ENOTDIR")] {
        let text = inspect(&path).run().exits(3).complains(errno);
        assert!(text.stdout.is_empty(), "{}", text.all());
        let document = document(inspect(&path), 3);
        assert_eq!(document["error"]["errno_name"], errno);
        assert!(document.get("substrate").is_none(), "{document:#}");
    }
    assert_eq!(fs::read(&file).unwrap(), b"keep");
}

#[test]
fn a_user_without_rights_may_look() {
    let Some(nobody) = Nobody::new() else { return };
    let folder = Folder::open_to_all();
    let outcome = nobody.runs(inspect(folder.path()).args("--show-serials")).run();
    assert!(outcome.stderr.is_empty(), "{}", outcome.all());
    outcome.exits(0);
}

#[test]
fn what_is_no_nvme_controller_is_refused_with_a_reason_and_not_changed() {
    let folder = Folder::new();
    let file = folder.at("file");
    fs::write(&file, "keep").unwrap();
    for (device, errno) in [(file.as_path(), "ENOTTY"), (folder.at("none").as_path(), "ENOENT")] {
        let outcome = Cmd::bare().arg("identify").arg(device).run().exits(0);
        let answer = String::from_utf8(outcome.stdout.clone()).unwrap();
        assert!(answer.starts_with("refused: ") && answer.contains(errno), "{}", outcome.all());
    }
    assert_eq!(fs::read(&file).unwrap(), b"keep");
}

#[test]
fn power_loss_protection_is_inferred_from_something_or_unknown() {
    let folder = Folder::new();
    let document = document(inspect(folder.path()), 0);
    let block = document["substrate"]["block"].as_array().unwrap();
    let disks = block.iter().filter(|node| node["kind"] == "disk");
    let inferred = document["power_loss_protection"].as_array().map_or(&[][..], Vec::as_slice);
    for disk in disks.filter(|disk| disk.get("below").is_none()) {
        let of = inferred.iter().find(|one| one["node"] == disk["name"]).unwrap();
        assert!(!of["from"].as_str().unwrap().is_empty(), "{document:#}");
        if disk["transport"] == "virtio" {
            assert_eq!(of["inferred"], "unknown", "{document:#}");
        }
    }
}
