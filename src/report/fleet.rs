//! Many records as one table: worst first, and those that stand apart from the fleet marked.

use serde::Serialize;
use synctail_bench::Distribution;

use super::lines::{COLUMNS, Lines};
use crate::human;
use crate::policy::band_name;
use crate::record::{Metric, Record};

/// A figure stands apart from so many scaled deviations on (Iglewicz and Hoaglin, 1993).
const SCORE_LEAST: f64 = 3.5;
/// What a median absolute deviation is of the standard deviation of normal values.
const MAD_OF_SIGMA: f64 = 0.6745;
/// Where nearly all are equal a deviation is worth nothing: the least share of the median that counts.
const DEVIATION_SHARE_LEAST: f64 = 0.01;

/// One machine's record.
#[derive(Debug)]
pub struct Member {
    /// The file it came from.
    pub name: String,
    /// Whether the name has to be said: there are several.
    pub named: bool,
    /// Its record.
    pub record: Record,
}

/// What is said of all of them together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fleet {
    /// Median of the judged figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_ns: Option<u64>,
    /// Median of their distances to that median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation_ns: Option<u64>,
    /// Names of the records that stand apart, worst first.
    pub outliers: Vec<String>,
    /// The judged part's samples of all records merged, then ranked; absent unless all have samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<Distribution>,
}

/// The figure that a record was judged by.
fn figure(record: &Record) -> Option<u64> {
    record.verdict.as_ref().map(|verdict| verdict.judged_ns)
}

/// Puts the worst first: what has no verdict, then by the judged figure.
pub fn sort(members: &mut [Member]) {
    let rank = |member: &Member| std::cmp::Reverse(figure(&member.record).unwrap_or(u64::MAX));
    members.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.name.cmp(&b.name)));
}

/// Median, deviation, outliers and merged percentiles of sorted `members`.
pub fn summary(members: &[Member]) -> Fleet {
    let figures = || members.iter().filter_map(|member| figure(&member.record));
    let median_ns = median(figures().collect());
    let deviation_ns = median_ns.and_then(|m| median(figures().map(|ns| ns.abs_diff(m)).collect()));
    let outlies = |member: &&Member| {
        let ns = figure(&member.record);
        ns.zip(median_ns).zip(deviation_ns).is_some_and(|((ns, m), d)| stands_apart(ns, m, d))
    };
    let outliers = members.iter().filter(outlies).map(|member| member.name.clone()).collect();
    Fleet { median_ns, deviation_ns, outliers, merged: merged(members) }
}

fn stands_apart(ns: u64, median: u64, deviation: u64) -> bool {
    let deviation = (deviation as f64).max(median as f64 * DEVIATION_SHARE_LEAST);
    MAD_OF_SIGMA * ns.abs_diff(median) as f64 >= SCORE_LEAST * deviation && deviation > 0.0
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}

/// The barrier's samples, or the total's where that is what was judged.
fn merged(members: &[Member]) -> Option<Distribution> {
    let mut all = Vec::new();
    for Member { record, .. } in members {
        let by_total = record.verdict.as_ref().is_some_and(|v| v.metric == Metric::Total);
        for worker in &record.samples.as_ref()?.workers {
            let barrier = worker.barrier_ns.as_ref().filter(|_| !by_total);
            all.extend(barrier.unwrap_or(&worker.total_ns));
        }
    }
    Distribution::of(&mut all)
}

/// The table and what follows from it.
pub fn render(members: &[Member], fleet: &Fleet) -> String {
    let mut lines = Lines::default();
    let width = COLUMNS - 50;
    lines.say(
        &format!("{:<width$} {:<9}{:>9}{:>9}{:>9}", "record", "band", "judged", "p50", "max"),
        4,
    );
    for member in members {
        let mark = if fleet.outliers.contains(&member.name) { "  outlier" } else { "" };
        lines.say(&format!("{}{mark}", row(member, width)), 4);
    }
    if let Some((median, deviation)) = fleet.median_ns.zip(fleet.deviation_ns) {
        let (median, deviation) = (human::time(median), human::time(deviation));
        lines.say(
            &format!(
                "median {median}, median deviation {deviation}, {} outliers",
                fleet.outliers.len()
            ),
            4,
        );
    }
    if let Some(all) = &fleet.merged {
        let ns = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), human::time);
        let (p50, p99) = (ns(all.p50_ns), ns(all.p99_ns));
        let max = human::time(all.max_ns);
        lines.say(&format!("merged: {} samples, p50 {p50}, p99 {p99}, max {max}", all.count), 4);
    }
    lines.into_text()
}

fn row(member: &Member, width: usize) -> String {
    let name = human::escape_controls(&member.name);
    let length = name.chars().count();
    let name: String = name.chars().skip(length.saturating_sub(width)).collect();
    let verdict = member.record.verdict.as_ref();
    let band = verdict.map_or("none", |verdict| band_name(verdict.band));
    let pooled = member.record.distributions.as_ref().map(|d| &d.pooled);
    let part = pooled.map(|pooled| pooled.barrier.as_ref().unwrap_or(&pooled.total));
    let cell = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), human::time);
    let judged = cell(figure(&member.record));
    let (p50, max) = (cell(part.and_then(|d| d.p50_ns)), cell(part.map(|d| d.max_ns)));
    format!("{name:<width$} {band:<9}{judged:>9}{p50:>9}{max:>9}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_far_from_the_others_stands_apart() {
        assert!(stands_apart(50, 10, 1) && stands_apart(16, 10, 1));
        assert!(!stands_apart(15, 10, 1));
        // All equal but one: a hundredth of the median takes the deviation's place.
        assert!(stands_apart(1_100, 1_000, 0) && !stands_apart(1_010, 1_000, 0));
        assert!(!stands_apart(0, 0, 0));
    }

    #[test]
    fn the_median_is_a_value_that_occurred() {
        assert_eq!(median(vec![9, 1, 5]), Some(5));
        assert_eq!(median(vec![9, 1]), Some(1));
        assert_eq!(median(Vec::new()), None);
    }
}
