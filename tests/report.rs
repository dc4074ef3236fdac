//! `synctail report`: saved records in other forms, and many of them as one table.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Cmd, Folder, has_program, require};

fn saved(folder: &Folder) -> (PathBuf, Value) {
    let file = folder.at("run.json");
    Cmd::check(folder.path()).args("--workers 2 --iters 150 --save").arg(&file).run();
    let record = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    (file, record)
}

fn report(file: &std::path::Path, format: &str) -> String {
    let outcome = Cmd::bare().arg("report").arg(file).arg("--format").arg(format).run().exits(0);
    outcome.stdout_text().to_owned()
}

#[test]
fn csv_has_a_row_for_each_sample_and_judges_as_the_record_does() {
    let folder = Folder::new();
    let (file, record) = saved(&folder);
    let csv = report(&file, "csv");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("worker,intended_ns,start_ns,write_ns,barrier_ns,total_ns"));
    let first: Vec<&str> = lines.next().unwrap().split(',').collect();
    let worker = &record["samples"]["workers"][0];
    for (cell, column) in [(2, "start_ns"), (3, "write_ns"), (4, "barrier_ns"), (5, "total_ns")] {
        assert_eq!(first[cell], worker[column][0].to_string(), "{column}");
    }
    assert_eq!((first[0], first[1]), ("0", ""));
    assert_eq!(csv.lines().count(), 301);
    let path = folder.at("samples.csv");
    fs::write(&path, &csv).unwrap();
    let judged = Cmd::bare().arg("judge").arg(&path).args("--format json").run().json();
    let pooled = &record["distributions"]["pooled"]["barrier"];
    assert_eq!(judged["source"]["parts"][0]["flush"]["p99_ns"], pooled["p99_ns"]);
    assert_eq!(judged["source"]["parts"][0]["flush"]["max_ns"], pooled["max_ns"]);
}

#[test]
fn without_samples_csv_has_the_percentiles_and_hdr_says_what_is_missing() {
    let folder = Folder::new();
    let record = Cmd::check_json(folder.path()).args("--iters 120").run().json();
    let file = folder.at("plain.json");
    fs::write(&file, record.to_string()).unwrap();
    let csv = report(&file, "csv");
    let p99 = &record["distributions"]["pooled"]["barrier"]["p99_ns"];
    assert!(csv.contains(&format!("barrier,p99,{p99}\n")), "{csv}");
    for format in ["hdr", "hgrm"] {
        let outcome = Cmd::bare().arg("report").arg(&file).arg("--format").arg(format).run();
        outcome.exits(3).complains("--save");
    }
}

/// Within a thousandth, which is what the histogram keeps.
#[track_caller]
fn near(a: &Value, b: &Value) {
    let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
    assert!((a - b).abs() <= b * 0.002 + 1.0, "{a} against {b}");
}

#[test]
fn an_hdr_log_comes_back_with_the_same_figures() {
    let folder = Folder::new();
    let (file, record) = saved(&folder);
    let path = folder.at("run.hlog");
    fs::write(&path, report(&file, "hdr")).unwrap();
    let judged = Cmd::bare().arg("judge").arg(&path).args("--format json").run().json();
    assert_eq!(judged["source"]["format"], "hdr-log");
    let (back, pooled) =
        (&judged["source"]["parts"][0]["flush"], &record["distributions"]["pooled"]["barrier"]);
    assert_eq!(back["count"], pooled["count"]);
    near(&back["max_ns"], &pooled["max_ns"]);
    near(&back["min_ns"], &pooled["min_ns"]);
}

#[test]
fn a_percentile_distribution_ends_at_the_maximum_with_every_sample() {
    let folder = Folder::new();
    let (file, record) = saved(&folder);
    let text = report(&file, "hgrm");
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(2)
        .take_while(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let last = rows.last().unwrap();
    near(&json!(last[0]), &record["distributions"]["pooled"]["barrier"]["max_ns"]);
    assert_eq!((last[1], last[2]), (1.0, 300.0), "{text}");
    assert!(rows.is_sorted_by(|a, b| a[0] <= b[0] && a[2] <= b[2]), "{text}");
}

#[test]
fn prometheus_takes_the_metrics_whatever_the_path_is_called() {
    let folder = Folder::new();
    let (file, mut record) = saved(&folder);
    record["plan"]["path"] = json!("/a \"b\"\\c\n{d}");
    fs::write(&file, record.to_string()).unwrap();
    let path = folder.at("synctail.prom");
    Cmd::bare()
        .arg("report")
        .arg(&file)
        .args("--format prometheus --output")
        .arg(&path)
        .run()
        .exits(0);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("part=\"barrier\",percentile=\"p99\""), "{text}");
    assert!(text.contains(r#"path="/a \"b\"\\c\n{d}""#), "{text}");
    if !has_program("promtool") {
        return require("promtool", "promtool is not installed");
    }
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(fs::File::open(&path).unwrap());
    let checked = promtool.output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn a_fleet_is_one_table_worst_first_with_the_odd_one_marked() {
    let folder = Folder::new();
    let (_, record) = saved(&folder);
    let mut all = Cmd::bare().arg("report");
    for (machine, ns) in (0..9).map(|i| (i, 2_000_000 + i * 10_000)).chain([(9, 80_000_000)]) {
        let mut one = record.clone();
        one["verdict"]["judged_ns"] = json!(ns);
        let file = folder.at(format!("m{machine}.json"));
        fs::write(&file, one.to_string()).unwrap();
        all = all.arg(&file);
    }
    let text = all.run().exits(0);
    let lines: Vec<&str> = text.stdout_text().lines().collect();
    assert!(lines[1].contains("m9.json") && lines[1].ends_with("outlier"), "{}", text.all());
    assert!(lines[2].contains("m8.json") && !lines[2].contains("outlier"), "{}", text.all());
    assert!(text.stdout_text().contains("merged: 3000 samples"), "{}", text.all());
    let both = Cmd::bare().arg("report").arg(folder.at("m0.json")).arg(folder.at("m9.json"));
    let document = both.args("--format json").run().exits(0).json();
    assert_eq!(document["schema"], "synctail.report/1");
    assert_eq!(document["fleet"]["merged"]["count"], 600);
    assert_eq!(document["results"][0]["verdict"]["judged_ns"], 80_000_000);
}

#[test]
fn what_is_no_record_is_refused_and_nothing_is_replaced() {
    let folder = Folder::new();
    let (junk, out) = (folder.at("junk.json"), folder.at("out"));
    fs::write(&junk, "{}").unwrap();
    fs::write(&out, "older").unwrap();
    Cmd::bare()
        .arg("report")
        .arg(&junk)
        .arg("--output")
        .arg(&out)
        .run()
        .exits(3)
        .complains("junk.json");
    assert_eq!(fs::read_to_string(&out).unwrap(), "older");
    Cmd::bare().args("report").run().exits(2);
}
