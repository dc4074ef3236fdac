//! The record as text for a person, at most 80 columns wide.

use synctail_bench::Distribution;

use super::lines::Lines;
use super::{advice, details};
use crate::human;
use crate::record::{
    Confidence, Distributions, Durability, Finding, InFlight, Metric, Parts, PlanRecord, Record,
    Severity, Status,
};
use crate::verdict;

/// Operations in flight that are listed before the rest is only counted.
const IN_FLIGHT_LISTED: usize = 8;

/// What to show beside the figures and the verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// Everything that is known, evidence included.
    pub verbose: bool,
    /// What to configure.
    pub recommend: bool,
}

/// `record` as text; empty where the run failed before it measured anything.
pub fn render(record: &Record, options: &TextOptions) -> String {
    if let Some(source) = record.source.as_ref().filter(|source| !source.parts.is_empty()) {
        return super::imported::render(record, source, options);
    }
    let failed = record.status == Status::Failed;
    if failed && record.distributions.is_none() {
        return String::new();
    }
    let mut lines = Lines::default();
    lines.say(&headline(record), 2);
    if let Some(distributions) = &record.distributions {
        write_figures(&mut lines, record, distributions);
    }
    if !failed {
        lines.say(&format!("  {}{}", wall(record), verdict_line(record)), 4);
    }
    write_load(&mut lines, record);
    write_durability(&mut lines, record);
    write_confidence(&mut lines, record);
    write_incomplete(&mut lines, record);
    write_in_flight(&mut lines, &record.in_flight, options.verbose);
    for finding in findings(record) {
        write_finding(&mut lines, finding, options.verbose);
    }
    if let Some(trace) = &record.trace {
        super::trace::write(&mut lines, trace);
    }
    if let Some(verdict) = record.verdict.as_ref().filter(|_| options.recommend) {
        advice::write(&mut lines, verdict);
    }
    if options.verbose {
        details::write(&mut lines, record);
    }
    lines.into_text()
}

/// What was asked of the ring beyond its default, since each changes the path.
fn ring_options(record: &Record) -> String {
    let ring = record.effective.as_ref().and_then(|effective| effective.ring.as_ref());
    let Some(ring) = ring else { return String::new() };
    let mut text = String::new();
    for (used, name) in [
        (ring.flags.iter().any(|flag| flag == "sqpoll"), ", sqpoll"),
        (ring.registered, ", registered"),
        (ring.iowq != "inherited", ", io-wq on "),
    ] {
        text.push_str(if used { name } else { "" });
    }
    if ring.iowq != "inherited" { text + &ring.iowq + " cpu" } else { text }
}

/// `syscall/fdatasync, ext4, append, 8 workers x 500 x 4 KiB`.
pub fn headline(record: &Record) -> String {
    let substrate = record.substrate.as_ref();
    let filesystem =
        substrate.and_then(|s| s.filesystem.as_deref()).unwrap_or("unknown filesystem");
    let Some(plan) = &record.plan else { return format!("no plan, {filesystem}") };
    let workers = if plan.workers == 1 { "worker" } else { "workers" };
    let mut line = format!(
        "{}, {filesystem}, {}, {} {workers} x {} x {}{}",
        plan.arm,
        plan.layout.name(),
        plan.workers,
        length(plan),
        if plan.writes_per_barrier > 1 {
            format!("{} x ", plan.writes_per_barrier)
        } else {
            String::new()
        },
        human::bytes(plan.block_size_bytes)
    );
    if !plan.sync_fd.is_own() {
        line.push_str(&format!(", sync fd {}", plan.sync_fd.name()));
    }
    if plan.depth > 1 {
        line.push_str(&format!(", depth {}", plan.depth));
    }
    line.push_str(&ring_options(record));
    if let Some(rate) = plan.rate_per_s {
        line.push_str(&format!(", {rate}/s"));
    }
    line
}

fn length(plan: &PlanRecord) -> String {
    match (plan.iterations, plan.duration_ns) {
        (Some(iterations), _) => human::count(iterations),
        (None, Some(ns)) => human::time(ns),
        (None, None) => "unknown length".to_owned(),
    }
}

