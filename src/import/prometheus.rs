//! Prometheus histograms in text exposition format, such as etcd's WAL fsync duration. A bucket says
//! between which bounds a percentile lies, and no more.

use std::collections::BTreeMap;

use super::{Import, Measurement, note, single};
use crate::quantity::TimeUnit;
use crate::record::{Figures, Severity, SourcePart};

/// Series by metric, then by its other labels: upper bounds with their cumulative counts.
type Families = BTreeMap<String, Series>;
type Series = BTreeMap<String, Vec<(f64, f64)>>;

/// Nothing where no line is a histogram's bucket.
pub fn read(text: &str) -> Option<Result<Import, String>> {
    let mut families = Families::new();
    for (name, labels, bound, count) in text.lines().filter_map(bucket) {
        families.entry(name).or_default().entry(labels).or_default().push((bound, count));
    }
    if families.is_empty() {
        return None;
    }
    Some(chosen(&families).and_then(|(name, series)| measured(name, series)))
}

/// `name_bucket{le="0.001",instance="a"} 637196`
fn bucket(line: &str) -> Option<(String, String, f64, f64)> {
    let (name, rest) = line.trim().split_once("_bucket{")?;
    let (labels, value) = rest.rsplit_once('}')?;
    let (mut bound, mut others) = (None, Vec::new());
    for label in labels.split(',').filter(|label| !label.is_empty()) {
        match label.trim().strip_prefix("le=") {
            Some(le) => bound = Some(le.trim_matches('"')),
            None => others.push(label.trim()),
        }
    }
    let bound = match bound? {
        "+Inf" => f64::INFINITY,
        number => number.parse().ok().filter(|bound: &f64| bound.is_finite())?,
    };
    let count: f64 = value.split_whitespace().next()?.parse().ok()?;
    (count.is_finite() && count >= 0.0).then(|| (name.to_owned(), others.join(","), bound, count))
}

/// The histogram of flushes: the only one, or the only one that says so in its name.
fn chosen(families: &Families) -> Result<(&String, &Series), String> {
    if families.len() == 1 {
        return families.iter().next().ok_or_else(String::new);
    }
    let wal = families.iter().filter(|(name, _)| name.contains("wal_fsync"));
    let sync = families.iter().filter(|(name, _)| name.contains("sync"));
    let (wal, sync): (Vec<_>, Vec<_>) = (wal.collect(), sync.collect());
    match (&wal[..], &sync[..]) {
        ([one], _) | ([], [one]) => Ok(*one),
        _ => {
            let names: Vec<&str> = families.keys().map(String::as_str).take(8).collect();
            Err(format!("several histograms ({}): leave one in the file", names.join(", ")))
        }
    }
}

fn measured(name: &str, series: &Series) -> Result<Import, String> {
    let unit = name.rsplit('_').next().and_then(TimeUnit::named).unwrap_or(TimeUnit::S);
    let mut parts = Vec::new();
    for (labels, buckets) in series {
        let flush = figures(buckets, unit)?;
        let label = if labels.is_empty() { name } else { labels };
        parts.extend(flush.map(|flush| SourcePart { name: Some(label.to_owned()), flush }));
    }
    if parts.is_empty() {
        return Err(format!("{name} has counted nothing yet"));
    }
    let findings = vec![note(
        "p99_from_buckets",
        Severity::Info,
        "a bucket's bounds are no measurement: p99 lies between them, and the upper one is judged"
            .into(),
        name.to_owned(),
    )];
    single("prometheus", Measurement { parts, findings, ..Measurement::default() })
}

/// Nothing where nothing was counted.
fn figures(buckets: &[(f64, f64)], unit: TimeUnit) -> Result<Option<Figures>, String> {
    let mut buckets = buckets.to_vec();
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    if !buckets.is_sorted_by(|a, b| a.1 <= b.1) {
        return Err("its buckets are not cumulative: two scrapes in one file?".to_owned());
    }
    let total = buckets.last().map_or(0.0, |last| last.1);
    if total < 1.0 {
        return Ok(None);
    }
    // At least 99 % of all lie at or below this bound; fewer at or below the one before.
    let rank = total * 0.99;
    let at = buckets.iter().position(|&(_, count)| count >= rank).unwrap_or(buckets.len() - 1);
    let below = at.checked_sub(1).map_or(0.0, |before| buckets[before].0);
    let bounds = unit.ns_of(below).zip(unit.ns_of(buckets[at].0));
    let within = bounds.map_or_else(
        || Ok([unit.ns_of(below).unwrap_or(0), u64::MAX >> 1]),
        |(low, high)| {
            if low < high { Ok([low, high]) } else { Err("its bounds do not rise".to_owned()) }
        },
    )?;
    Ok(Some(Figures {
        count: Some(total as u64),
        p99_within_ns: Some(within),
        ..Figures::default()
    }))
}
