//! `qualify`: what holds passes, what does not is named, and an interruption changes nothing.

mod interrupted; // kill -9, signals, --resume and what it refuses

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use synctail_rig::{Rig, Script};

use crate::support::{Cmd, Folder, Outcome, require};

/// A spec, a place to qualify, and a folder for the results.
struct Lab {
    folder: Folder,
    place: PathBuf,
    spec: PathBuf,
}

impl Lab {
    fn new(spec: &str) -> Lab {
        let folder = Folder::new();
        let place = folder.with_dir("place");
        let spec = folder.with_file("spec.toml", spec);
        Lab { folder, place, spec }
    }

    fn state(&self) -> PathBuf {
        self.folder.at("state")
    }

    fn qualify(&self, args: &str) -> Cmd {
        self.qualify_at(&self.place, args)
    }

    fn qualify_at(&self, place: &Path, args: &str) -> Cmd {
        let cmd = Cmd::bare().arg("qualify").arg(&self.spec).arg(place);
        cmd.args("--quiet --format json --state").arg(self.state()).args(args)
    }
}

fn step<'a>(document: &'a Value, name: &str) -> &'a Value {
    let steps = document["steps"].as_array().unwrap();
    steps.iter().find(|step| step["name"] == name).unwrap_or_else(|| panic!("{document:#}"))
}