/// One line for a single worker; for several the pool and the worst of them. Where the total decided
/// over the barrier, the total's line too, or the figures would contradict the verdict.
fn write_figures(lines: &mut Lines, record: &Record, distributions: &Distributions) {
    let metric = metric(record, distributions);
    let several = is_several(record, distributions);
    let total_decides = record.verdict.as_ref().is_some_and(|verdict| {
        verdict.findings.iter().any(|finding| finding.code == "cost_in_write")
    });
    write_metric(lines, distributions, metric, several);
    if total_decides && metric == Metric::Barrier {
        write_metric(lines, distributions, Metric::Total, several);
    }
    if let Some(service) = &distributions.pooled.service {
        lines.say(&figures_line("service", service), 4);
    }
}

fn write_metric(lines: &mut Lines, all: &Distributions, metric: Metric, several: bool) {
    let Some(pooled) = part(&all.pooled, metric) else { return };
    let label = match (several, metric) {
        (false, Metric::Barrier) => "barrier",
        (false, Metric::Total) => "total",
        (true, Metric::Barrier) => "pooled",
        (true, Metric::Total) => "pooled total",
    };
    lines.say(&figures_line(label, pooled), 4);
    if several {
        let own: Vec<&Distribution> =
            all.workers.iter().filter_map(|worker| part(&worker.parts, metric)).collect();
        let p99 = own.iter().filter_map(|d| d.p99_ns).max();
        let max = own.iter().map(|d| d.max_ns).max();
        lines
            .say(&format!("  {:<40}{}  {}", "worst worker", cell("p99", p99), cell("max", max)), 4);
    }
}

fn figures_line(label: &str, d: &Distribution) -> String {
    let cells = [
        cell("p50", d.p50_ns),
        cell("p95", d.p95_ns),
        cell("p99", d.p99_ns),
        cell("max", Some(d.max_ns)),
    ];
    format!("  {label:<14}{}", cells.join("  "))
}

/// `p99= 4.50ms`; a figure that the samples do not carry is `-`, in the same columns.
pub fn cell(name: &str, ns: Option<u64>) -> String {
    format!("{name}={:>7}", ns.map_or_else(|| "-".to_owned(), human::time))
}

/// The part of `parts` that `metric` names.
pub fn part(parts: &Parts, metric: Metric) -> Option<&Distribution> {
    match metric {
        Metric::Barrier => parts.barrier.as_ref(),
        Metric::Total => Some(&parts.total),
    }
}

/// The judged part; the barrier, where the arm has one, while nothing is judged.
pub fn metric(record: &Record, distributions: &Distributions) -> Metric {
    let unjudged = match distributions.pooled.barrier {
        Some(_) => Metric::Barrier,
        None => Metric::Total,
    };
    record.verdict.as_ref().map_or(unjudged, |verdict| verdict.metric)
}

fn is_several(record: &Record, distributions: &Distributions) -> bool {
    let planned = record.plan.as_ref().map_or(1, |plan| plan.workers);
    distributions.workers.len() > 1 || (planned > 1 && !distributions.workers.is_empty())
}

/// How long several workers took together; a single worker's line has room for nothing but itself.
fn wall(record: &Record) -> String {
    let several = record.distributions.as_ref().is_some_and(|d| is_several(record, d));
    match record.wall_ns.filter(|_| several) {
        Some(ns) => format!("wall {}   ", human::time(ns)),
        None => String::new(),
    }
}

fn verdict_line(record: &Record) -> String {
    match (&record.verdict, &record.distributions) {
        (Some(verdict), _) => format!("verdict: {}", verdict.sentence),
        (None, Some(_)) => "verdict: none".to_owned(),
        (None, None) => "verdict: none: no pair was completed".to_owned(),
    }
}

