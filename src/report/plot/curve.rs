//! The percentile curve in text, with the edges of the bands behind it and their names beside it.

use super::canvas::Canvas;
use super::paint::Paint;
use super::shape::Shape;
use crate::policy::band_name;
use crate::report::axis::{Axis, Tick};
use crate::report::nines::percentiles;

/// Characters of the plot itself; labels take the rest of 80.
const COLUMNS: usize = 58;
const ROWS: usize = 12;
/// Of a label of latency and the line right of it.
const MARGIN: usize = 10;

/// Curve, axes and bands.
pub fn draw(shape: &Shape, ascii: bool, paint: &Paint) -> String {
    let y = Axis::latency(shape.range_ns.0, shape.range_ns.1, "");
    let x = percentiles(shape.count);
    let canvas = canvas(shape, &x, &y, ascii);
    let rows = (0..ROWS).map(|row| line(&canvas, row, &y, ascii, paint));
    rows.collect::<String>() + &below(&x, ascii)
}

/// A percentile is a sample: the curve goes in steps. Single percentiles stay points.
fn canvas(shape: &Shape, x: &Axis, y: &Axis, ascii: bool) -> Canvas {
    let mut canvas = Canvas::new(COLUMNS, ROWS, ascii);
    let mut last: Option<(f64, f64)> = None;
    for &(nines, ns) in &shape.points {
        let place = (x.at(nines), y.at(ns as f64));
        let from = last.filter(|_| shape.below.is_some()).unwrap_or(place);
        canvas.line(from, (place.0, from.1));
        canvas.line((place.0, from.1), place);
        last = Some(place);
    }
    canvas
}

/// One row: the tick beside it, the dots, and the name of the band that begins below it.
fn line(canvas: &Canvas, row: usize, y: &Axis, ascii: bool, paint: &Paint) -> String {
    let tick = y.ticks.iter().find(|tick| row_of(tick.at) == row);
    let label = tick.map_or("", |tick| tick.label.as_str());
    let edge = paint.policy.edges_ns.iter().find(|&&ns| {
        let at = y.at(ns as f64);
        at > 0.0 && at < 1.0 && row_of(at) == row
    });
    let (wall, dash) = if ascii { ('|', '-') } else { ('│', '┄') };
    let empty = if edge.is_some() { dash } else { ' ' };
    let ns = y.value(1.0 - (row as f64 + 0.5) / ROWS as f64) as u64;
    // The name stands on the edge that the band begins with, or at the foot.
    let band = match edge {
        Some(&ns) => Some(paint.policy.band(ns)),
        None => (row + 1 == ROWS).then(|| paint.policy.band(ns)),
    };
    let name = band.map_or(String::new(), |band| paint.band(band, band_name(band)));
    let dots = canvas.row(row, empty);
    // Spaces inside a colour would stay at the end of the line.
    let dots = if band.is_some() { &dots } else { dots.trim_end() };
    format!("  {label:>6} {wall}{} {name}", paint.at(ns, dots)).trim_end().to_owned() + "\n"
}

fn row_of(at: f64) -> usize {
    (((1.0 - at) * ROWS as f64) as usize).min(ROWS - 1)
}

/// The line under the plot and the names of the percentiles, those with room; the ends come first.
fn below(x: &Axis, ascii: bool) -> String {
    let (corner, floor) = if ascii { ('+', '-') } else { ('└', '─') };
    let mut names = vec![' '; MARGIN + COLUMNS + 4];
    let (ends, rest): (Vec<&Tick>, Vec<&Tick>) =
        x.ticks.iter().partition(|tick| tick.at >= 1.0 || tick.at <= 0.0);
    for tick in ends.into_iter().chain(rest) {
        let centre = MARGIN + (tick.at * (COLUMNS - 1) as f64).round() as usize;
        let from = centre - tick.label.len() / 2;
        let to = from + tick.label.len();
        let is_free = names[from - 1..to + 1].iter().all(|&c| c == ' ');
        if is_free {
            names.splice(from..to, tick.label.chars());
        }
    }
    let names: String = names.into_iter().collect();
    let floor: String = std::iter::repeat_n(floor, COLUMNS).collect();
    format!("{corner:>MARGIN$}{floor}\n{}\n", names.trim_end())
}
