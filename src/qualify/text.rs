//! The document as text for a person.

use super::document::{Qualification, StepReport, StepVerdict, VariantReport};
use super::health::Health;
use crate::human;
use crate::report::lines::Lines;

/// At most 80 columns.
pub fn render(document: &Qualification) -> String {
    let mut lines = Lines::default();
    lines.say(&format!("qualification {}: {}", document.spec.name, document.spec.description), 2);
    if let Some(target) = &document.target {
        let filesystem = target.filesystem.as_deref().unwrap_or("unknown filesystem");
        lines.say(&format!("  target: {}, {filesystem}", target.path), 4);
        for device in &target.devices {
            let facts = [&device.model, &device.serial, &device.firmware];
            let facts: Vec<&str> = facts.into_iter().flatten().map(String::as_str).collect();
            let facts =
                if facts.is_empty() { String::new() } else { format!(": {}", facts.join(", ")) };
            lines.say(&format!("  device: {} ({}){facts}", device.name, device.kind), 4);
        }
    }
    if let Some(bytes) = document.preconditioned_bytes {
        lines.say(&format!("  preconditioned: {} kept during the steps", human::bytes(bytes)), 4);
    }
    for (before, after) in document.health_before.iter().zip(&document.health_after) {
        lines.say(
            &format!("  health of {}: {} -> {}", before.device, health(before), health(after)),
            4,
        );
    }
    let count = document.steps.len();
    for (number, step) in document.steps.iter().enumerate() {
        write_step(&mut lines, &format!("step {} of {count}", number + 1), step);
    }
    lines.say(&format!("verdict: {}", document.verdict.sentence), 2);
    for missed in &document.verdict.missed {
        lines.say(&format!("  {missed}"), 4);
    }
    lines.into_text()
}

fn health(health: &Health) -> String {
    match (health.passed, &health.unknown) {
        (Some(true), _) => "passed".to_owned(),
        (Some(false), _) => "FAILING".to_owned(),
        (None, Some(why)) => format!("unknown ({why})"),
        (None, None) => "unknown".to_owned(),
    }
}

fn write_step(lines: &mut Lines, which: &str, step: &StepReport) {
    let verdict = match step.verdict {
        StepVerdict::Pass => "pass",
        StepVerdict::Fail => "FAIL",
        StepVerdict::NotMeasured => "NOT MEASURED",
        StepVerdict::Skipped => "SKIPPED",
    };
    lines.say(&format!("{which}: {}: {verdict}", step.name), 2);
    let reached: Vec<&VariantReport> =
        step.variants.iter().filter(|variant| !variant.rounds.is_empty()).collect();
    if !reached.is_empty() {
        write_table(lines, &reached);
    }
    for variant in reached {
        let beside = variant.load.as_deref().unwrap_or("alone");
        for limit in &variant.limits {
            let mark = if limit.holds { "ok  " } else { "MISS" };
            lines.say(&format!("    {mark} {beside}: {}", limit.shown()), 9);
        }
    }
}

/// Without the load and with it, side by side: the worst of the judged rounds.
fn write_table(lines: &mut Lines, variants: &[&VariantReport]) {
    let name =
        |variant: &&VariantReport| variant.load.clone().unwrap_or_else(|| "alone".to_owned());
    let row = |label: &str, cells: Vec<String>| {
        let cells: String = cells.iter().map(|cell| format!("{cell:>12}")).collect();
        format!("    {label:<8}{cells}")
    };
    lines.say(&row("worst", variants.iter().map(name).collect()), 4);
    type Column = fn(&super::figures::Figures) -> Option<u64>;
    let columns: [(&str, Column); 5] = [
        ("p50", |figures| figures.p50_ns),
        ("p95", |figures| figures.p95_ns),
        ("p99", |figures| figures.p99_ns),
        ("p99.9", |figures| figures.p99_9_ns),
        ("max", |figures| figures.max_ns),
    ];
    for (label, of) in columns {
        let cell = |variant: &&VariantReport| {
            let judged = variant.rounds.iter().filter(|r| variant.judged_rounds.contains(&r.round));
            let all: Option<Vec<u64>> = judged.map(|round| of(&round.figures)).collect();
            let worst = all.and_then(|all| all.into_iter().max());
            worst.map_or_else(|| "-".to_owned(), human::time)
        };
        lines.say(&row(label, variants.iter().map(cell).collect()), 4);
    }
    let slowest = |variant: &&VariantReport| {
        let rates = variant.rounds.iter().filter_map(|round| round.figures.pairs_per_s);
        let least = rates.fold(f64::INFINITY, f64::min);
        if least.is_finite() { format!("{}/s", human::decimal(least)) } else { "-".to_owned() }
    };
    lines.say(&row("rate", variants.iter().map(slowest).collect()), 4);
}
