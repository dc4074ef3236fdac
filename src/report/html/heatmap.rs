//! Where the samples lie over time: the darker a cell, the more of them. A single one is seen.

use super::axis::Axis;
use super::columns::column;
use super::markup::Markup;
use super::plot::{Path, Plot};
use crate::human;
use crate::report::lanes::Lane;

/// Cells along the time.
const COLUMNS: usize = 120;
/// Cells along the latency.
const ROWS: usize = 40;
/// Shades, lightest first; the classes of the page.
const SHADES: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];

/// All lanes from 0 to `end_ns`.
pub fn draw(lanes: &[Lane], end_ns: u64) -> Markup {
    let all = || lanes.iter().flat_map(|lane| lane.ns).copied();
    let (low, high) = (all().min().unwrap_or(1), all().max().unwrap_or(1));
    let y = Axis::latency(low, high, "latency");
    let mut counts = vec![0u64; COLUMNS * ROWS];
    for (at, ns) in lanes.iter().flat_map(Lane::iter) {
        let row = ((y.at(ns as f64) * ROWS as f64) as usize).min(ROWS - 1);
        counts[row * COLUMNS + column(at, end_ns, COLUMNS)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1);
    let mut plot = Plot::new(Axis::time(end_ns, "time since the start"), y);
    for (shade, class) in SHADES.iter().enumerate() {
        let mut cells = Path::default();
        for (i, &count) in counts.iter().enumerate() {
            if count > 0 && self::shade(count, most) == shade {
                let (column, row) = (i % COLUMNS, i / COLUMNS);
                let at = |i: usize, of: usize| i as f64 / of as f64;
                cells.rectangle(
                    (at(column, COLUMNS), at(row, ROWS)),
                    (at(column + 1, COLUMNS), at(row + 1, ROWS)),
                );
            }
        }
        plot.draw(class, cells);
    }
    let (cell, most) = (human::time(end_ns / COLUMNS as u64), human::count(most));
    let mut legend = Markup::default();
    legend.tags("<p class=\"legend\">1 pair");
    for class in SHADES {
        legend.tags(" <span class=\"key ").tags(class).tags("\"></span>");
    }
    legend.text(&format!(" {most} pairs in a cell, {cell} wide")).tags("</p>\n");
    plot.finish("Heat map", &format!("up to {most} pairs in a cell of {cell}"), &legend)
}

/// The shade of a cell, by the logarithm of its count.
fn shade(count: u64, most: u64) -> usize {
    if most <= 1 {
        return SHADES.len() - 1;
    }
    let share = (count as f64).ln() / (most as f64).ln();
    (share * (SHADES.len() - 1) as f64).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pair_is_seen_and_the_fullest_cell_is_the_darkest() {
        assert_eq!((shade(1, 1_000_000), shade(1_000_000, 1_000_000)), (0, SHADES.len() - 1));
        assert_eq!(shade(1, 1), SHADES.len() - 1);
        assert_eq!(shade(1_000, 1_000_000), 3);
    }
}
