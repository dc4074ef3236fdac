//! The text for a person: its lines, its width, and that it says what the record says.

use std::fs;

use serde_json::Value;

use crate::support::{ARMS_OF_EACH_KIND, Cmd, Folder, Outcome, rings_are_used};

const COLUMNS: usize = 80;

/// A run with text on standard output and its record.
fn both(folder: &Folder, args: &str) -> (Outcome, Value) {
    let place = folder.with_dir("place");
    let file = folder.at("record.json");
    let outcome = Cmd::check(&place).args(args).arg("--save").arg(&file).run();
    let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{e}: {}", outcome.all()));
    fs::remove_dir(&place).unwrap();
    (outcome, serde_json::from_str(&text).unwrap())
}

/// The value after `NAME=` in a line.
fn figure(line: &str, name: &str) -> String {
    let (_, rest) = line.split_once(&format!("{name}=")).unwrap_or_else(|| panic!("{line}"));
    rest.split_whitespace().next().unwrap_or_default().to_owned()
}

/// Nanoseconds as the report prints them, cut to three digits; "-" where the figure is absent.
fn shown(ns: &Value) -> String {
    let Some(ns) = ns.as_u64() else { return "-".to_owned() };
    let (unit, name) = match ns {
        0..1_000 => return format!("{ns}ns"),
        1_000..1_000_000 => (1_000, "us"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    let digits = format!("{}.{:03}", ns / unit, ns % unit * 1_000 / unit);
    let cut = digits[..4].trim_end_matches('.');
    format!("{cut}{name}")
}

fn agrees(line: &str, distribution: &Value, names: &[&str]) {
    for name in names {
        let key = format!("{name}_ns");
        assert_eq!(figure(line, name), shown(&distribution[&key]), "{name} of {line:?}");
    }
}

#[test]
fn one_worker_has_the_three_lines_of_the_manual() {
    let folder = Folder::in_memory();
    let (outcome, record) = both(&folder, "");
    let lines: Vec<&str> = outcome.stdout_text().lines().collect();
    assert_eq!(lines[0], "syscall/fdatasync, tmpfs, append, 1 worker x 500 x 4 KiB");
    assert!(lines[1].starts_with("  barrier       p50="), "{}", outcome.all());
    agrees(lines[1], &record["distributions"]["pooled"]["barrier"], &["p50", "p95", "p99", "max"]);
    assert!(lines[2].starts_with("  verdict: "), "{}", outcome.all());
    assert!(outcome.stdout_text().ends_with('\n'), "{}", outcome.all());
}

#[test]
fn several_workers_have_a_pool_and_a_worst_of_them() {
    let folder = Folder::in_memory();
    let (outcome, record) = both(&folder, "--workers 4 --iters 200");
    let lines: Vec<&str> = outcome.stdout_text().lines().collect();
    assert_eq!(lines[0], "syscall/fdatasync, tmpfs, append, 4 workers x 200 x 4 KiB");
    let distributions = &record["distributions"];
    assert!(lines[1].starts_with("  pooled        p50="), "{}", outcome.all());
    agrees(lines[1], &distributions["pooled"]["barrier"], &["p50", "p95", "p99", "max"]);
    assert!(lines[2].starts_with("  worst worker "), "{}", outcome.all());
    let workers = distributions["workers"].as_array().unwrap();
    assert_eq!(workers.len(), 4);
    for name in ["p99", "max"] {
        let key = format!("{name}_ns");
        let worst = workers.iter().map(|w| w["barrier"][&key].as_u64().unwrap()).max();
        assert_eq!(figure(lines[2], name), shown(&worst.into()), "{}", outcome.all());
        assert_eq!(lines[1].find(&format!("{name}=")), lines[2].find(&format!("{name}=")));
    }
    assert!(lines[3].starts_with("  wall ") && lines[3].contains("   verdict: "), "{}", lines[3]);
}

#[test]
fn verbose_text_has_every_part_with_the_records_figures() {
    let folder = Folder::in_memory();
    let (outcome, record) = both(&folder, "--verbose --iters 1000");
    let pooled = &record["distributions"]["pooled"];
    for part in ["write", "barrier", "total"] {
        let line = outcome
            .stdout_text()
            .lines()
            .find(|line| line.trim_start().starts_with(part) && line.contains("p99.9="));
        let line = line.unwrap_or_else(|| panic!("no {part}: {}", outcome.all()));
        agrees(line, &pooled[part], &["p50", "p95", "p99", "max"]);
        assert_eq!(figure(line, "p99.9"), shown(&pooled[part]["p99_9_ns"]));
    }
    for word in ["path:", "plan:", "clock:", "scheduling:", "mount:", "machine:", "worker 0:"] {
        assert!(outcome.stdout_text().contains(word), "no {word}: {}", outcome.all());
    }
}

#[test]
fn figures_that_few_samples_do_not_carry_are_left_out_of_both() {
    let folder = Folder::in_memory();
    let (outcome, record) = both(&folder, "--iters 19");
    let barrier = &record["distributions"]["pooled"]["barrier"];
    let line = outcome.stdout_text().lines().nth(1).unwrap();
    assert_eq!((figure(line, "p95").as_str(), figure(line, "p99").as_str()), ("-", "-"));
    assert!(barrier.get("p95_ns").is_none() && barrier.get("p50_ns").is_some(), "{barrier}");
    assert_eq!(barrier["too_few_samples"][0], "p95_ns");
    assert_eq!(record["verdict"]["judged_on"], "max");
    assert_eq!(record["verdict"]["confidence"], "too_few_samples");
}

#[test]
fn no_line_is_wider_than_a_terminal() {
    let _rings = rings_are_used();
    let plans = [
        "--iters 1",
        "--iters 120 --workers 12",
        "--iters 120 --layout overwrite --file-size 1MiB --block-size 2300",
        "--duration 20ms --layout unwritten --file-size 64KiB",
        "--iters 5 --pin none --workers 2",
        "--iters 5 --policy etcd --metric total --fail-at ideal",
    ];
    let looks = ["", "--verbose", "--recommend", "--verbose --recommend --require-proof"];
    for plan in plans {
        for (look, arm) in looks.iter().zip(ARMS_OF_EACH_KIND.iter().cycle()) {
            let folder = Folder::in_memory();
            let long =
                folder.with_dir("a-directory-whose-name-alone-is-wider-than-a-terminal-".repeat(4));
            let cmd = Cmd::check(&long).args(plan).args(look).args("--arm").arg(arm);
            let outcome = cmd.run();
            assert!(matches!(outcome.code, Some(1 | 4)), "{}", outcome.all());
            let wide = outcome.stdout_text().lines().find(|l| l.chars().count() > COLUMNS);
            assert_eq!(wide, None, "{}", outcome.all());
            assert!(outcome.stdout_text().lines().count() >= 3, "{}", outcome.all());
        }
    }
}

#[test]
fn the_advice_is_a_line_that_can_be_pasted() {
    let folder = Folder::new();
    let (outcome, record) = both(&folder, "--recommend --iters 120");
    let interval = &record["verdict"]["recommendation"]["sync_interval"];
    let interval = interval.as_str().unwrap_or_else(|| panic!("{}", outcome.all()));
    let said = format!("recommend: sync_interval: {interval}");
    assert!(outcome.stdout_text().contains(&said), "{}", outcome.all());
    let config = format!("sync_interval: \"{interval}\"");
    assert!(outcome.stdout_text().contains(&config), "{}", outcome.all());
    assert!(!interval.contains(' '), "no space before the unit: {interval}");
}
