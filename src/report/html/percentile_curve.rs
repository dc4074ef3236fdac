//! Latency over percentiles, with as much room for each nine as for the one before.

use super::axis::Axis;
use super::markup::Markup;
use super::plot::{Path, Plot};
use crate::human;
use crate::policy::Policy;
use crate::report::nines::{curve, percentiles};

/// A curve: a part of the pair, or one worker's.
#[derive(Debug)]
pub struct Curve<'a> {
    /// What it is, for the legend.
    pub name: String,
    /// The class of its line: `s0` the judged one, `s1` and so on.
    pub class: &'static str,
    /// Its samples, ascending.
    pub sorted: &'a [u64],
}

/// Curves against the edges of the policy's bands; `interval_ns` is that of the judged p99.
pub fn draw(curves: &[Curve], interval_ns: Option<[u64; 2]>, policy: &Policy) -> Markup {
    let most = curves.iter().map(|c| c.sorted.len()).max().unwrap_or(1) as u64;
    let ends = curves.iter().filter_map(|c| Some((*c.sorted.first()?, *c.sorted.last()?)));
    let (low, high) = ends.fold((u64::MAX, 1), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    let mut plot = Plot::new(percentiles(most), Axis::latency(low, high, "latency"));
    plot.bands_up(policy);
    // The judged curve is drawn last, over the others.
    for one in curves.iter().rev() {
        let mut path = Path::default();
        let mut previous: Option<f64> = None;
        for (x, ns) in curve(one.sorted) {
            let (x, y) = plot.place(x, ns as f64);
            // A percentile is a sample: the curve goes in steps.
            if let Some(before) = previous {
                path.to(x, before);
            }
            path.to(x, y);
            previous = Some(y);
        }
        plot.draw(one.class, path);
    }
    if let Some([low, high]) = interval_ns {
        let (x, from) = plot.place(2.0, low as f64);
        let mut path = Path::default();
        path.line((x, from), (x, plot.y.at(high as f64)));
        plot.draw("interval", path);
    }
    plot.finish("Percentiles", &summary(curves), &legend(curves, interval_ns))
}

fn summary(curves: &[Curve]) -> String {
    let one = |c: &Curve| {
        let max = c.sorted.last().map_or_else(String::new, |&ns| human::time(ns));
        format!("{}: {} samples, max {max}", c.name, human::count(c.sorted.len() as u64))
    };
    curves.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn legend(curves: &[Curve], interval_ns: Option<[u64; 2]>) -> Markup {
    let mut out = Markup::default();
    out.tags("<p class=\"legend\">");
    for curve in curves {
        out.tags("<span class=\"key ").tags(curve.class).tags("\"></span>").text(&curve.name);
        out.tags(" ");
    }
    if let Some([low, high]) = interval_ns {
        out.tags("<span class=\"key interval\"></span>");
        out.text(&format!("95 % interval of p99: {} to {}", human::time(low), human::time(high)));
    }
    out.tags("</p>\n");
    out
}
