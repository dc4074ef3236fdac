//! One latency a line, or a CSV with a header. Bare numbers need `--unit`.

use synctail_bench::Distribution;

use super::{Import, Measurement, single};
use crate::quantity::TimeUnit;
use crate::record::{Figures, SourcePart};

/// Columns that hold a flush's latency, best first; ours are the first two.
const COLUMNS: [&str; 7] = ["barrier", "total", "fdatasync", "fsync", "sync", "latency", "lat"];

/// Nothing where the text is no list of numbers.
pub fn read(text: &str, unit: Option<TimeUnit>) -> Option<Result<Import, String>> {
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines: Vec<&str> = lines.collect();
    let first = *lines.first()?;
    if first.starts_with(['{', '[']) {
        return None;
    }
    if first.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-') {
        return Some(bare(&lines, unit)).filter(|read| read.is_ok() || looks_numeric(&lines));
    }
    let names: Vec<&str> = first.split(',').map(|name| name.trim().trim_matches('"')).collect();
    let (at, own) = column(&names)?;
    Some(table(&lines[1..], at, own.or(unit)))
}

/// Whether every line is made of digits and separators.
fn looks_numeric(lines: &[&str]) -> bool {
    let part = |c: char| c.is_ascii_digit() || " \t,.;eE+-".contains(c) || c.is_ascii_alphabetic();
    lines.iter().all(|line| line.chars().all(part) && line.split_whitespace().count() == 1)
}

fn bare(lines: &[&str], unit: Option<TimeUnit>) -> Result<Import, String> {
    if let Some(line) = lines.iter().find(|line| line.contains([',', ';'])) {
        return Err(format!(
            "{line:?} is either two columns or a decimal comma; write points, or a header that names \
             the column"
        ));
    }
    let unit = unit.ok_or("its numbers have no unit; give --unit ns, us, ms or s")?;
    let read = |(i, line): (usize, &&str)| {
        unit.parse(line).ok_or_else(|| format!("line {}: no latency: {line:?}", i + 1))
    };
    measured(lines.iter().enumerate().map(read).collect::<Result<_, String>>()?)
}

/// The column that holds the latency, with the unit that its name ends in.
fn column(names: &[&str]) -> Option<(usize, Option<TimeUnit>)> {
    let found = COLUMNS.iter().find_map(|wanted| {
        names.iter().position(|name| name.to_ascii_lowercase().contains(wanted))
    })?;
    let unit = names[found].rsplit(['_', ' ', '(']).next().map(|unit| unit.trim_end_matches(')'));
    Some((found, unit.and_then(TimeUnit::named)))
}

fn table(lines: &[&str], at: usize, unit: Option<TimeUnit>) -> Result<Import, String> {
    let unit = unit.ok_or("the column's name ends in no unit; give --unit ns, us, ms or s")?;
    let read = |(i, line): (usize, &&str)| {
        let cell = line.split(',').nth(at).map(|cell| cell.trim_matches('"'));
        // An arm without a part leaves its cell empty.
        let cell = cell.ok_or_else(|| format!("row {}: too few columns", i + 1))?;
        unit.parse(cell).ok_or_else(|| format!("row {}: no latency: {cell:?}", i + 1))
    };
    measured(lines.iter().enumerate().map(read).collect::<Result<_, String>>()?)
}

fn measured(mut samples: Vec<u64>) -> Result<Import, String> {
    let all = Distribution::of(&mut samples).ok_or("it has a header and no row")?;
    let part = SourcePart { name: None, flush: Figures::of(&all) };
    single("numbers", Measurement { parts: vec![part], ..Measurement::default() })
}
