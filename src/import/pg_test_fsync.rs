//! pg_test_fsync: operations per second and their mean, by method. No percentile can be had from it.

use super::{Import, Measurement, note, single};
use crate::record::{Figures, Severity, SourcePart};

/// A full flush that takes so many times as long as fsync shows that fsync is none.
const FULL_FLUSH_TIMES: f64 = 5.0;
/// Below this a mean needs power-loss protection or a controller's cache.
const PROTECTED_BELOW_NS: f64 = 100e3;

/// Nothing where no row ends in `usecs/op`.
pub fn read(text: &str) -> Option<Result<Import, String>> {
    if !text.contains("usecs/op") {
        return None;
    }
    let mut measurement = Measurement {
        unjudged: Some("it has means only, and a mean must not be judged as p99".to_owned()),
        ..Measurement::default()
    };
    // Later sections repeat the names for several writes at once.
    for line in text.lines() {
        let ends = line.starts_with("Compare") || line.starts_with("Non-");
        if ends && !measurement.parts.is_empty() {
            break;
        }
        if let Some(part) = row(line) {
            measurement.parts.push(part);
        }
    }
    if measurement.parts.is_empty() {
        return Some(Err("pg_test_fsync's table has no row with figures".to_owned()));
    }
    measurement.findings.extend(false_fsync(&measurement.parts));
    measurement.findings.extend(protected(&measurement.parts));
    Some(single("pg_test_fsync", measurement))
}

/// `fdatasync   608.573 ops/sec   1643 usecs/op`; a decimal comma where the locale has one. The rate is
/// the finer of the two figures.
fn row(line: &str) -> Option<SourcePart> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "ops/sec")?;
    let usecs: f64 = words.get(at + 1)?.parse().ok()?;
    words.get(at + 2).filter(|word| word.starts_with("usecs/op"))?;
    let rate: f64 = words.get(at.checked_sub(1)?)?.replace(',', ".").parse().ok()?;
    let by_rate = 1e9 / rate;
    // The two must agree, or the separator was one of thousands.
    let agrees = (by_rate - usecs * 1e3).abs() <= 1_001.0;
    let mean_ns = if agrees { by_rate } else { usecs * 1e3 };
    (mean_ns.is_finite() && mean_ns > 0.0).then(|| SourcePart {
        name: Some(words[..at - 1].join(" ")),
        flush: Figures { mean_ns: Some(mean_ns.round()), ..Figures::default() },
    })
}

fn mean(parts: &[SourcePart], name: &str) -> Option<f64> {
    parts.iter().find(|part| part.name.as_deref() == Some(name))?.flush.mean_ns
}

fn false_fsync(parts: &[SourcePart]) -> Option<crate::record::Finding> {
    let (fsync, full) = (mean(parts, "fsync")?, mean(parts, "fsync_writethrough")?);
    (full > fsync * FULL_FLUSH_TIMES).then(|| {
        note(
            "fsync_is_no_flush",
            Severity::Error,
            "fsync does not flush here: a full flush takes many times as long".to_owned(),
            format!("fsync {fsync:.0} ns, fsync_writethrough {full:.0} ns, means"),
        )
    })
}

fn protected(parts: &[SourcePart]) -> Option<crate::record::Finding> {
    let mean_ns = mean(parts, "fdatasync").or_else(|| mean(parts, "fsync"))?;
    (mean_ns < PROTECTED_BELOW_NS).then(|| {
        note(
            "needs_protection",
            Severity::Warning,
            "so fast only with power-loss protection or a controller's cache, or because something \
             does not flush"
                .to_owned(),
            format!("mean {mean_ns:.0} ns; nothing in the file shows which"),
        )
    })
}
