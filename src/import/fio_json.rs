//! fio's JSON and JSON+: `sync.lat_ns` of every job, and what older versions wrote.

use serde_json::Value;

use super::{Import, Measurement, note, single};
use crate::quantity::TimeUnit;
use crate::record::{Figures, Severity, SourcePart};

const FORMAT: &str = "fio-json";

/// Nothing where the text is no output of fio's with `--output-format=json`.
pub fn read(text: &str) -> Option<Result<Import, String>> {
    let start = text.find('{')?;
    if !text.contains("\"fio version\"") {
        return None;
    }
    let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let document = match documents.next() {
        Some(Ok(document)) => document,
        _ => return Some(Err(broken(text))),
    };
    let rest = &text[start + documents.byte_offset()..];
    let Some(jobs) = jobs(&document) else { return Some(summarised(rest)) };
    if let Some(failed) = jobs.iter().find(|job| job["error"].as_i64().is_some_and(|e| e != 0)) {
        let name = failed["jobname"].as_str().unwrap_or("?");
        return Some(Err(format!("fio's job {name} failed: error {}", failed["error"])));
    }
    Some(measured(&document, jobs))
}

/// `client_stats` stands instead of `jobs` in client/server mode; its last entry sums up the others.
fn jobs(document: &Value) -> Option<Vec<&Value>> {
    if let Some(jobs) = document["jobs"].as_array() {
        return Some(jobs.iter().collect());
    }
    let clients = document["client_stats"].as_array()?;
    Some(clients.iter().filter(|client| client["jobname"] != "All clients").collect())
}

/// What fio said before a document that ends early: its error lines stand on standard output too.
fn broken(text: &str) -> String {
    let error = text.lines().find_map(|line| line.split_once("error="));
    match error.filter(|_| text.contains("fio: ")) {
        Some((_, why)) => format!("fio failed: {}; its JSON ends early", why.trim()),
        None => "its JSON (fio) ends early or is damaged".to_owned(),
    }
}

/// An image around fio that prints nothing but its own summary behind the document.
fn summarised(rest: &str) -> Result<Import, String> {
    let figure = rest.lines().find_map(|line| {
        let (_, after) = line.split_once("99th percentile of fsync is ")?;
        let mut words = after.split_whitespace();
        TimeUnit::named(words.nth(1)?)?.parse(after.split_whitespace().next()?)
    });
    let p99_ns = figure.ok_or("fio's JSON has no jobs")?;
    let flush = Figures { p99_ns: Some(p99_ns), ..Figures::default() };
    let part = SourcePart { name: None, flush };
    single("fio-summary", Measurement { parts: vec![part], ..Measurement::default() })
}

fn measured(document: &Value, jobs: Vec<&Value>) -> Result<Import, String> {
    let mut measurement = Measurement::default();
    for job in jobs {
        let Some(flush) = figures(&job["sync"]) else { continue };
        let name = job["jobname"].as_str().map(str::to_owned);
        measurement.parts.push(SourcePart { name, flush });
        let engine = |options: &Value| options["ioengine"].as_str().map(str::to_owned);
        let engine = engine(&job["job options"]).or_else(|| engine(&document["global options"]));
        if let Some(engine) = engine.filter(|engine| is_async(engine)) {
            measurement.findings.push(note(
                "async_engine",
                Severity::Warning,
                format!("{engine} may return before the flush does: fio then times its submission"),
                "ioengine in fio's options".to_owned(),
            ));
        }
    }
    if measurement.parts.is_empty() {
        return Err(
            "no job has flushes (sync.lat_ns with N above 0); run fio with fdatasync=1".into()
        );
    }
    single(FORMAT, measurement)
}

/// Engines whose flush is queued.
pub fn is_async(engine: &str) -> bool {
    ["libaio", "posixaio", "io_uring"].iter().any(|name| engine.starts_with(name))
}

/// `N` counts the flushes; `total_ios` stays 0 in many versions.
fn figures(sync: &Value) -> Option<Figures> {
    let blocks = [("lat_ns", "ns"), ("lat", "us"), ("lat_us", "us"), ("lat_ms", "ms")];
    let (block, unit) = blocks.iter().find_map(|(key, unit)| Some((sync.get(*key)?, *unit)))?;
    let unit = TimeUnit::named(unit)?;
    let number = |key: &str| block[key].as_f64();
    let count = block["N"].as_u64().or_else(|| sync["total_ios"].as_u64());
    if count == Some(0) {
        return None;
    }
    let mut figures = Figures {
        count,
        min_ns: number("min").and_then(|value| unit.ns_of(value)),
        mean_ns: number("mean").and_then(|value| unit.ns_of(value)).map(|ns| ns as f64),
        max_ns: number("max").and_then(|value| unit.ns_of(value)),
        ..Figures::default()
    };
    for (rank, value) in block["percentile"].as_object().into_iter().flatten() {
        let value = value.as_f64().and_then(|value| unit.ns_of(value));
        if let (Ok(rank), Some(ns)) = (rank.parse(), value) {
            figures.set_percentile(rank, ns);
        }
    }
    Some(figures)
}
