//! Command lines that mean nothing, and those that only ask.

use crate::support::{Cmd, Folder};

#[test]
fn help_and_version_are_results() {
    for (args, word) in [
        ("--help", "check"),
        ("help check", "--block-size"),
        ("check --help", "Exit codes"),
        ("check -h", "--block-size"),
        ("--version", env!("CARGO_PKG_VERSION")),
    ] {
        let outcome = Cmd::bare().args(args).run().exits(0);
        assert!(outcome.stdout_text().contains(word), "no {word:?}: {}", outcome.all());
        assert!(outcome.stderr.is_empty(), "{}", outcome.all());
    }
}

#[test]
fn an_unknown_word_is_named_on_standard_error() {
    for (args, word) in [
        ("check . --frobnicate", "--frobnicate"),
        ("frobnicate", "frobnicate"),
        ("check . second", "second"),
        ("check . --format yaml", "yaml"),
        ("check . --layout sideways", "sideways"),
    ] {
        let outcome = Cmd::bare().args(args).run().exits(2).complains(word);
        assert!(outcome.stdout.is_empty(), "{}", outcome.all());
    }
    let outcome = Cmd::bare().run().exits(2).complains("Usage");
    assert!(outcome.stdout.is_empty(), "{}", outcome.all());
}

#[test]
fn a_program_that_reads_json_gets_one_document_for_a_bad_command_line() {
    for args in ["--format json --frobnicate", "--frobnicate --format=json", "--format json -qv"] {
        let outcome = Cmd::check(".").args(args).run().exits(2);
        let record = outcome.json();
        assert_eq!(record["schema"], "synctail.record/1", "{}", outcome.all());
        assert_eq!(record["status"], "failed");
        assert_eq!(record["error"]["stage"], "usage");
        assert!(record["verdict"].is_null() && record["plan"].is_null(), "{}", outcome.all());
        assert!(!outcome.stderr.is_empty(), "a person is told as well");
    }
}

/// Each flag that takes a number with numbers that cannot be meant.
const BAD: [(&str, &[&str]); 14] = [
    ("--iters", &["0", "-1", "1.5", "1e3", "x", "99999999999999999999"]),
    ("--warmup", &["0", "-1", "many"]),
    ("--workers", &["0", "-1", "10001"]),
    ("--depth", &["0", "100000"]),
    ("--block-size", &["0", "-1", "1TiB", "4 parsecs", "NaN"]),
    ("--file-size", &["0", "-1", "x"]),
    ("--max-bytes", &["0", "-1", "x"]),
    ("--max-samples", &["0", "-1", "68719476737"]),
    ("--duration", &["0s", "5", "-1s", "1e9s"]),
    ("--timeout", &["0ms", "60", "x"]),
    ("--max-duration", &["0s", "60", "x"]),
    ("--pin", &["3-1", "", "a", "99999999"]),
    ("--seed", &["-1", "x"]),
    ("--arm", &["fio/fsync", "uring-linked/none", ""]),
];

#[test]
fn a_number_that_cannot_be_meant_is_refused_by_the_name_of_its_flag() {
    let folder = Folder::new();
    for (flag, values) in BAD {
        for value in values {
            let cmd = Cmd::check_json(folder.path()).arg(format!("{flag}={value}"));
            let outcome = cmd.run().exits(2).complains(flag);
            let record = outcome.json();
            let message = record["error"]["message"].as_str().unwrap();
            assert!(message.contains(flag), "{message:?} of {}", outcome.all());
        }
    }
    folder.is_clean();
}

#[test]
fn flags_that_contradict_each_other_are_refused_by_name() {
    let folder = Folder::new();
    for (args, flag) in [
        ("--iters 5 --duration 5s", "--iters"),
        ("--verbose --quiet", "--quiet"),
        ("--depth 2", "--depth"),
        ("--sqpoll", "--sqpoll"),
        ("--registered", "--registered"),
        ("--iowq any", "--iowq"),
        ("--iters 100 --max-samples 99", "--iters"),
        ("--duration 1s --workers 5 --max-samples 4", "--max-samples"),
        ("--max-bytes 4095", "--max-bytes"),
        ("--workers 3 --max-bytes 12287", "--max-bytes"),
        ("--file-size 2MiB --max-bytes 1MiB", "--file-size"),
        ("--file-size 4095", "--file-size"),
    ] {
        let outcome = Cmd::check(folder.path()).args(args).run().exits(2).complains(flag);
        assert!(outcome.stdout.is_empty(), "{}", outcome.all());
    }
    folder.is_clean();
}

#[test]
fn more_samples_than_memory_can_address_are_refused_before_anything_is_made() {
    let folder = Folder::new();
    // An address space that holds the program and not the samples.
    let cmd = Cmd::check_json(folder.path()).args("--duration 1s --max-samples 1000000000");
    let record = cmd.under("prlimit --as=4294967296").run().failure();
    let error = &record["error"];
    assert!(error["message"].as_str().unwrap().contains("ENOMEM"), "{error}");
    assert!(error["remedy"].as_str().unwrap().contains("--max-samples"), "{error}");
    folder.is_clean();
}
