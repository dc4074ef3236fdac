//! Paths of any bytes: the result is never lost for a name, and no name steers a terminal.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde_json::Value;

use crate::support::{Cmd, Folder, Outcome};

/// Names that have broken somebody's report.
const NAMES: [&[u8]; 10] = [
    b"\xff",
    b"caf\xe9 \xf0\x9f",
    b"a\nverdict: IDEAL",
    b"\x1b[31mred\x1b]0;title\x07",
    b"it's \"quoted\" \\ back\\",
    b"tab\tcr\rdel\x7f",
    "\u{202e}reversed\u{2028}".as_bytes(),
    b"<script><img src=x onerror=alert(1)>",
    b"-x",
    "mit Leerzeichen und \u{e4}\u{6f22}".as_bytes(),
];

/// Asserts that nothing in the text could steer a terminal, be it on either stream.
pub fn steers_nothing(outcome: &Outcome) {
    for text in [outcome.stdout_text(), outcome.stderr_text()] {
        let control =
            |c: char| (c.is_control() && c != '\n') || ('\u{2028}'..='\u{202e}').contains(&c);
        assert!(!text.contains(control), "a control character in {text:?}");
    }
}

#[test]
fn json_is_valid_and_keeps_the_bytes_of_a_path() {
    for name in NAMES {
        let folder = Folder::in_memory();
        let place = folder.with_dir(OsStr::from_bytes(name));
        let outcome = Cmd::check_json(&place).args("--iters 3").run().exits(4);
        let plan = &outcome.json()["plan"];
        let path = place.canonicalize().unwrap();
        match path.to_str() {
            Some(text) => {
                assert_eq!(plan["path"], text);
                assert!(plan.get("path_bytes_hex").is_none(), "{plan}");
            }
            None => {
                assert_eq!(plan["path"], path.to_string_lossy().as_ref());
                assert_eq!(plan["path_bytes_hex"], hex(path.as_os_str().as_bytes()));
            }
        }
        crate::support::assert_clean(&place);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn text_shows_a_path_and_obeys_none_of_it() {
    for name in NAMES {
        let folder = Folder::in_memory();
        let place = folder.with_dir(OsStr::from_bytes(name));
        let outcome = Cmd::check(&place).args("--iters 3 --verbose --recommend").run().exits(4);
        steers_nothing(&outcome);
        let verdicts = outcome.stdout_text().lines().filter(|l| l.trim().starts_with("verdict:"));
        assert_eq!(verdicts.count(), 1, "{}", outcome.all());
        crate::support::assert_clean(&place);
    }
}

#[test]
fn a_message_shows_a_path_and_obeys_none_of_it() {
    for name in NAMES {
        let folder = Folder::new();
        let place = folder.with_dir(OsStr::from_bytes(name));
        for cmd in [
            Cmd::check(place.join("none")),
            Cmd::check(&place).args("--duration 1h --output").arg(place.join("none/out")),
            Cmd::check(&place).args("--duration 1h --policy").arg(place.join("none.toml")),
        ] {
            let outcome = cmd.run();
            assert!(matches!(outcome.code, Some(2 | 3)), "{}", outcome.all());
            steers_nothing(&outcome);
            assert_eq!(outcome.stderr_text().lines().count(), 1, "one line: {}", outcome.all());
        }
        let record = Cmd::check_json(place.join("none")).run().failure();
        assert_eq!(record["error"]["errno_name"], "ENOENT");
    }
}

#[test]
fn a_command_line_that_cannot_be_parsed_obeys_nothing_either() {
    for name in NAMES {
        let value = OsStr::from_bytes(name);
        for cmd in [
            Cmd::check(".").arg("--iters").arg(value),
            Cmd::check(".").arg("--arm").arg(value),
            Cmd::check(".").arg("second").arg(value),
            Cmd::bare().arg(value),
        ] {
            let outcome = cmd.run().exits(2);
            steers_nothing(&outcome);
        }
        let outcome = Cmd::check(".").args("--format json --arm").arg(value).run().exits(2);
        assert_eq!(outcome.json()["status"], "failed", "{}", outcome.all());
    }
}

#[test]
fn results_are_written_to_files_of_any_name() {
    for name in NAMES {
        let folder = Folder::in_memory();
        let place = folder.with_dir("place");
        let file = folder.at(OsStr::from_bytes(name));
        let cmd = Cmd::check(&place).args("--iters 3 --format json");
        let joined = |flag: &str, file: &Path| {
            let mut arg = std::ffi::OsString::from(flag);
            arg.push("=");
            arg.push(file);
            arg
        };
        let outcome = cmd.arg(joined("--save", &file)).run().exits(4);
        let saved = std::fs::read(&file).unwrap();
        let record: Value = serde_json::from_slice(&saved).unwrap();
        assert_eq!(record["status"], "complete", "{}", outcome.all());
    }
}