/// What worked beside the run: its figures mean nothing without it.
fn write_load(lines: &mut Lines, record: &Record) {
    let Some(plan) = record.plan.as_ref().and_then(|plan| plan.load.as_ref()) else { return };
    let done = record.load.as_ref().filter(|load| load.interval_ns > 0).map(|load| {
        let per_s = |count: u64| count as f64 * 1e9 / load.interval_ns as f64;
        let rates = [
            ("MiB/s written", per_s(load.bytes_written) / 1_048_576.0),
            ("MiB/s read", per_s(load.bytes_read) / 1_048_576.0),
            ("flushes/s", per_s(load.fsyncs)),
        ];
        let rates = rates.iter().filter(|(_, rate)| *rate > 0.0);
        rates.map(|(what, rate)| format!("{} {what}", human::decimal(*rate))).collect::<Vec<_>>()
    });
    let done = done.unwrap_or_else(|| vec!["what it did is not known".to_owned()]);
    lines.say(&format!("  load: {}: {}", plan.mix, done.join(", ")), 4);
}

pub(super) fn write_durability(lines: &mut Lines, record: &Record) {
    let Some(verdict) = &record.verdict else { return };
    let state = match verdict.durability {
        Durability::Proved => return,
        Durability::Unproved => "unproved",
        Durability::NotDurable => "not durable",
    };
    lines.say(&format!("  durability: {state}: {}", verdict.durability_evidence), 4);
}

/// Only where the samples do not carry the band.
pub(super) fn write_confidence(lines: &mut Lines, record: &Record) {
    let doubt = match record.verdict.as_ref().map(|verdict| verdict.confidence) {
        None | Some(Confidence::Clear) => return,
        Some(Confidence::Borderline) => "borderline: the interval of p99 crosses a limit",
        Some(Confidence::TooFewSamples) => "too few samples: fewer than 100 pairs of a worker",
    };
    lines.say(&format!("  confidence: {doubt}"), 4);
}

/// `incomplete: 123 of 500 pairs: WHY`, for every end that was not as planned.
fn write_incomplete(lines: &mut Lines, record: &Record) {
    let why = match (&record.error, record.status) {
        (_, Status::Complete) => return,
        (Some(error), _) => &error.message,
        (None, Status::Interrupted) => "interrupted",
        (None, Status::TimedOut) => "timed out",
        (None, Status::Failed) => "failed",
    };
    let done = record.distributions.as_ref().map_or(0, |d| d.pooled.total.count);
    let plan = record.plan.as_ref();
    let planned = plan.and_then(|plan| plan.iterations?.checked_mul(plan.workers));
    let of = planned.map_or_else(String::new, |planned| format!(" of {planned}"));
    lines.say(&format!("  incomplete: {done}{of} pairs: {why}"), 4);
}

/// The longest first: an operation that never returned is the worst sample there is.
fn write_in_flight(lines: &mut Lines, in_flight: &[InFlight], all: bool) {
    let mut longest: Vec<&InFlight> = in_flight.iter().collect();
    longest.sort_by_key(|operation| std::cmp::Reverse(operation.at_least_ns));
    let listed = if all { longest.len() } else { longest.len().min(IN_FLIGHT_LISTED) };
    for operation in &longest[..listed] {
        lines.say(&format!("  in flight: {}", verdict::in_flight(operation)), 4);
    }
    let rest = &longest[listed..];
    if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
        let (most, least) = (human::time(first.at_least_ns), human::time(last.at_least_ns));
        lines.say(&format!("  in flight: {} more: at least {least} to {most}", rest.len()), 4);
    }
}

/// The verdict's findings; the run's observations where there is no verdict.
fn findings(record: &Record) -> &[Finding] {
    record.verdict.as_ref().map_or(&record.observations, |verdict| &verdict.findings)
}

pub(super) fn write_finding(lines: &mut Lines, finding: &Finding, verbose: bool) {
    let severity = match finding.severity {
        Severity::Info if !verbose => return,
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let evidence = if verbose && !finding.evidence.is_empty() {
        format!(" ({})", finding.evidence)
    } else {
        String::new()
    };
    lines.say(&format!("  {severity}: {}{evidence}", finding.text), 4);
}

#[cfg(test)]
mod golden;
#[cfg(test)]
mod property;
#[cfg(test)]
mod verbose;
