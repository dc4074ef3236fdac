//! ioping: single requests, or its raw line of statistics. It times requests, not flushes.

use synctail_bench::Distribution;

use super::{Import, Measurement, single};
use crate::quantity::{TimeUnit, parse_printed_ns};
use crate::record::{Figures, SourcePart};

/// Nothing where no line is ioping's.
pub fn read(text: &str) -> Option<Result<Import, String>> {
    let requests = text.lines().filter(|line| line.contains(" request="));
    let mut times: Vec<u64> =
        requests.filter_map(|line| parse_printed_ns(line.split_once(" time=")?.1)).collect();
    let parts = match Distribution::of(&mut times) {
        Some(all) => vec![SourcePart { name: None, flush: Figures::of(&all) }],
        None => raw(text)?,
    };
    let unjudged = "ioping times single requests (reads unless asked otherwise), not flushes";
    let unjudged = Some(unjudged.to_owned());
    Some(single("ioping", Measurement { parts, unjudged, ..Measurement::default() }))
}

/// `-p`: requests, their time, rates, then minimum, mean, maximum, deviation; microseconds in old versions,
/// which have 8 fields, nanoseconds in those that have 10.
fn raw(text: &str) -> Option<Vec<SourcePart>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines.map(raw_line).collect::<Option<Vec<SourcePart>>>().filter(|parts| !parts.is_empty())
}

fn raw_line(line: &str) -> Option<SourcePart> {
    let fields: Option<Vec<u64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
    let fields = fields?;
    let unit = match fields.len() {
        8 => TimeUnit::named("us")?,
        10 => TimeUnit::NS,
        _ => return None,
    };
    let ns = |at: usize| unit.ns_of(fields[at] as f64);
    let (min, mean, max) = (ns(4)?, ns(5)?, ns(6)?);
    if !(min <= mean && mean <= max) {
        return None;
    }
    let flush = Figures {
        count: Some(fields[0]),
        min_ns: Some(min),
        mean_ns: Some(mean as f64),
        max_ns: Some(max),
        ..Figures::default()
    };
    Some(SourcePart { name: None, flush })
}