fn missed(document: &Value) -> Vec<String> {
    let missed = document["verdict"]["missed"].as_array().unwrap();
    missed.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn rig(script: &str) -> Option<Rig> {
    match Rig::mount(&Script::parse(script).unwrap(), 8) {
        Ok(rig) => Some(rig),
        Err(error) => {
            require("fuse", &format!("mount: {error}"));
            None
        }
    }
}

fn sha256(file: &Path) -> String {
    let out = Command::new("sha256sum").arg(file).output().unwrap().stdout;
    String::from_utf8(out).unwrap().split(' ').next().unwrap().to_owned()
}

/// Like the shipped `quick`, but short; its limits hold on anything that works.
const QUICK: &str = r#"
name = "quick-like"
[precondition]
fill = "8MiB"
random_overwrite = "1MiB"
age_files = 10
[[step]]
name = "alone and loaded"
repeats = 2
load = "ci-burst"
plan = { iters = 200 }
limits = { p50 = "30s", p99 = "50s", max = "50s", rate = "0.1/s", durability = "unproved", stalls = { longer_than = "50s", most = 0 } }
loaded_limits = { max = "50s" }
[[step]]
name = "overwrite"
plan = { iters = 100, layout = "overwrite", file_size = "1MiB" }
"#;

#[test]
fn what_holds_passes_and_the_document_has_everything() {
    let lab = Lab::new(QUICK);
    let outcome = lab.qualify("--report").arg(lab.folder.at("page.html")).run().exits(0);
    let document = outcome.json();
    assert_eq!(document["schema"], "synctail.qualification/1");
    assert_eq!(document["verdict"]["pass"], true, "{document:#}");
    assert_eq!(document["status"], "complete");
    assert!(document["preconditioned_bytes"].as_u64().unwrap() >= 8 << 20, "{document:#}");
    assert_eq!(document["target"]["path"], lab.place.to_str().unwrap());
    assert!(document["machine"]["kernel"].is_string());
    let variants = step(&document, "alone and loaded")["variants"].as_array().unwrap();
    assert_eq!(variants.len(), 2);
    assert!(variants[0].get("load").is_none() && variants[1]["load"] == "ci-burst");
    for variant in variants {
        for round in variant["rounds"].as_array().unwrap() {
            let file = lab.state().join(round["file"].as_str().unwrap());
            assert_eq!(round["sha256"], sha256(&file), "{}", file.display());
            let loaded = round["load_report"]["fsyncs"].as_u64().is_some_and(|n| n > 0);
            assert_eq!(loaded, variant.get("load").is_some(), "{round:#}");
        }
    }
    let saved = fs::read_to_string(lab.state().join("qualification.json")).unwrap();
    assert_eq!(saved, outcome.stdout_text());
    let text = fs::read_to_string(lab.state().join("qualification.txt")).unwrap();
    assert!(text.contains("alone    ci-burst") && text.contains("verdict: qualified"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let page = fs::read_to_string(lab.state().join("qualification.html")).unwrap();
    for word in ["PASS", "beside", "ci-burst", "Percentiles", "records/001-001.json", "quick-like"]
    {
        assert!(page.contains(word), "{word}");
    }
    assert!(page.ends_with("</html>\n") && page.len() < 2 << 20);
    assert_eq!(page, fs::read_to_string(lab.folder.at("page.html")).unwrap());
    assert!(crate::support::names_in(&lab.place).is_empty());
}

#[test]
fn the_one_step_that_misses_its_limit_is_named() {
    // The second worker's file hangs once; only one step has a second worker.
    let Some(rig) = rig("[[fsync.faults]]\nfile = 'w00001'\nat = 20\nhang = '3s'\n") else {
        return;
    };
    let step = |name: &str, workers: u64| {
        format!(
            "[[step]]\nname = '{name}'\nplan = {{ iters = 100, workers = {workers} }}\n\
             limits = {{ max = '2s' }}\n"
        )
    };
    let spec = ["name = 'x'\n".to_owned(), step("one", 1), step("two", 2), step("again", 1)];
    let lab = Lab::new(&spec.concat());
    let document = lab.qualify_at(rig.path(), "").run().exits(1).json();
    let missed = missed(&document);
    assert_eq!(missed.len(), 1, "{document:#}");
    assert!(missed[0].starts_with("step \"two\": max at most 2.00s: 3."), "{missed:?}");
    let verdicts: Vec<&Value> =
        document["steps"].as_array().unwrap().iter().map(|step| &step["verdict"]).collect();
    assert_eq!(verdicts, ["pass", "fail", "pass"]);
    let text = fs::read_to_string(lab.state().join("qualification.txt")).unwrap();
    assert!(text.contains("step 2 of 3: two: FAIL") && text.contains("MISS alone: max"), "{text}");
}

#[test]
fn a_step_that_never_becomes_steady_stops_what_follows() {
    // No two rounds of a device that stalls are equal to a hundred millionth.
    let Some(rig) = rig("[fsync]\ndelay = '100us'\nstall = { lasts = '30ms', every = '50ms' }\n")
    else {
        return;
    };
    let spec = "name = 'x'\n[[step]]\nname = 'drifts'\nplan = { iters = 100 }\n\
        steady = { rounds_max = 5, range = '0.000001 %', slope = '0.000001 %', otherwise = 'stop' }\n\
        [[step]]\nname = 'after'\nplan = { iters = 10 }\n";
    let lab = Lab::new(spec);
    let document = lab.qualify_at(rig.path(), "").run().exits(1).json();
    assert_eq!(step(&document, "drifts")["verdict"], "fail", "{document:#}");
    let after = step(&document, "after");
    assert_eq!(after["verdict"], "skipped");
    assert!(after["reason"].as_str().unwrap().contains("\"drifts\" never became steady"));
    let of = &step(&document, "drifts")["variants"][0];
    assert_eq!(of["steady"]["rounds"], 5);
    assert_eq!(of["judged_rounds"], serde_json::json!([1, 2, 3, 4, 5]));
}

#[test]
fn what_cannot_be_measured_is_said_and_the_rest_goes_on() {
    let Some(rig) = rig("[[fsync.faults]]\nfile = 'w00001'\nat = 20\nerror = 'EIO'\n") else {
        return;
    };
    let spec = "name = 'x'\n[[step]]\nname = 'breaks'\nplan = { iters = 100, workers = 2 }\n\
        [[step]]\nname = 'works'\nplan = { iters = 100 }\n";
    let lab = Lab::new(spec);
    let document = lab.qualify_at(rig.path(), "").run().exits(3).json();
    let broken = step(&document, "breaks");
    assert_eq!(broken["verdict"], "not_measured", "{document:#}");
    assert!(broken["reason"].as_str().unwrap().contains("EIO"), "{broken}");
    assert_eq!(step(&document, "works")["verdict"], "pass");
    // The fault is over; what could not be measured is measured now, and nothing else.
    let document = lab.qualify_at(rig.path(), "--resume").run().exits(0).json();
    assert_eq!(document["resumed"], 1);
}

#[test]
fn memory_is_not_durable_and_a_path_that_is_not_there_cannot_be_measured() {
    let lab = Lab::new("name = 'x'\n[[step]]\nname = 'a'\nplan = { iters = 10 }\n");
    let memory = Folder::in_memory();
    let document = lab.qualify_at(memory.path(), "").run().exits(4).json();
    assert_eq!(document["verdict"]["pass"], false);
    let other = Lab::new("name = 'x'\n[[step]]\nname = 'a'\n");
    let none: Outcome = other.qualify_at(&other.folder.at("none"), "").run().exits(3);
    assert!(none.json()["error"]["message"].as_str().unwrap().contains("ENOENT"));
}

#[test]
fn explain_says_what_and_does_nothing() {
    let lab = Lab::new(QUICK);
    let outcome = lab.qualify("--explain").run().exits(0);
    let text = outcome.stdout_text();
    for part in
        ["step 2 of 2: overwrite", "beside ci-burst", "time: at most about", "bytes: at most"]
    {
        assert!(text.contains(part), "{text}");
    }
    assert!(!lab.state().exists());
    for name in ["quick", "slog", "jetstream-node"] {
        Cmd::bare().args("qualify --explain").arg(name).run().exits(0);
    }
    Cmd::bare()
        .args("qualify no-such-spec")
        .run()
        .exits(2)
        .complains("quick, slog, jetstream-node");
}

#[test]
fn a_change_against_a_record_is_held_against_it() {
    let lab = Lab::new("name = 'x'\n");
    let reference = lab.folder.at("reference.json");
    Cmd::check(&lab.place).args("--iters 200 --save").arg(&reference).run();
    let spec = |most: &str| {
        format!(
            "name = 'x'\n[[step]]\nname = 'a'\nplan = {{ iters = 200 }}\n\
             limits = {{ change = {{ record = 'reference.json', p50 = '{most} %' }} }}\n"
        )
    };
    fs::write(&lab.spec, spec("1000000")).unwrap();
    lab.qualify("").run().exits(0);
    let text = fs::read_to_string(&reference).unwrap();
    let mut record: Value = serde_json::from_str(&text).unwrap();
    for parts in record["distributions"]["workers"].as_array_mut().unwrap() {
        parts["barrier"]["p50_ns"] = 1.into();
    }
    fs::write(&reference, record.to_string()).unwrap();
    fs::write(&lab.spec, spec("10")).unwrap();
    fs::remove_dir_all(lab.state()).unwrap();
    let document = lab.qualify("").run().exits(1).json();
    let missed = missed(&document);
    assert!(missed[0].contains("change of p50 (against the reference)"), "{missed:?}");
}
