//! House rules that clippy cannot see. Each names what to do instead.

use std::fs;
use std::path::{Path, PathBuf};

const FILE_LINES_MAX: usize = 400;

/// Text that must not occur in Rust sources, where it may, and what to do instead. Written in halves,
/// so that this table does not find itself.
const BANNED: [(&[&str], &[&str], &str); 9] = [
    (&["TO", "DO"], &[], "an issue number or nothing"),
    (&["FIX", "ME"], &[], "an issue number or nothing"),
    (&["todo", "!("], &[], "finish it"),
    (&["unimplemented", "!("], &[], "finish it"),
    (&["dbg", "!("], &[], "an assertion with a message"),
    (&["../", "shared"], &[], "the project stands alone"),
    (&["#[", "ignore"], &[], "print why it cannot run, and fail under SYNCTAIL_REQUIRE"),
    (
        &["print", "ln!("],
        &["tests/", "benches/", "sys/build", "src/substrate/cases.rs"],
        "outputs, which survives a closed pipe",
    ),
    (&["process::", "exit"], &["src/main.rs", "src/supervise.rs", "tests/"], "return an exit code"),
];

/// Which rooms may not know which: the flow goes one way.
const UPHILL: [(&str, &[&str]); 7] = [
    ("sys/src", &["synctail_bench", "serde"]),
    ("bench/src", &["crate::record", "crate::verdict", "indicatif", "clap"]),
    ("src/verdict", &["crate::report", "crate::check", "crate::child", "crate::args", "std::fs"]),
    ("src/report", &["crate::check", "crate::child", "crate::args", "std::fs", "synctail_sys"]),
    ("src/trace", &["crate::report", "crate::verdict", "crate::check", "crate::args"]),
    ("src/record", &["crate::report", "crate::verdict::", "crate::check", "synctail_sys"]),
    ("src/substrate", &["crate::check", "crate::child", "crate::args", "synctail_sys"]),
];

const NAMES_THAT_SAY_NOTHING: [&str; 6] = ["util", "utils", "common", "helper", "helpers", "misc"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for room in ["src", "sys", "bench", "tests"] {
        collect(&root().join(room), &mut found);
    }
    assert!(found.len() > 40, "only {} sources found: is this the checkout?", found.len());
    found
}

fn collect(folder: &Path, found: &mut Vec<(String, String)>) {
    let entries = fs::read_dir(folder).unwrap();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            found.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

fn report(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn banned_words_have_a_replacement() {
    let mut complaints = Vec::new();
    for (file, text) in sources() {
        // A test may print why it was skipped.
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (halves, allowed, instead) in BANNED {
            let word = halves.concat();
            let excused = allowed.iter().any(|place| file.contains(place));
            for (number, _) in
                product.lines().enumerate().filter(|(_, line)| line.contains(&word) && !excused)
            {
                complaints.push(format!("{file}:{}: {word}: {instead}", number + 1));
            }
        }
    }
    report(&complaints);
}

#[test]
fn the_flow_goes_one_way() {
    let mut complaints = Vec::new();
    for (file, text) in sources() {
        // What stands under test may look anywhere.
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (room, uphill) in
            UPHILL.iter().filter(|(room, _)| file.starts_with(&format!("{room}/")))
        {
            for word in uphill.iter().filter(|word| product.contains(**word)) {
                complaints.push(format!("{file}: {room} must not know {word}"));
            }
        }
    }
    report(&complaints);
}

#[test]
fn unsafe_code_stands_in_sys_and_only_there() {
    let word = ["unsafe", " {"].concat();
    let forbidden = ["#![forbid(", "unsafe_code)]"].concat();
    let elsewhere =
        |(file, text): &(String, String)| !file.starts_with("sys/") && text.contains(&word);
    let complaints: Vec<String> =
        sources().into_iter().filter(elsewhere).map(|(file, _)| file).collect();
    report(&complaints);
    let engine = fs::read_to_string(root().join("bench/src/lib.rs")).unwrap();
    assert!(engine.contains(&forbidden), "bench/src/lib.rs must forbid it");
}

#[test]
fn files_are_rooms_with_a_name_and_a_first_line() {
    let mut complaints = Vec::new();
    for (file, text) in sources() {
        let stem = Path::new(&file).file_stem().unwrap().to_str().unwrap().to_owned();
        let folder = Path::new(&file).parent().and_then(Path::file_name).unwrap().to_str().unwrap();
        if NAMES_THAT_SAY_NOTHING.iter().any(|name| *name == stem || *name == folder) {
            complaints.push(format!("{file}: name it after a noun of the domain"));
        }
        let lines = text.lines().count();
        if lines > FILE_LINES_MAX {
            complaints.push(format!("{file}: {lines} lines, split it at {FILE_LINES_MAX}"));
        }
        if !text.starts_with("//!") && !file.ends_with("tests.rs") {
            complaints.push(format!("{file}: the first line says what it is for"));
        }
    }
    report(&complaints);
}

#[test]
fn every_dependency_says_why() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let section = manifest.split("[workspace.dependencies]").nth(1).unwrap();
    let section = section.split("\n[").next().unwrap();
    let entries = section.lines().filter(|line| line.contains(" = "));
    let complaints: Vec<String> =
        entries.clone().filter(|line| !line.contains('#')).map(str::to_owned).collect();
    assert!(entries.count() > 10);
    report(&complaints);
}

#[test]
fn the_top_level_is_the_agreed_one() {
    let agreed = [
        "Cargo.toml",
        "Cargo.lock",
        "src",
        "sys",
        "bench",
        "tests",
        "docs",
        "Makefile",
        "README.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "rustfmt.toml",
        "clippy.toml",
        ".gitignore",
        ".ci",
        ".git",
        "target",
    ];
    let entries = fs::read_dir(root()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let strange: Vec<String> = names.filter(|name| !agreed.contains(&name.as_str())).collect();
    report(&strange);
}
