//! Figures of another tool as text for a person.

use super::advice;
use super::lines::Lines;
use super::text::{TextOptions, cell, write_confidence, write_durability, write_finding};
use crate::human;
use crate::record::{Figures, Record, Source};

/// `record`, whose figures came from the file in `source`.
pub fn render(record: &Record, source: &Source, options: &TextOptions) -> String {
    let mut lines = Lines::default();
    let result = source.result.iter().fold(String::new(), |_, name| format!(", {name}"));
    lines.say(&format!("{}: {}{result}", source.file, source.format), 2);
    for part in &source.parts {
        let name = part.name.as_deref().filter(|_| source.parts.len() > 1).unwrap_or("flush");
        lines.say(&figures_line(name, &part.flush), 4);
    }
    match (&record.verdict, &record.error) {
        (Some(verdict), _) => lines.say(&format!("  verdict: {}", verdict.sentence), 4),
        (None, Some(error)) => lines.say(&format!("  verdict: none: {}", error.message), 4),
        (None, None) => lines.say("  verdict: none", 4),
    }
    write_durability(&mut lines, record);
    write_confidence(&mut lines, record);
    let findings = record.verdict.as_ref().map_or(&record.observations, |v| &v.findings);
    for finding in findings {
        write_finding(&mut lines, finding, options.verbose);
    }
    if let Some(verdict) = record.verdict.as_ref().filter(|_| options.recommend) {
        advice::write(&mut lines, verdict);
    }
    lines.into_text()
}

/// What is known of a part: percentiles, or the bounds of p99, or the mean alone.
fn figures_line(name: &str, figures: &Figures) -> String {
    let count = figures.count.map(|count| format!("  n={}", human::count(count)));
    let count = count.unwrap_or_default();
    if let Some([low, high]) = figures.p99_within_ns {
        return format!("  {name:<14}{} < p99 <= {}{count}", human::time(low), human::time(high));
    }
    let percentiles = [figures.p50_ns, figures.p95_ns, figures.p99_ns, figures.max_ns];
    if percentiles.iter().all(Option::is_none) {
        let mean = figures.mean_ns.map_or("-".to_owned(), |mean| human::time(mean as u64));
        return format!("  {name:<20}mean= {mean}{count}");
    }
    let cells: Vec<String> =
        ["p50", "p95", "p99", "max"].iter().zip(percentiles).map(|(n, ns)| cell(n, ns)).collect();
    format!("  {name:<14}{}{count}", cells.join("  "))
}
