//! Where the result goes, and what happens where it cannot go there.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Cmd, Folder, eventually, names_in};

const PATIENCE: Duration = Duration::from_secs(10);

/// A standard output whose reader has gone.
fn closed_pipe() -> File {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    File::from(OwnedFd::from(writer))
}

fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    // On memory the verdict's code is 4, which nothing else gives.
    for args in ["--format text", "--format json", "--format text --verbose --workers 20"] {
        let folder = Folder::in_memory();
        let cmd = Cmd::check(folder.path()).args("--iters 120").args(args);
        let outcome = cmd.stdout_to(closed_pipe()).run().exits(4);
        assert!(outcome.stderr.is_empty(), "{}", outcome.all());
        folder.is_clean();
    }
    let help = Cmd::bare().arg("--help").stdout_to(closed_pipe()).run().exits(0);
    assert!(help.stderr.is_empty(), "{}", help.all());
}

#[test]
fn streams_that_are_not_open_at_all_change_no_code() {
    for redirection in [">&-", "2>&-", "<&-", "<&- >&- 2>&-"] {
        let folder = Folder::in_memory();
        let cmd = Cmd::check(folder.path()).args("--iters 120");
        let outcome = cmd.redirected(redirection).run().exits(4);
        assert!(outcome.stderr.is_empty(), "{}", outcome.all());
        folder.is_clean();
    }
    // A failure has nobody to tell, and still its code.
    let folder = Folder::new();
    Cmd::check(folder.at("none")).redirected("2>&-").run().exits(3);
}

#[test]
fn a_full_disk_for_standard_output_is_said() {
    for args in ["--format text", "--format json"] {
        let folder = Folder::in_memory();
        let cmd = Cmd::check(folder.path()).args("--iters 120").args(args).stdout_to(full());
        cmd.run().exits(3).complains("standard output").complains("No space left on device");
        folder.is_clean();
    }
    Cmd::bare().arg("--help").stdout_to(full()).run().exits(3).complains("standard output");
    Cmd::check("/none/such").args("--format json").stdout_to(full()).run().exits(3);
}

#[test]
fn a_full_disk_for_a_file_is_said_with_its_name() {
    let folder = Folder::in_memory();
    for flag in ["--output", "--save"] {
        let cmd = Cmd::check(folder.path()).args("--iters 120").arg(flag).arg("/dev/full");
        cmd.run().exits(3).complains(flag).complains("/dev/full");
    }
    // The result is not lost with the record, and says how the command ends.
    let outcome = Cmd::check_json(folder.path()).args("--iters 120 --save /dev/full").run();
    assert_eq!(outcome.json()["status"], "complete", "{}", outcome.all());
    assert_eq!(outcome.json()["verdict"]["exit_code"], 3, "{}", outcome.all());
    folder.is_clean();
}

#[test]
fn the_result_goes_to_a_file_instead() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    let file = folder.at("result.json");
    let cmd = Cmd::check_json(&place).args("--iters 20 --output").arg(&file);
    let outcome = cmd.run();
    assert!(outcome.stdout.is_empty() && outcome.stderr.is_empty(), "{}", outcome.all());
    let record: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(record["status"], "complete");
    assert!(record["samples"].is_null());
    let text = folder.at("result.txt");
    let outcome = Cmd::check(&place).args("--iters 20 --output").arg(&text).run();
    assert!(outcome.stdout.is_empty(), "{}", outcome.all());
    assert!(fs::read_to_string(&text).unwrap().starts_with("syscall/fdatasync, "));
    assert_eq!(folder.names(), ["place", "result.json", "result.txt"]);
}

#[test]
fn the_saved_record_is_the_printed_one_with_every_sample() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    let file = folder.at("record.json");
    let cmd = Cmd::check_json(&place).args("--iters 30 --workers 2 --save").arg(&file);
    let printed = cmd.run().json();
    let mut saved: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let samples = saved.as_object_mut().unwrap().remove("samples").expect("samples");
    assert_eq!(saved, printed);
    for worker in 0..2 {
        let own = &samples["workers"][worker];
        for column in ["start_ns", "write_ns", "barrier_ns", "total_ns"] {
            assert_eq!(own[column].as_array().unwrap().len(), 30, "{column} of worker {worker}");
        }
    }
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "a result is an ordinary file");
}

