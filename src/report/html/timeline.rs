//! Latency over time. Thinned, every extreme stays: of each column of time the least and the greatest
//! sample, and the slowest of the run wherever they lie.

use super::axis::Axis;
use super::columns::{extremes, slowest};
use super::markup::Markup;
use super::plot::{Path, Plot};
use crate::human;
use crate::policy::Policy;
use crate::report::lanes::Lane;

/// Columns of time; about what a screen is wide.
const COLUMNS: usize = 1_000;
/// Samples up to which each one is drawn.
const ALL_DRAWN: usize = 4_000;
/// Slowest samples that are drawn in any case.
const SLOWEST_DRAWN: usize = 500;
/// Slowest samples that bear a number, and are in the table below.
pub const MARKED: usize = 8;

/// All lanes from 0 to `end_ns`, the slowest numbered.
pub fn draw(lanes: &[Lane], end_ns: u64, policy: &Policy) -> Markup {
    let columns = extremes(lanes, end_ns, COLUMNS);
    let ends = columns.iter().flatten();
    let (low, high) = ends.fold((u64::MAX, 1), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    let y = Axis::latency(low, high, "latency");
    let mut plot = Plot::new(Axis::time(end_ns, "time since the start"), y);
    plot.bands_up(policy);
    let count: usize = lanes.iter().map(|lane| lane.ns.len()).sum();
    let mut dots = Path::default();
    if count <= ALL_DRAWN {
        for (at, ns) in lanes.iter().flat_map(Lane::iter) {
            let (x, y) = plot.place(at as f64, ns as f64);
            dots.dot(x, y);
        }
    } else {
        plot.draw("range", ranges(&plot, &columns));
        for (_, at, ns) in slowest(lanes, SLOWEST_DRAWN) {
            let (x, y) = plot.place(at as f64, ns as f64);
            dots.dot(x, y);
        }
    }
    plot.draw("dot", dots);
    mark(&mut plot, &slowest(lanes, MARKED));
    let what = format!("{count} pairs over {}, max {}", human::time(end_ns), human::time(high));
    plot.finish("Latency over time", &what, &Markup::default())
}

/// A line from the least to the greatest sample of each column.
fn ranges(plot: &Plot, columns: &[Option<(u64, u64)>]) -> Path {
    let mut path = Path::default();
    for (i, column) in columns.iter().enumerate() {
        if let Some((low, high)) = column {
            let x = (i as f64 + 0.5) / columns.len() as f64;
            path.line((x, plot.y.at(*low as f64)), (x, plot.y.at(*high as f64)));
        }
    }
    path
}

/// Numbers the slowest; of neighbours that would stand on each other only the slower has its number.
fn mark(plot: &mut Plot, slowest: &[(u64, u64, u64)]) {
    let mut taken: Vec<(f64, f64)> = Vec::new();
    let mut dots = Path::default();
    for (i, &(_, at, ns)) in slowest.iter().enumerate() {
        let (x, y) = plot.place(at as f64, ns as f64);
        dots.dot(x, y);
        let free = |&(x2, y2): &(f64, f64)| (x - x2).abs() > 0.03 || (y - y2).abs() > 0.06;
        if taken.iter().all(free) {
            plot.write("mark", x, y, &(i + 1).to_string());
            taken.push((x, y));
        }
    }
    plot.draw("slow", dots);
}
