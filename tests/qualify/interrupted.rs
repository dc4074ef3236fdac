//! Interruptions: what was finished stays, what was not is done, and the result is the same.

use std::fs;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::{Lab, step};
use crate::support::{eventually, measuring_in, names_in};

const PATIENCE: Duration = Duration::from_secs(30);
const KILLS: u64 = 10;
const SEED: u64 = 7;

const SHORT: &str = r#"
name = "short"
[precondition]
fill = "1MiB"
[[step]]
name = "first"
repeats = 3
plan = { iters = 30 }
[[step]]
name = "misses"
repeats = 2
plan = { iters = 30 }
limits = { p50 = "1ns" }
[[step]]
name = "last"
repeats = 3
load = "ci-burst"
plan = { iters = 30 }
"#;

/// What must not depend on how often it was interrupted: verdicts, numbers of rounds, limits that hold.
fn result(document: &Value) -> Vec<Value> {
    let of = |step: &Value| {
        let variants = step["variants"].as_array().unwrap();
        let rounds = variants.iter().map(|v| v["rounds"].as_array().unwrap().len());
        let limits = variants.iter().flat_map(|v| v["limits"].as_array().unwrap());
        let limits = limits.map(|limit| json!([limit["figure"], limit["holds"]]));
        let (rounds, limits) = (rounds.collect::<Vec<_>>(), limits.collect::<Vec<_>>());
        json!([step["name"], step["verdict"], rounds, limits])
    };
    document["steps"].as_array().unwrap().iter().map(of).collect()
}

fn rounds(lab: &Lab) -> Vec<Value> {
    let Ok(text) = fs::read_to_string(lab.state().join("state.json")) else { return Vec::new() };
    let state: Value = serde_json::from_str(&text).expect("a state is whole or not there");
    state["rounds"].as_array().unwrap().clone()
}

fn nothing_is_left(lab: &Lab) {
    let clean = || names_in(&lab.place).is_empty() && measuring_in(&lab.place).is_empty();
    let left = || (names_in(&lab.place), measuring_in(&lab.place));
    assert!(eventually(PATIENCE, clean), "{:?}", left());
}

#[test]
fn killed_at_ten_random_moments_it_ends_as_if_nothing_had_happened() {
    let undisturbed = Lab::new(SHORT).qualify("").run().exits(1).json();
    let lab = Lab::new(SHORT);
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut before = Vec::new();
    for kill in 0..KILLS {
        let after = Duration::from_millis(random.u64(0..700));
        let mut running = lab.qualify("--resume").start();
        // The moment is the point of the test; a run that ends before it has nothing left to kill.
        if running.wait_for(after).is_none() {
            running.signal(Signal::SIGKILL);
            running.wait();
        }
        let now = rounds(&lab);
        println!("seed {SEED}, kill {kill} after {after:?}: {} rounds are saved", now.len());
        assert_eq!(now[..before.len()], before[..], "what was finished is not done again");
        before = now;
    }
    nothing_is_left(&lab);
    let document = lab.qualify("--resume").run().exits(1).json();
    assert_eq!(result(&document), result(&undisturbed));
    assert_eq!(rounds(&lab)[..before.len()], before[..]);
    nothing_is_left(&lab);
}

#[test]
fn a_signal_leaves_a_marked_document_and_resume_finishes_it() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let lab = Lab::new(SHORT);
        let running = lab.qualify("").start();
        assert!(eventually(PATIENCE, || !rounds(&lab).is_empty()));
        running.signal(signal);
        let document = running.wait().exits(code).json();
        assert_eq!(document["status"], "interrupted", "{document:#}");
        assert_eq!(document["verdict"]["pass"], false);
        assert_eq!(step(&document, "last")["verdict"], "skipped");
        nothing_is_left(&lab);
        let document = lab.qualify("--resume").run().exits(1).json();
        assert_eq!(step(&document, "last")["verdict"], "pass", "{document:#}");
    }
}

#[test]
fn a_round_ends_when_the_qualification_is_killed() {
    // Longer than this test waits for its end.
    let lab = Lab::new("name = 'x'\n[[step]]\nname = 'a'\nplan = { duration = '50s' }\n");
    let running = lab.qualify("").start();
    assert!(eventually(PATIENCE, || !names_in(&lab.place).is_empty()));
    running.signal(Signal::SIGKILL);
    running.wait();
    nothing_is_left(&lab);
}

#[test]
fn resume_refuses_what_is_no_longer_the_same() {
    let lab = Lab::new("name = 'x'\n[[step]]\nname = 'a'\nplan = { iters = 10 }\n");
    lab.qualify("").run().exits(0);
    lab.qualify("").run().exits(2).complains("give --resume");
    lab.qualify("--resume").run().exits(0);

    let elsewhere = lab.folder.with_dir("elsewhere");
    lab.qualify_at(&elsewhere, "--resume").run().exits(3).complains("--resume: path was");

    let state = lab.state().join("state.json");
    let saved = fs::read_to_string(&state).unwrap();
    let mut other: Value = serde_json::from_str(&saved).unwrap();
    let devices = other["target"]["devices"].as_array_mut().unwrap();
    // A place without any block device has no firmware to change.
    if let Some(device) = devices.first_mut() {
        device["firmware"] = "another".into();
        fs::write(&state, other.to_string()).unwrap();
        lab.qualify("--resume").run().exits(3).complains("firmware of ").complains("was another");
        fs::write(&state, &saved).unwrap();
    }

    let record = lab.state().join("records/001-001.json");
    let kept = fs::read(&record).unwrap();
    fs::write(&record, "{}").unwrap();
    lab.qualify("--resume").run().exits(3).complains("it has changed since it was saved");
    fs::write(&record, kept).unwrap();

    fs::write(&lab.spec, "name = 'x'\n[[step]]\nname = 'a'\nplan = { iters = 11 }\n").unwrap();
    lab.qualify("--resume").run().exits(3).complains("the spec or a record");
    fs::write(&state, "{").unwrap();
    lab.qualify("--resume").run().exits(3).complains("state.json");
}
