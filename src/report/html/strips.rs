//! One strip per worker, all on the same axes: a worker that is slower than the others stands out.

use super::axis::Axis;
use super::columns::extremes;
use super::markup::Markup;
use super::plot::{Path, band_class};
use crate::human;
use crate::policy::Policy;
use crate::record::{Distributions, Metric};
use crate::report::lanes::Lane;
use crate::report::text::part;

/// Columns of time of a strip.
const COLUMNS: usize = 240;
/// Strips that are drawn, slowest workers first; more would be read by nobody.
const STRIPS_MAX: usize = 64;

/// Strips of several workers; nothing for one, whose strip would be the time line again.
pub fn draw(
    lanes: &[Lane],
    end_ns: u64,
    all: &Distributions,
    metric: Metric,
    policy: &Policy,
) -> Markup {
    let mut out = Markup::default();
    if lanes.len() < 2 {
        return out;
    }
    let ns = || lanes.iter().flat_map(|lane| lane.ns).copied();
    let y = Axis::latency(ns().min().unwrap_or(1), ns().max().unwrap_or(1), "latency");
    let mut ordered: Vec<(&Lane, Facts)> =
        lanes.iter().map(|lane| (lane, Facts::of(lane, all, metric))).collect();
    ordered.sort_by_key(|(lane, facts)| (std::cmp::Reverse(facts.judged_ns), lane.worker));
    out.tags("<figure><figcaption>Workers, slowest first</figcaption><div class=\"strips\">");
    for (lane, facts) in ordered.iter().take(STRIPS_MAX) {
        out.tags("<div class=\"who\">").text(&facts.words).tags("</div>");
        out.tags("<svg class=\"strip\" viewBox=\"0 0 4000 1000\" preserveAspectRatio=\"none\" ");
        out.tags("aria-hidden=\"true\">");
        for (class, path) in strip(lane, end_ns, &y, policy) {
            out.put(&path.into_svg(class));
        }
        out.tags("</svg>");
    }
    out.tags("</div><p class=\"legend\">");
    let (shown, all) = (ordered.len().min(STRIPS_MAX), ordered.len());
    let (low, high) = (human::time(y.value(0.0) as u64), human::time(y.value(1.0) as u64));
    let of = if shown < all { format!("{shown} of {all} workers; ") } else { String::new() };
    let end = human::time(end_ns);
    out.text(&format!(
        "{of}each strip is 0 to {end} to the right and {low} to {high} upwards, in decades; the colour is the band of the slowest pair there"
    ));
    out.tags("</p></figure>\n");
    out
}

/// What stands beside a strip.
struct Facts {
    judged_ns: u64,
    words: String,
}

impl Facts {
    fn of(lane: &Lane, all: &Distributions, metric: Metric) -> Facts {
        let worker = all.workers.iter().find(|worker| worker.worker == lane.worker);
        let figures = worker.and_then(|worker| part(&worker.parts, metric));
        let max_ns = lane.ns.iter().copied().max().unwrap_or(0);
        let p99_ns = figures.and_then(|figures| figures.p99_ns);
        let cpu = worker.and_then(|worker| worker.cpu);
        let mut words = format!("worker {}", lane.worker);
        words.push_str(&cpu.map_or_else(String::new, |cpu| format!(", cpu {cpu}")));
        words.push_str(&p99_ns.map_or_else(String::new, |ns| format!(", p99 {}", human::time(ns))));
        words.push_str(&format!(", max {}", human::time(max_ns)));
        Facts { judged_ns: p99_ns.unwrap_or(max_ns), words }
    }
}

/// A line from the least to the greatest sample of each column, by the band of the greatest.
fn strip(lane: &Lane, end_ns: u64, y: &Axis, policy: &Policy) -> Vec<(&'static str, Path)> {
    let mut paths: Vec<(&'static str, Path)> = Vec::new();
    let columns = extremes(std::slice::from_ref(lane), end_ns, COLUMNS);
    for (i, column) in columns.iter().enumerate() {
        let Some((low, high)) = column else { continue };
        let class = band_class(policy.band(*high));
        let known = paths.iter().position(|(known, _)| *known == class);
        let place = known.unwrap_or_else(|| {
            paths.push((class, Path::default()));
            paths.len() - 1
        });
        let x = |i: usize| i as f64 / COLUMNS as f64;
        // A column with one sample is a bar of its own as well.
        let (from, to) = (y.at(*low as f64), y.at(*high as f64));
        paths[place].1.rectangle((x(i), (from - 0.02).max(0.0)), (x(i + 1), (to + 0.02).min(1.0)));
    }
    paths
}
