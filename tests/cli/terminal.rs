//! Locales, terminals and their variables change nothing in the result.

use std::fs::File;

use super::names::steers_nothing;
use crate::support::{Cmd, Folder};

/// What people have in their environment.
const ENVIRONMENTS: [&[(&str, &str)]; 6] = [
    &[("LC_ALL", "de_DE.UTF-8"), ("LANG", "de_DE.UTF-8")],
    &[("LC_NUMERIC", "de_DE.UTF-8")],
    &[("TERM", "dumb")],
    &[("NO_COLOR", "1")],
    &[("CLICOLOR_FORCE", "1"), ("FORCE_COLOR", "1"), ("TERM", "xterm-256color")],
    &[("COLUMNS", "1"), ("LINES", "1"), ("TERM", "")],
];

fn under(cmd: Cmd, environment: &[(&'static str, &str)]) -> Cmd {
    environment.iter().fold(cmd, |cmd, (name, value)| cmd.env(name, value))
}

/// Whether a comma stands between two digits, as a decimal or grouping comma would.
fn has_decimal_comma(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.windows(3).any(|w| w[0].is_ascii_digit() && w[1] == b',' && w[2].is_ascii_digit())
}

#[test]
fn a_comma_between_digits_is_seen() {
    assert!(has_decimal_comma("p50= 1,25ms") && !has_decimal_comma("p50= 1.25ms, max"));
}

#[test]
fn numbers_have_a_point_and_text_has_no_control_byte_whatever_the_environment() {
    for environment in ENVIRONMENTS {
        let folder = Folder::in_memory();
        // Unpinned: a list of CPUs is written with commas.
        let cmd = Cmd::check(folder.path()).args("--iters 120 --verbose --recommend --pin none");
        let outcome = under(cmd, environment).run().exits(4);
        steers_nothing(&outcome);
        // The mount's own options may hold numbers with commas.
        let own = outcome.stdout_text().lines().filter(|line| line.contains('='));
        let own: Vec<&str> = own.filter(|line| line.contains("p50")).collect();
        assert!(own.len() >= 3, "{}", outcome.all());
        assert!(!own.iter().any(|line| has_decimal_comma(line)), "{}", outcome.all());
        assert!(own.iter().any(|line| line.contains('.')), "{}", outcome.all());
    }
}

#[test]
fn json_is_the_same_language_everywhere() {
    for environment in ENVIRONMENTS {
        let folder = Folder::in_memory();
        let cmd = Cmd::check_json(folder.path()).args("--iters 120");
        let outcome = under(cmd, environment).run().exits(4);
        let record = outcome.json();
        let mean = &record["distributions"]["pooled"]["total"]["mean_ns"];
        assert!(mean.as_f64().is_some_and(|ns| ns > 0.0), "{mean} of {}", outcome.all());
        assert!(outcome.stderr.is_empty(), "{}", outcome.all());
    }
}

#[test]
fn errors_and_help_have_no_colour_where_nobody_sees_it() {
    for environment in ENVIRONMENTS {
        for (args, code) in [("--help", 0), ("check --help", 0), ("check --frob", 2), ("", 2)] {
            let outcome = under(Cmd::bare().args(args), environment).run().exits(code);
            steers_nothing(&outcome);
        }
    }
}

#[test]
fn a_long_run_writes_no_progress_into_a_log() {
    let folder = Folder::in_memory();
    let log = folder.at("log");
    let place = folder.with_dir("place");
    // Longer than the time after which a person on a terminal is shown something.
    let cmd = Cmd::check(&place).args("--duration 2500ms --max-samples 1000000000");
    let cmd = cmd.args("--max-bytes 16MiB").stderr_to(File::create(&log).unwrap());
    let outcome = cmd.run().exits(4);
    steers_nothing(&outcome);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "", "{}", outcome.all());
}
