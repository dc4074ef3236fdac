//! Which policy judges, and the exit codes that follow from it.
//!
//! Edges of nanoseconds and of hours make the band the same on every disk.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Cmd, Folder, Outcome};

/// A policy whose four edges are given.
fn policy(folder: &Folder, name: &str, edges: [&str; 4], more: &str) -> PathBuf {
    let bands = ["ideal", "good", "workable", "marginal"];
    let table = |(band, edge): (&str, &str)| {
        format!("[bands.{band}]\nbelow = \"{edge}\"\nsentence = \"this is {band}\"\n")
    };
    let tables: String = bands.into_iter().zip(edges).map(table).collect();
    let broken = "[bands.broken]\nsentence = \"this is broken\"\n";
    folder.with_file(name, &format!("name = \"of a test\"\n{tables}{broken}{more}"))
}

const NEVER: [&str; 4] = ["1ns", "2ns", "3ns", "4ns"];
const ALWAYS: [&str; 4] = ["1h", "2h", "3h", "4h"];

/// A short run judged by `policy`: by a name or a file.
fn judged(folder: &Folder, policy: &str, args: &str) -> (Outcome, Value) {
    let place = folder.with_dir("place");
    let cmd = Cmd::check_json(&place).args("--iters 120 --policy").arg(policy).args(args);
    let outcome = cmd.run();
    let record = outcome.json();
    assert_eq!(record["status"], "complete", "{}", outcome.all());
    let code = record["verdict"]["exit_code"].as_i64().map(|code| code as i32);
    assert_eq!(outcome.code, code, "the recorded code is the real one: {}", outcome.all());
    crate::support::assert_clean(&place);
    std::fs::remove_dir(&place).unwrap();
    (outcome, record)
}

#[test]
fn a_users_policy_decides_band_sentence_and_code() {
    let folder = Folder::new();
    let never = policy(&folder, "never.toml", NEVER, "");
    let always = policy(&folder, "always.toml", ALWAYS, "");
    let (outcome, record) = judged(&folder, never.to_str().unwrap(), "");
    let verdict = &record["verdict"];
    assert_eq!((&verdict["band"], &verdict["pass"]), (&"BROKEN".into(), &false.into()));
    assert_eq!(verdict["policy"], "of a test");
    assert!(verdict["sentence"].as_str().unwrap().contains("this is broken"), "{verdict}");
    outcome.exits(1);
    let (outcome, record) = judged(&folder, always.to_str().unwrap(), "");
    let verdict = &record["verdict"];
    assert_eq!((&verdict["band"], &verdict["pass"]), (&"IDEAL".into(), &true.into()));
    assert_eq!(verdict["confidence"], "clear");
    outcome.exits(0);
}

#[test]
fn a_users_policy_sets_the_plan_and_flags_win() {
    let folder = Folder::new();
    let plan = "[plan]\narm = \"syscall/dsync\"\nblock_size = \"1KiB\"\nlayout = \"overwrite\"\n\
                iterations = 7\nworkers = 2\n";
    let file = policy(&folder, "p.toml", ALWAYS, plan);
    let place = folder.with_dir("place");
    let asked = |args: &str| {
        let cmd = Cmd::check_json(&place).arg("--policy").arg(&file).args(args);
        cmd.args("--file-size 64KiB").run().exits(0).json()["plan"].clone()
    };
    let plan = asked("");
    assert_eq!(plan["arm"], "syscall/dsync");
    assert_eq!((&plan["block_size_bytes"], &plan["layout"]), (&1024.into(), &"overwrite".into()));
    assert_eq!((&plan["iterations"], &plan["workers"]), (&7.into(), &2.into()));
    let plan = asked("--arm syscall/fsync --block-size 512 --layout append --iters 3 --workers 1");
    assert_eq!(plan["arm"], "syscall/fsync");
    assert_eq!((&plan["block_size_bytes"], &plan["layout"]), (&512.into(), &"append".into()));
    assert_eq!((&plan["iterations"], &plan["workers"]), (&3.into(), &1.into()));
}

