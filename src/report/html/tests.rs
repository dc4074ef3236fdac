//! The page as a whole: complete, self-contained, and safe from what is foreign.

use super::*;
use crate::record::{Finding, Samples, Severity, Status, WorkerSamples};
use crate::verdict::{JudgeOptions, judge, sample_record};

/// A judged record with samples: for each worker its pairs of write and barrier, one every millisecond.
fn record(workers: &[Vec<(u64, u64)>]) -> Record {
    let mut record = sample_record::pairs(sample_record::FDATASYNC, workers);
    let of = |(i, pairs): (usize, &Vec<(u64, u64)>)| WorkerSamples {
        worker: i as u64,
        intended_ns: None,
        start_ns: (0..pairs.len() as u64).map(|n| n * 1_000_000).collect(),
        write_ns: Some(pairs.iter().map(|pair| pair.0).collect()),
        barrier_ns: Some(pairs.iter().map(|pair| pair.1).collect()),
        total_ns: pairs.iter().map(|pair| pair.0 + pair.1).collect(),
    };
    record.samples = Some(Samples { workers: workers.iter().enumerate().map(of).collect() });
    record.verdict = judge(&record, &Policy::default(), &JudgeOptions::default());
    record
}

fn pairs(count: u64, seed: u64) -> Vec<(u64, u64)> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| (random.u64(5_000..9_000), random.u64(200_000..900_000))).collect()
}

fn page(record: &Record) -> String {
    render(record, &Policy::default())
}

#[test]
fn a_page_has_every_plot_and_needs_nothing_from_elsewhere() {
    let html = page(&record(&[pairs(500, 1), pairs(500, 2)]));
    for title in [
        "Percentiles",
        "Histogram",
        "Latency over time",
        "Heat map",
        "The slowest",
        "Workers, slowest first",
        "Write, barrier, total",
        "Under the path",
        "To repeat it",
        "All of it as text",
    ] {
        assert!(html.contains(title), "{title}");
    }
    for foreign in ["http:", "https:", "<script", "src=", "@import", "url("] {
        assert!(!html.contains(foreign), "{foreign}");
    }
    assert!(html.contains("prefers-color-scheme: dark") && html.contains("@media print"));
    assert_eq!(html.matches("<svg").count(), html.matches("</svg>").count());
    assert!(!html.contains("NaN") && !html.contains("inf%"), "a coordinate is none");
}

#[test]
fn nothing_foreign_becomes_markup() {
    let evil = "</title></pre><script>alert(1)</script>\"'&\u{202e}";
    let mut record = record(&[pairs(200, 3)]);
    let plan = record.plan.as_mut().unwrap();
    plan.path = format!("/srv/{evil}");
    plan.policy = evil.into();
    record.command = vec!["synctail".into(), "check".into(), evil.into()];
    record.started_at = evil.into();
    record.tool.version = evil.into();
    let under = record.substrate.as_mut().unwrap();
    under.filesystem = Some(evil.into());
    under.mount = Some(crate::record::Mount {
        source: evil.into(),
        mount_point: evil.into(),
        options: evil.into(),
        super_options: evil.into(),
        ..Default::default()
    });
    under.block = vec![crate::record::Block {
        name: evil.into(),
        kind: evil.into(),
        model: Some(evil.into()),
        backing_file: Some(evil.into()),
        ..Default::default()
    }];
    under.unknown = vec![crate::record::Unknown { fact: evil.into(), reason: evil.into() }];
    under.machine.product = Some(evil.into());
    let verdict = record.verdict.as_mut().unwrap();
    verdict.policy = evil.into();
    verdict.sentence = evil.into();
    verdict.durability_evidence = evil.into();
    verdict.recommendation.as_mut().unwrap().reason = evil.into();
    verdict.findings = vec![Finding {
        code: evil.into(),
        severity: Severity::Error,
        text: evil.into(),
        evidence: evil.into(),
    }];
    let html = page(&record);
    assert!(!html.contains("<script"), "markup from outside");
    assert_eq!(html.matches("</title>").count(), 1);
    assert!(!html.contains('\u{202e}'));
    assert!(html.matches("&lt;script&gt;").count() > 15);
}

#[test]
fn every_slow_pair_of_many_is_drawn_where_it_was() {
    let mut ns = vec![(1_000, 300_000); 30_000];
    ns[12_345].1 = 777_000_000;
    let html = page(&record(&[ns]));
    // At 12.345 s of 30 s, on the axis of this very range.
    let record_end = 30_000.0 * 1e6;
    let x = (12_345.0 * 1e6 / record_end * super::plot::WIDTH).round();
    assert!(html.contains(&format!("M{x} ")), "no mark at {x}");
    assert!(html.contains("777ms"));
}

#[test]
fn a_million_samples_of_many_workers_stay_small() {
    let workers: Vec<Vec<(u64, u64)>> = (0..100).map(|seed| pairs(10_000, seed)).collect();
    let html = page(&record(&workers));
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    assert!(html.contains("64 of 100 workers"));
}

#[test]
fn a_record_that_lacks_anything_is_still_a_page() {
    let mut few = record(&[vec![(0, 0)]]);
    let mut without_samples = record(&[pairs(500, 4)]);
    without_samples.samples = None;
    let mut failed = sample_record::empty();
    failed.status = Status::Failed;
    failed.substrate = None;
    few.verdict = None;
    few.in_flight = vec![sample_record::in_flight(0, 9_000_000_000)];
    for (record, word) in
        [(few, "no verdict"), (without_samples, "nothing to plot"), (failed, "failed")]
    {
        let html = page(&record);
        assert!(html.contains(word) && html.ends_with("</html>\n"), "{word}");
        assert!(!html.contains("NaN"));
    }
}

#[test]
fn a_linked_pair_has_no_split() {
    let arm = "uring-linked/fdatasync".parse().unwrap();
    let mut record = sample_record::pairs(arm, &[pairs(300, 5)]);
    record.verdict = judge(&record, &Policy::default(), &JudgeOptions::default());
    let html = page(&record);
    assert!(html.contains("<th>total</th>") && !html.contains("the slowest 1 %"));
}
