//! The record as one page for the eye: nothing is loaded, nothing runs, and it can be printed.
//!
//! Pure: the same record under the same policy gives the same bytes.

mod columns;
mod heatmap;
mod histogram;
mod markup;
mod page;
mod percentile_curve;
mod plot;
pub mod qualification;
mod repeat;
mod slowest;
mod split;
mod strips;
mod substrate;
mod summary;
#[cfg(test)]
mod tests;
mod timeline;

use super::axis;
use super::lanes::{Lane, end_ns, lanes, sorted};
use super::text::{self, TextOptions, metric};
use crate::policy::Policy;
use crate::record::{Distributions, Metric, Record};
use markup::Markup;
use percentile_curve::Curve;

/// `record` as a page. Plots need the record's samples; without them it is verdict, figures and facts.
pub fn render(record: &Record, policy: &Policy) -> String {
    let mut body = Markup::default();
    body.put(&summary::draw(record));
    if let Some(distributions) = &record.distributions {
        body.put(&plots(record, distributions, policy));
    }
    body.put(&split::draw(record)).put(&substrate::draw(record)).put(&substrate::command(record));
    let all = TextOptions { verbose: true, recommend: true };
    body.put(&page::as_text(&text::render(record, &all)));
    page::page(&title(record), &body)
}

fn title(record: &Record) -> String {
    let path = record.plan.as_ref().map_or("", |plan| plan.path.as_str());
    format!("synctail {path} {}", record.started_at)
}

fn plots(record: &Record, all: &Distributions, policy: &Policy) -> Markup {
    let metric = metric(record, all);
    let judged = lanes(record, metric);
    let mut out = Markup::default();
    if judged.is_empty() {
        out.tags("<p class=\"dim\">This record has no samples: there is nothing to plot.</p>");
        return out;
    }
    let end_ns = end_ns(record, &judged);
    let pooled = sorted(&judged);
    out.tags("<section><h2>").tags(heading(metric)).tags("</h2><div class=\"plots\">\n");
    out.put(&percentiles(record, all, metric, &judged, &pooled, policy));
    out.put(&histogram::draw(&pooled, policy));
    out.put(&timeline::draw(&judged, end_ns, policy));
    out.put(&heatmap::draw(&judged, end_ns));
    out.tags("</div>\n");
    out.put(&slowest::table(record, &judged));
    out.put(&strips::draw(&judged, end_ns, all, metric, policy));
    out.tags("</section>\n");
    out
}

fn heading(metric: Metric) -> &'static str {
    match metric {
        Metric::Barrier => "Latency of the barrier",
        Metric::Total => "Latency of the pair",
    }
}

/// The judged part, the worst worker's where there are several, and the whole pair beside its barrier.
fn percentiles(
    record: &Record,
    all: &Distributions,
    metric: Metric,
    judged: &[Lane],
    pooled: &[u64],
    policy: &Policy,
) -> Markup {
    let own = text::part(&all.pooled, metric).and_then(|figures| figures.p99_interval_ns);
    let worst = worst(judged, all, metric);
    let interval_ns = worst.as_ref().map_or(own, |worst| worst.2);
    let worst_sorted = worst.as_ref().map(|worst| sorted(std::slice::from_ref(worst.1)));
    let totals = match metric {
        Metric::Barrier => sorted(&lanes(record, Metric::Total)),
        Metric::Total => Vec::new(),
    };
    let (one, other) = match metric {
        Metric::Barrier => ("barrier", "write and barrier"),
        Metric::Total => ("total", ""),
    };
    let several = if worst.is_some() { ", all workers" } else { "" };
    let mut curves = vec![Curve { name: format!("{one}{several}"), class: "s0", sorted: pooled }];
    if let (Some((worker, ..)), Some(sorted)) = (&worst, &worst_sorted) {
        let name = format!("{one}, worst worker ({worker})");
        curves.push(Curve { name, class: "s2", sorted });
    }
    if !totals.is_empty() {
        let name = format!("{other}{several}");
        curves.push(Curve { name, class: "s1", sorted: &totals });
    }
    percentile_curve::draw(&curves, interval_ns, policy)
}

/// The worker with the largest p99, its lane and the interval of that; nothing where there is only one.
fn worst<'a>(
    judged: &'a [Lane<'a>],
    all: &Distributions,
    metric: Metric,
) -> Option<(u64, &'a Lane<'a>, Option<[u64; 2]>)> {
    let several = (judged.len() > 1).then_some(&all.workers)?;
    let figures = several.iter().filter_map(|w| Some((w.worker, text::part(&w.parts, metric)?)));
    let (worker, figures) = figures.max_by_key(|(_, figures)| figures.p99_ns)?;
    let lane = judged.iter().find(|lane| lane.worker == worker)?;
    figures.p99_ns.map(|_| (worker, lane, figures.p99_interval_ns))
}