#[test]
fn fail_at_moves_the_line_and_the_worst_band_is_the_default() {
    let folder = Folder::new();
    let always = policy(&folder, "always.toml", ALWAYS, "");
    let always = always.to_str().unwrap();
    judged(&folder, always, "--fail-at good").0.exits(0);
    judged(&folder, always, "--fail-at ideal").0.exits(1);
    let marginal = policy(&folder, "marginal.toml", ["1ns", "2ns", "3ns", "4h"], "");
    let marginal = marginal.to_str().unwrap();
    let (outcome, record) = judged(&folder, marginal, "");
    assert_eq!(record["verdict"]["band"], "MARGINAL", "{}", outcome.all());
    outcome.exits(0);
    judged(&folder, marginal, "--fail-at marginal").0.exits(1);
    judged(&folder, marginal, "--fail-at MARGINAL").0.exits(1);
}

#[test]
fn etcd_measures_its_own_block_and_recommends_nothing() {
    let folder = Folder::new();
    let (outcome, record) = judged(&folder, "etcd", "");
    assert_eq!(record["plan"]["block_size_bytes"], 2300);
    assert_eq!(record["verdict"]["policy"], "etcd");
    assert!(record["verdict"]["recommendation"].is_null());
    assert!(record["verdict"]["prediction"].is_null());
    let p99 = record["verdict"]["p99_ns"].as_u64().unwrap();
    let pass = p99 < 10_000_000;
    assert_eq!(record["verdict"]["pass"], pass, "{}", outcome.all());
    outcome.exits(if pass { 0 } else { 1 });
}

#[test]
fn without_proof_a_proof_cannot_be_required() {
    let folder = Folder::new();
    let always = policy(&folder, "always.toml", ALWAYS, "");
    let (outcome, record) = judged(&folder, always.to_str().unwrap(), "--require-proof");
    assert_eq!(record["verdict"]["durability"], "unproved", "{}", outcome.all());
    assert_eq!(record["verdict"]["pass"], false);
    outcome.exits(4);
    // Code 4 wins over 1.
    let never = policy(&folder, "never.toml", NEVER, "");
    judged(&folder, never.to_str().unwrap(), "--require-proof").0.exits(4);
}

#[test]
fn the_metric_can_be_the_whole_pair() {
    let folder = Folder::new();
    let (_, record) = judged(&folder, "jetstream", "--metric total");
    assert_eq!(record["verdict"]["metric"], "total");
    assert_eq!(record["plan"]["metric"], "total");
    let total = &record["distributions"]["workers"][0]["total"]["p99_ns"];
    assert_eq!(&record["verdict"]["p99_ns"], total);
    let (_, record) = judged(&folder, "jetstream", "--arm syscall/dsync");
    assert_eq!(record["verdict"]["metric"], "total", "this arm has no barrier of its own");
}

#[test]
fn a_policy_that_cannot_be_read_is_a_usage_error_that_names_it() {
    let folder = Folder::new();
    let typo = policy(&folder, "typo.toml", ALWAYS, "[plan]\nblock_sise = \"1KiB\"\n");
    let order = policy(&folder, "order.toml", ["2ms", "1ms", "3ms", "4ms"], "");
    let bytes = folder.at("bytes.toml");
    std::fs::write(&bytes, b"name = \"\xff\"").unwrap();
    for (file, why) in [
        (folder.at("none.toml"), "none.toml"),
        (folder.path().to_owned(), "synctail-test-"),
        (typo, "block_sise"),
        (order, "good"),
        (bytes, "bytes.toml"),
        (PathBuf::from("etcdd"), "etcd"),
    ] {
        let cmd = Cmd::check(folder.path()).args("--iters 3 --policy").arg(&file);
        let outcome = cmd.run().exits(2).complains("--policy").complains(why);
        assert!(outcome.stdout.is_empty(), "{}", outcome.all());
    }
}

#[test]
fn a_policy_without_an_end_is_refused() {
    let folder = Folder::in_memory();
    let outcome = Cmd::check(folder.path()).args("--policy /dev/zero").run().exits(2);
    assert!(outcome.stderr_text().contains("--policy"), "{}", outcome.all());
}