#[test]
fn a_place_that_cannot_be_written_is_found_before_the_run() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    let existing = folder.with_file("file", "keep");
    for (flag, file) in [
        ("--output", folder.at("none/result")),
        ("--save", folder.at("none/result")),
        ("--save", folder.path().to_owned()),
        ("--output", existing.join("below")),
    ] {
        // A run of an hour would be noticed.
        let cmd = Cmd::check_json(&place).args("--duration 1h").arg(flag).arg(&file);
        let outcome = cmd.run().exits(3).complains(flag).complains(file.to_str().unwrap());
        let record = outcome.json();
        assert_eq!(record["status"], "failed", "{}", outcome.all());
        assert_eq!(record["error"]["stage"], "output");
    }
    assert_eq!(folder.names(), ["file", "place"]);
    assert_eq!(fs::read_to_string(existing).unwrap(), "keep");
}

#[test]
fn a_refused_command_leaves_an_older_result_alone() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    let older = folder.with_file("result.txt", "older");
    for (args, code) in [("--policy none.toml", 2), ("--depth 2", 2), ("--output none/result", 3)] {
        let cmd = Cmd::check(&place).args(args).args("--duration 1h --save").arg(&older);
        cmd.run().exits(code);
        assert_eq!(fs::read_to_string(&older).unwrap(), "older", "{args}");
    }
    assert_eq!(folder.names(), ["place", "result.txt"]);
}

#[test]
fn one_file_cannot_hold_both_documents() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    std::os::unix::fs::symlink(folder.at("result"), folder.at("link")).unwrap();
    fs::write(folder.at("result"), "older").unwrap();
    for other in ["result", "./result", "place/../result", "link"] {
        let cmd = Cmd::check(&place).args("--duration 1h --output").arg(folder.at("result"));
        cmd.arg("--save").arg(folder.at(other)).run().exits(2).complains("--save");
        assert_eq!(fs::read_to_string(folder.at("result")).unwrap(), "older", "{other}");
    }
    // What keeps nothing may take both.
    let cmd = Cmd::check(&place).args("--iters 5 --output /dev/null --save /dev/null");
    let outcome = cmd.run();
    assert!(outcome.stderr.is_empty() && outcome.code != Some(2), "{}", outcome.all());
}

#[test]
fn standard_output_by_its_name_stays_a_link() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    let link = folder.at("stdout");
    // As /dev/stdout is, without the risk of losing that one.
    std::os::unix::fs::symlink("/proc/self/fd/1", &link).unwrap();
    let file = folder.at("result");
    let cmd = Cmd::check_json(&place).args("--iters 5 --output").arg(&link);
    let outcome = cmd.stdout_to(File::create(&file).unwrap()).run();
    assert!(link.is_symlink(), "{}", outcome.all());
    let record: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(record["status"], "complete");
    // A pipe has no place of its own and is written to.
    let outcome = Cmd::check_json(&place).args("--iters 5 --output").arg(&link).run();
    assert_eq!(outcome.json()["status"], "complete", "{}", outcome.all());
}

#[test]
fn a_failure_in_json_goes_where_the_result_would_have_gone() {
    let folder = Folder::new();
    let file = folder.at("result.json");
    let cmd = Cmd::check_json(folder.at("none")).arg("--output").arg(&file);
    let outcome = cmd.run().exits(3).complains("ENOENT");
    assert!(outcome.stdout.is_empty(), "{}", outcome.all());
    let record: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!((&record["status"], &record["verdict"]), (&"failed".into(), &Value::Null));
}

#[test]
fn a_dash_is_standard_output() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    let cmd = || Cmd::check_json(&place).args("--iters 20").in_dir(folder.path());
    let outcome = cmd().args("--output -").run();
    assert_eq!(outcome.json()["status"], "complete", "{}", outcome.all());
    let outcome = cmd().args("--output result --save -").run();
    assert_eq!(outcome.json()["samples"]["workers"].as_array().unwrap().len(), 1);
    cmd().args("--save -").run().exits(2).complains("--save");
    assert_eq!(names_in(folder.path()), ["place", "result"]);
}

#[test]
fn nothing_lies_beside_the_result_during_the_run() {
    let folder = Folder::new();
    let place = folder.with_dir("place");
    let results = folder.with_dir("results");
    let args = "--duration 50s --max-duration 3s --output";
    let running = Cmd::check(&place).args(args).arg(results.join("text")).start();
    assert!(eventually(PATIENCE, || !names_in(&place).is_empty()), "a run that began");
    assert!(names_in(&results).is_empty(), "{:?}", names_in(&results));
    running.wait();
    assert_eq!(names_in(&results), ["text"]);
}

#[test]
fn a_missing_folder_is_named_as_it_was_typed() {
    let folder = Folder::new();
    let missing = folder.at("none").join("result");
    let outcome = Cmd::check(folder.path()).arg("--output").arg(&missing).run().exits(3);
    assert!(!outcome.stderr_text().contains(".tmp"), "{}", outcome.all());
    outcome.complains(&format!("write {}: No such file", missing.display()));
}
