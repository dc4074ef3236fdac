//! Lines such as `single  p50= 0.79ms  p95= 1.2ms  p99= 2.1ms  max= 4ms`: what probe scripts print, and
//! the text of `check`. Each line stands for itself.

use super::{Import, Measurement, Reading};
use crate::quantity::parse_printed_ns;
use crate::record::{Figures, SourcePart};

/// Nothing where no line has both p99 and max with a unit.
pub fn read(text: &str) -> Option<Result<Import, String>> {
    let results: Vec<Reading> = text.lines().filter_map(line).map(Reading::Foreign).collect();
    (!results.is_empty()).then_some(Ok(Import { format: "percentile-lines", results }))
}

fn line(line: &str) -> Option<Measurement> {
    let value = |key: &str| {
        let at = line.to_ascii_lowercase().find(key)? + key.len();
        let rest = line.get(at..)?.strip_prefix([':', '='])?.trim_start();
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let unit = rest[end..].trim_start();
        let stop = unit.find(|c: char| !c.is_alphabetic()).unwrap_or(unit.len());
        parse_printed_ns(&format!("{}{}", &rest[..end], &unit[..stop]))
    };
    let whole = |key: &str| {
        let at = line.to_ascii_lowercase().find(key)? + key.len();
        let digits: String = line.get(at..)?.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let flush = Figures {
        count: whole("n="),
        p50_ns: value("p50"),
        p90_ns: value("p90"),
        p95_ns: value("p95"),
        p99_ns: Some(value("p99")?),
        max_ns: value("max"),
        ..Figures::default()
    };
    let first = line.to_ascii_lowercase().find(['=', ':']).unwrap_or(0);
    let label: Vec<&str> = line.get(..first)?.split_whitespace().collect();
    let label = label[..label.len().saturating_sub(1)].join(" ");
    let name = (!label.is_empty()).then_some(label);
    let part = SourcePart { name: name.clone(), flush };
    Some(Measurement { name, parts: vec![part], ..Measurement::default() })
}
