//! A table of summaries, one a row, separated by tabs: its header names `p99`, `max` and `unit`.

use super::{Import, Measurement, Reading};
use crate::quantity::TimeUnit;
use crate::record::{Figures, SourcePart};

/// Nothing where no line is such a header.
pub fn read(text: &str) -> Option<Result<Import, String>> {
    let lines: Vec<&str> = text.lines().collect();
    let header = lines.iter().position(|line| {
        let words: Vec<&str> = line.split('\t').map(str::trim).collect();
        ["p99", "unit"].iter().all(|name| words.contains(name))
    })?;
    let columns: Vec<&str> = lines[header].split('\t').map(str::trim).collect();
    let results: Vec<Reading> = lines[header + 1..]
        .iter()
        .filter_map(|line| row(&columns, line))
        .map(Reading::Foreign)
        .collect();
    if results.is_empty() {
        return Some(Err("its table has no row with a p99 or max and a unit".to_owned()));
    }
    Some(Ok(Import { format: "summary-table", results }))
}

fn row(columns: &[&str], line: &str) -> Option<Measurement> {
    let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
    let cell =
        |name: &str| columns.iter().position(|column| *column == name).and_then(|i| cells.get(i));
    let unit = TimeUnit::named(cell("unit")?)?;
    let value = |name: &str| cell(name).and_then(|text| unit.parse(text));
    let flush = Figures {
        count: cell("n").and_then(|text| text.parse().ok()),
        p50_ns: value("p50"),
        p99_ns: value("p99"),
        max_ns: value("max"),
        ..Figures::default()
    };
    let name = cells.first().filter(|name| !name.is_empty()).map(|name| (*name).to_owned());
    let known = flush.p99_ns.or(flush.max_ns).is_some();
    known.then(|| Measurement {
        name: name.clone(),
        parts: vec![SourcePart { name, flush }],
        ..Measurement::default()
    })
}
