//! Results of other tools, and our own records, read for judging.
//!
//! Pure: text in, figures out. A parser never guesses: what a file does not say is absent, and what
//! cannot mean a flush's latency is refused with the reason. The formats are in docs/formats.md.

mod diskinfo;
mod fio_json;
mod fio_text;
mod hdr;
mod ioping;
mod latency_log;
mod numbers;
mod own;
mod percentile_lines;
mod pg_test_fsync;
mod prometheus;
#[cfg(test)]
mod properties;
mod summary;

use crate::quantity::TimeUnit;
use crate::record::{Finding, Record, Severity, SourcePart};

/// Below this a flush's p99 is the time of its submission: no device answers so soon.
const SUBMISSION_BELOW_NS: u64 = 5_000;

/// What a file holds.
#[derive(Debug)]
pub struct Import {
    /// Its name in the record's `source.format`.
    pub format: &'static str,
    /// One entry for each result.
    pub results: Vec<Reading>,
}

/// One result.
#[derive(Debug)]
pub enum Reading {
    /// A record of our own.
    Own(Box<Record>),
    /// Figures that another tool printed.
    Foreign(Measurement),
}

/// Figures of one measurement.
#[derive(Debug, Default)]
pub struct Measurement {
    /// Which of several in the file.
    pub name: Option<String>,
    /// Jobs, series or methods that were measured.
    pub parts: Vec<SourcePart>,
    /// What else the file shows.
    pub findings: Vec<Finding>,
    /// Why its figures must not be judged.
    pub unjudged: Option<String>,
}

/// Reads `text`; `unit` is that of bare numbers.
///
/// # Errors
/// Why it cannot be read: one line.
pub fn read(text: &str, unit: Option<TimeUnit>) -> Result<Import, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    let found = own::read(text)
        .or_else(|| fio_json::read(text))
        .or_else(|| fio_text::read(text))
        .or_else(|| pg_test_fsync::read(text))
        .or_else(|| diskinfo::read(text))
        .or_else(|| ioping::read(text))
        .or_else(|| hdr::read(text, unit))
        .or_else(|| prometheus::read(text))
        .or_else(|| latency_log::read(text))
        .or_else(|| percentile_lines::read(text))
        .or_else(|| summary::read(text))
        .or_else(|| numbers::read(text, unit));
    found.unwrap_or_else(|| Err(unknown(text)))
}

fn unknown(text: &str) -> String {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let what = if is_json { "its JSON has no latencies of flushes" } else { "no format is known" };
    format!(
        "{what}; judge reads synctail records, fio (JSON and text), pg_test_fsync, diskinfo, ioping, \
         HdrHistogram logs, Prometheus histograms, and numbers with --unit"
    )
}

/// One result of one format.
fn single(format: &'static str, measurement: Measurement) -> Result<Import, String> {
    Ok(Import { format, results: vec![Reading::Foreign(measurement)] })
}

fn note(code: &str, severity: Severity, text: String, evidence: String) -> Finding {
    Finding { code: code.to_owned(), severity, text, evidence }
}
