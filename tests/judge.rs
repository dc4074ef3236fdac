//! `synctail judge`: the folder of published results row by row, and records of our own.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Cmd, Folder, require};

/// What a file of the folder must give.
enum Answer {
    /// Band, p99 (or maximum) in nanoseconds, median.
    Judged(&'static str, u64, Option<u64>),
    /// No verdict, and why.
    None(&'static str),
}
use Answer::{Judged, None as No};

/// File, further arguments, answer of its first result.
const ROWS: [(&str, &str, Answer); 24] = [
    ("fio-text-vm-3replica.txt", "", Judged("MARGINAL", 299_893_000, Some(2_147_000))),
    ("fio-text-cloud-gp2.txt", "", Judged("WORKABLE", 5_145_000, Some(1_844_000))),
    ("fio-text-zfs-noslog-msec.txt", "", Judged("MARGINAL", 62_000_000, Some(9_000_000))),
    ("fio-text-zfs-optane-slog.txt", "", Judged("IDEAL", 260_000, Some(186_000))),
    ("fio-text-consumer-nvme-raw.txt", "", Judged("WORKABLE", 11_731_000, Some(6_783_000))),
    ("fio-text-noname-sata-raw.txt", "", Judged("IDEAL", 371_000, Some(334_000))),
    ("fio-text-one-fsync-nsec.txt", "", No("one sample")),
    ("fio-text-async-engine-mailquote.txt", "", No("implausible")),
    ("fio-text-f2fs-4jobs.txt", "", Judged("WORKABLE", 15_795_000, Some(4_228_000))),
    ("fio-text-etcd-reflowed.txt", "", Judged("GOOD", 2_376_000, Some(783_000))),
    ("fio-json-sync-N0.json", "", No("no job has flushes")),
    ("fio-json-333-fdatasync.json", "", Judged("WORKABLE", 9_633_792, Some(3_981_312))),
    ("fio-json-enospc-prefixed.txt", "", No("No space left on device")),
    ("etcd-perf-p99-ns.txt", "", Judged("MARGINAL", 692_060_160, None)),
    ("pgtestfsync-consumer-990pro.txt", "", No("means only")),
    ("pgtestfsync-34us.txt", "", No("means only")),
    ("pgtestfsync-decimal-comma-mac.txt", "", No("means only")),
    ("diskinfo-wS-sata-plp.txt", "", No("means only")),
    ("ioping-minutes.txt", "", No("not flushes")),
    // The row's median is the middle one of 35; ours is the sample at floor(n * q) - 1, as everywhere.
    ("latency-log-mixed-exponents.txt", "--unit s", Judged("GOOD", 2_902_000, Some(2_732_000))),
    ("latency-log-abnormal-only.txt", "", No("only slow")),
    ("prom-wal-fsync-workable.prom", "", Judged("WORKABLE", 32_000_000, None)),
    ("prom-wal-fsync-marginal.prom", "", Judged("MARGINAL", 128_000_000, None)),
    ("prom-wal-fsync-straddles-1s.prom", "", No("undecided")),
];

fn cases() -> Option<PathBuf> {
    let folder = std::env::var_os("SYNCTAIL_CASES").filter(|folder| !folder.is_empty());
    if folder.is_none() {
        require("cases", "SYNCTAIL_CASES is not set");
    }
    folder.map(PathBuf::from)
}

fn judged(path: &std::path::Path, args: &str) -> (Option<i32>, Value) {
    let outcome = Cmd::bare().arg("judge").arg(path).args(args).args("--format json").run();
    (outcome.code, outcome.json())
}

fn first(document: &Value) -> &Value {
    document.get("results").map_or(document, |results| &results[0])
}

#[test]
fn published_results_get_the_answer_of_their_row() {
    let Some(folder) = cases() else { return };
    for (file, args, answer) in ROWS {
        let (code, document) = judged(&folder.join(file), args);
        let result = first(&document);
        assert!(result["source"]["file"].as_str().unwrap().ends_with(file), "{document:#}");
        match answer {
            Judged(band, ns, p50) => {
                assert_eq!(code, Some(0), "{file}: {document:#}");
                assert_eq!(result["verdict"]["band"], band, "{file}: {document:#}");
                assert_eq!(result["verdict"]["judged_ns"], ns, "{file}: {document:#}");
                assert_eq!(result["verdict"]["durability"], "unproved", "{file}");
                let flush = &result["source"]["parts"][0]["flush"];
                assert_eq!(flush["p50_ns"].as_u64(), p50, "{file}: {document:#}");
            }
            No(why) => {
                assert_eq!(code, Some(3), "{file}: {document:#}");
                assert_eq!(result["verdict"], Value::Null, "{file}: {document:#}");
                let message = result["error"]["message"].as_str().unwrap();
                assert!(message.contains(why), "{file}: {message}");
            }
        }
    }
}

#[test]
fn every_other_file_of_the_folder_is_refused_or_judged_without_a_crash() {
    let Some(folder) = cases() else { return };
    let known: BTreeSet<&str> = ROWS.iter().map(|(file, ..)| *file).collect();
    for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        if !entry.path().is_file() || known.contains(&name[..]) || name == "summary-points.tsv" {
            continue;
        }
        let (code, document) = judged(&entry.path(), "--unit ns");
        assert_eq!(code, Some(3), "{name}: {document:#}");
        assert_eq!(document["verdict"], Value::Null, "{name}");
        assert!(!document["error"]["message"].as_str().unwrap().is_empty(), "{name}");
    }
}

#[test]
fn a_table_of_summaries_has_a_result_for_each_row() {
    let Some(folder) = cases() else { return };
    let (code, document) = judged(&folder.join("summary-points.tsv"), "");
    assert_eq!(code, Some(1), "{document:#}");
    let bands: Vec<&str> = document["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["verdict"]["band"].as_str().unwrap())
        .collect();
    assert_eq!(bands, ["BROKEN", "IDEAL", "WORKABLE", "MARGINAL", "MARGINAL"]);
    let suspect = &document["results"][1]["verdict"]["findings"];
    assert!(suspect.to_string().contains("suspect"), "{suspect:#}");
    assert_eq!(document["results"][3]["verdict"]["judged_ns"], 91_780_000);
}

#[test]
fn a_false_fsync_is_called_one() {
    let Some(folder) = cases() else { return };
    let (_, document) = judged(&folder.join("pgtestfsync-decimal-comma-mac.txt"), "");
    assert_eq!(document["observations"][0]["code"], "fsync_is_no_flush", "{document:#}");
    let full_ns = document["source"]["parts"][3]["flush"]["mean_ns"].as_f64().unwrap();
    assert!((full_ns - 18_143_000.0).abs() < 1_000.0, "{document:#}");
}

#[test]
fn a_record_of_ours_is_judged_again_under_another_policy() {
    let folder = Folder::new();
    let saved = folder.at("run.json");
    let run = Cmd::check_json(folder.path()).args("--iters 120 --save").arg(&saved).run();
    let before = run.json();
    let (_, again) = judged(&saved, "");
    for key in ["band", "p99_ns", "durability", "exit_code"] {
        assert_eq!(again["verdict"][key], before["verdict"][key], "{key}");
    }
    assert_eq!(again["source"]["format"], "synctail.record/1");
    assert_eq!(again["started_at"], before["started_at"]);
    assert!(again.get("samples").is_none());
    let (_, etcd) = judged(&saved, "--policy etcd --metric total");
    assert_eq!(etcd["verdict"]["policy"], "etcd");
    assert_eq!(etcd["verdict"]["metric"], "total");
    let (code, strict) = judged(&saved, "--fail-at ideal");
    assert_eq!(
        (code, &strict["verdict"]["pass"]),
        (strict["verdict"]["exit_code"].as_i64().map(|c| c as i32), &Value::Bool(false))
    );
}

#[test]
fn several_files_end_with_the_worst_code() {
    let folder = Folder::new();
    let good = folder.at("good.txt");
    fs::write(&good, "2\n".repeat(200)).unwrap();
    let broken = folder.at("broken.txt");
    fs::write(&broken, "2000\n".repeat(200)).unwrap();
    let junk = folder.at("junk");
    fs::write(&junk, "nothing here").unwrap();
    let judge = || Cmd::bare().arg("judge").args("--unit ms --format json").arg(&good);
    let one = judge().run().exits(0).json();
    assert_eq!(one["verdict"]["p99_ns"], 2_000_000);
    assert_eq!(one["distributions"]["pooled"]["barrier"]["count"], 200);
    let two = judge().arg(&broken).run().exits(1).json();
    assert_eq!(two["results"].as_array().unwrap().len(), 2);
    assert_eq!(two["exit_code"], 1);
    judge().arg(&broken).arg(&junk).run().exits(3).complains("no format is known");
    judge().arg(folder.at("none")).run().exits(3).complains("No such file");
    Cmd::bare().args("judge").run().exits(2);
    Cmd::bare().arg("judge").arg(&good).run().exits(3).complains("--unit");
    Cmd::bare().arg("judge").arg(&good).args("--unit parsec").run().exits(2).complains("--unit");
}

#[test]
fn numbers_that_no_device_can_have_are_called_so() {
    let folder = Folder::new();
    let file = folder.at("fast.txt");
    fs::write(&file, "0.9\n".repeat(200)).unwrap();
    let outcome = Cmd::bare().arg("judge").arg(&file).args("--unit us").run();
    outcome.exits(3).complains("implausible");
}

#[test]
fn the_worst_of_several_jobs_decides_and_the_text_fits_its_columns() {
    let folder = Folder::new();
    let file = folder.at("fio.json");
    let job = |name: &str, p99: u64| {
        format!(
            "{{\"jobname\":\"{name}\",\"error\":0,\"sync\":{{\"lat_ns\":{{\"min\":100000,\"max\":{p99},\
             \"mean\":200000.5,\"N\":500,\"percentile\":{{\"50.000000\":150000,\"99.000000\":{p99}}}}}}}}}"
        )
    };
    let jobs = [job("a", 900_000), job("b", 60_000_000)].join(",");
    fs::write(&file, format!("note\n{{\"fio version\":\"fio-3.35\",\"jobs\":[{jobs}]}}")).unwrap();
    let document = Cmd::bare().arg("judge").arg(&file).args("--format json").run().exits(0).json();
    assert_eq!(document["verdict"]["p99_ns"], 60_000_000);
    assert_eq!(document["verdict"]["judged"], "worst_worker");
    let text = Cmd::bare().arg("judge").arg(&file).run().exits(0);
    assert!(text.stdout_text().lines().all(|line| line.chars().count() <= 80));
    assert!(text.stdout_text().contains("MARGINAL"));
}
