//! HdrHistogram logs (V2, compressed or not): all intervals merged. Values are nanoseconds unless
//! `--unit` says otherwise.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

use super::{Import, Measurement, single};
use crate::quantity::TimeUnit;
use crate::record::{Figures, SourcePart};

/// Nothing where the text does not begin as such a log.
pub fn read(text: &str, unit: Option<TimeUnit>) -> Option<Result<Import, String>> {
    let is_log = text.starts_with("#[") || text.contains("\"StartTimestamp\",");
    is_log.then(|| measured(text, unit.unwrap_or(TimeUnit::NS)))
}

fn measured(text: &str, unit: TimeUnit) -> Result<Import, String> {
    let merged = merged(text)?;
    if merged.is_empty() {
        return Err("the HDR log has no histogram with a value".to_owned());
    }
    let ns = |value: u64| unit.ns_of(value as f64);
    let at = |percent: f64| ns(merged.value_at_quantile(percent / 100.0));
    let mut flush = Figures {
        count: Some(merged.len()),
        min_ns: ns(merged.min()),
        mean_ns: ns(1).map(|one| merged.mean() * one as f64),
        max_ns: ns(merged.max()),
        ..Figures::default()
    };
    for percent in [50.0, 90.0, 95.0, 99.0, 99.9, 99.99] {
        at(percent).into_iter().for_each(|ns| flush.set_percentile(percent, ns));
    }
    let part = SourcePart { name: None, flush };
    single("hdr-log", Measurement { parts: vec![part], ..Measurement::default() })
}

/// A log of ours has a tag for each part of the pair: the barrier is judged, or the total without one.
fn part_wanted(text: &str) -> Option<&'static str> {
    ["barrier", "total"].into_iter().find(|part| text.contains(&format!("Tag={part},")))
}

/// Every interval of the log in one histogram.
pub fn merged(text: &str) -> Result<Histogram<u64>, String> {
    let mut all = Histogram::<u64>::new(3).map_err(|error| error.to_string())?;
    all.auto(true);
    let mut deserializer = Deserializer::new();
    let wanted = part_wanted(text);
    for entry in IntervalLogIterator::new(text.as_bytes()) {
        let entry = entry.map_err(|error| format!("the HDR log cannot be read: {error:?}"))?;
        let LogEntry::Interval(interval) = entry else { continue };
        if wanted.is_some_and(|part| interval.tag().is_none_or(|tag| tag.as_str() != part)) {
            continue;
        }
        let bytes = STANDARD.decode(interval.encoded_histogram());
        let bytes = bytes.map_err(|error| format!("the HDR log's base64: {error}"))?;
        let one: Histogram<u64> = deserializer
            .deserialize(&mut &bytes[..])
            .map_err(|error| format!("the HDR log's histogram: {error}"))?;
        all.add(&one).map_err(|error| format!("the HDR log's histograms do not fit: {error}"))?;
    }
    Ok(all)
}
