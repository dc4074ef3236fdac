//! Records in Prometheus' text format, for the node exporter's textfile collector.

use super::csv::parts;
use super::fleet::Member;
use crate::policy::band_name;
use crate::record::{Band, Durability, Record};

const BANDS: [Band; 5] = [Band::Ideal, Band::Good, Band::Workable, Band::Marginal, Band::Broken];

/// One metric: name, help, and its series of labels and value.
struct Metric(&'static str, &'static str, Vec<(String, f64)>);

/// Every metric with its help; times in seconds, as Prometheus has them.
pub fn render(members: &[Member]) -> String {
    let of = |each: fn(&Record, &str) -> Vec<(String, f64)>| {
        members.iter().flat_map(|member| each(&member.record, &labels(member))).collect()
    };
    let metrics = [
        Metric(
            "synctail_latency_seconds",
            "Latency of a part of the pair, by percentile.",
            of(quantiles),
        ),
        Metric(
            "synctail_latency_max_seconds",
            "Largest latency of a part of the pair.",
            of(maxima),
        ),
        Metric("synctail_pairs", "Completed pairs of the run.", of(counts)),
        Metric("synctail_band", "1 for the band that the run was judged to be in.", of(bands)),
        Metric("synctail_pass", "Whether the policy is met.", of(pass)),
        Metric("synctail_durable", "1 proved, 0 unproved, -1 not durable.", of(durable)),
    ];
    let mut text = String::new();
    for Metric(name, help, series) in metrics.iter().filter(|metric| !metric.2.is_empty()) {
        text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} gauge\n"));
        for (labels, value) in series {
            text.push_str(&format!("{name}{{{labels}}} {value}\n"));
        }
    }
    text
}

/// What tells runs apart; the record's name only where there are several.
fn labels(member: &Member) -> String {
    let plan = member.record.plan.as_ref();
    let path = plan.map_or("", |plan| plan.path.as_str());
    let arm = plan.map_or(String::new(), |plan| plan.arm.to_string());
    let name =
        if member.named { format!(",record=\"{}\"", escaped(&member.name)) } else { String::new() };
    format!("path=\"{}\",arm=\"{}\"{name}", escaped(path), escaped(&arm))
}

/// A label's value: backslash, quote and line break are escaped.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn quantiles(record: &Record, labels: &str) -> Vec<(String, f64)> {
    let pooled = record.distributions.iter().flat_map(|d| parts(&d.pooled));
    let each = pooled.flat_map(|(part, d)| {
        [
            ("p50", d.p50_ns),
            ("p90", d.p90_ns),
            ("p95", d.p95_ns),
            ("p99", d.p99_ns),
            ("p99.9", d.p99_9_ns),
        ]
        .map(|(q, ns)| Some((format!("{labels},part=\"{part}\",percentile=\"{q}\""), seconds(ns?))))
    });
    each.flatten().collect()
}

fn maxima(record: &Record, labels: &str) -> Vec<(String, f64)> {
    let pooled = record.distributions.iter().flat_map(|d| parts(&d.pooled));
    pooled.map(|(part, d)| (format!("{labels},part=\"{part}\""), seconds(d.max_ns))).collect()
}

fn counts(record: &Record, labels: &str) -> Vec<(String, f64)> {
    let count = record.distributions.as_ref().map(|d| d.pooled.total.count);
    count.map(|count| (labels.to_owned(), count as f64)).into_iter().collect()
}

fn bands(record: &Record, labels: &str) -> Vec<(String, f64)> {
    let Some(verdict) = &record.verdict else { return Vec::new() };
    let one = |band| {
        let label = format!("{labels},band=\"{}\"", band_name(band));
        (label, f64::from(u8::from(verdict.band == band)))
    };
    BANDS.map(one).into_iter().collect()
}

fn pass(record: &Record, labels: &str) -> Vec<(String, f64)> {
    let pass = record.verdict.as_ref().is_some_and(|verdict| verdict.pass);
    vec![(labels.to_owned(), f64::from(u8::from(pass)))]
}

fn durable(record: &Record, labels: &str) -> Vec<(String, f64)> {
    let Some(verdict) = &record.verdict else { return Vec::new() };
    let value = match verdict.durability {
        Durability::Proved => 1.0,
        Durability::Unproved => 0.0,
        Durability::NotDurable => -1.0,
    };
    vec![(labels.to_owned(), value)]
}
