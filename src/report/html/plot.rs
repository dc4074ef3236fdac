//! The frame of a plot: grid, ticks, titles, and the marks within.
//!
//! Own SVG, and not that of `plotters`: that one writes fixed colours and a fixed size into each
//! element. A report is read on a dark screen, on paper and on a telephone, so colours are classes of
//! the page, marks are stretched to the width there is, and words keep their size beside them.

use super::axis::{Axis, Tick};
use super::markup::Markup;
use crate::policy::{Policy, band_name};
use crate::record::Band;

/// Units that the marks' own coordinates count to the right.
pub const WIDTH: f64 = 4_000.0;
/// Units that they count down.
pub const HEIGHT: f64 = 1_000.0;

/// A plot under construction.
#[derive(Debug)]
pub struct Plot {
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    behind: Markup,
    marks: Markup,
    words: Markup,
}

/// A line or a row of marks: a path in the plot's own coordinates.
#[derive(Debug, Default)]
pub struct Path {
    d: Markup,
}

impl Path {
    /// Starts at a place, 0 to 1 from the left and from below.
    pub fn to(&mut self, x: f64, y: f64) -> &mut Path {
        let command = if self.d.is_empty() { "M" } else { "L" };
        self.point(command, x, y);
        self
    }

    /// A dot.
    pub fn dot(&mut self, x: f64, y: f64) -> &mut Path {
        self.point("M", x, y);
        self.d.tags("h0");
        self
    }

    /// A line of its own.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64)) -> &mut Path {
        self.point("M", from.0, from.1);
        self.point("L", to.0, to.1);
        self
    }

    /// A filled rectangle.
    pub fn rectangle(&mut self, from: (f64, f64), to: (f64, f64)) -> &mut Path {
        self.point("M", from.0, from.1);
        let (x, y) = ((to.0 * WIDTH).round(), ((1.0 - to.1) * HEIGHT).round());
        self.d.tags("H").number(x).tags("V").number(y);
        self.d.tags("H").number((from.0 * WIDTH).round()).tags("z");
        self
    }

    /// The element, in the colours of a class; nothing where nothing was drawn.
    pub fn into_svg(self, class: &'static str) -> Markup {
        let mut out = Markup::default();
        if !self.d.is_empty() {
            out.tags("<path class=\"").tags(class).tags("\" d=\"").put(&self.d).tags("\"/>");
        }
        out
    }

    fn point(&mut self, command: &'static str, x: f64, y: f64) {
        let (x, y) = ((x * WIDTH).round(), ((1.0 - y) * HEIGHT).round());
        self.d.tags(command).number(x).tags(" ").number(y);
    }
}

impl Plot {
    /// An empty one.
    pub fn new(x: Axis, y: Axis) -> Plot {
        let [behind, marks, words] = Default::default();
        Plot { x, y, behind, marks, words }
    }

    /// Where two values meet.
    pub fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// Draws a path in the colours of a class.
    pub fn draw(&mut self, class: &'static str, path: Path) {
        self.marks.put(&path.into_svg(class));
    }

    /// Writes at a place, 0 to 1 from the left and from below. The class says on which side of it.
    pub fn write(&mut self, class: &'static str, x: f64, y: f64, text: &str) {
        self.words.tags("<text class=\"").tags(class).tags("\" x=\"").number(x * 100.0);
        self.words.tags("%\" y=\"").number((1.0 - y) * 100.0).tags("%\">").text(text);
        self.words.tags("</text>");
    }

    /// Shades the bands of a policy across a vertical axis of latencies, and names them.
    pub fn bands_up(&mut self, policy: &Policy) {
        for (band, from, to) in bands(&self.y, policy) {
            let mut path = Path::default();
            path.rectangle((0.0, from), (1.0, to));
            self.behind.put(&path.into_svg(band_class(band)));
            if to < 1.0 {
                let mut edge = Path::default();
                edge.line((0.0, to), (1.0, to));
                self.behind.put(&edge.into_svg("edge"));
            }
            // A band too thin for a word stays without.
            if to - from > 0.06 {
                self.write("band", 0.0, to, band_name(band));
            }
        }
    }

    /// The same across a horizontal axis of latencies.
    pub fn bands_right(&mut self, policy: &Policy) {
        for (band, from, to) in bands(&self.x, policy) {
            let mut path = Path::default();
            path.rectangle((from, 0.0), (to, 1.0));
            self.behind.put(&path.into_svg(band_class(band)));
            if to < 1.0 {
                let mut edge = Path::default();
                edge.line((to, 0.0), (to, 1.0));
                self.behind.put(&edge.into_svg("edge"));
            }
            if to - from > 0.22 {
                self.write("band", from, 1.0, band_name(band));
            }
        }
    }

    /// The plot between its title and its legend; `what` is said of it to who cannot see it.
    pub fn finish(self, title: &'static str, what: &str, legend: &Markup) -> Markup {
        let mut out = Markup::default();
        out.tags("<figure><figcaption>").tags(title).tags("</figcaption>");
        out.tags("<div class=\"frame\"><svg class=\"plot\" role=\"img\" aria-label=\"").text(what);
        out.tags("\">");
        let mut grid = Markup::default();
        let mut labels = Markup::default();
        for tick in &self.x.ticks {
            let mut path = Path::default();
            path.line((tick.at, 0.0), (tick.at, 1.0));
            grid.put(&path.into_svg("grid"));
            label(&mut labels, tick, (tick.at, 0.0), ["tx", "tx minor"]);
        }
        for tick in &self.y.ticks {
            let mut path = Path::default();
            path.line((0.0, tick.at), (1.0, tick.at));
            grid.put(&path.into_svg("grid"));
            label(&mut labels, tick, (0.0, tick.at), ["ty", "ty minor"]);
        }
        out.tags("<svg viewBox=\"0 0 4000 1000\" preserveAspectRatio=\"none\">");
        out.put(&self.behind).put(&grid).put(&self.marks).tags("</svg>");
        out.put(&labels).put(&self.words).tags("</svg></div>");
        out.tags("<div class=\"axes\"><span>&#8593; ").tags(self.y.title).tags("</span><span>");
        out.tags(self.x.title).tags(" &#8594;</span></div>").put(legend).tags("</figure>\n");
        out
    }
}

/// The part of each band that is on the axis: where it begins and ends there.
fn bands(axis: &Axis, policy: &Policy) -> Vec<(Band, f64, f64)> {
    let mut from_ns = 0;
    let tops = policy.edges_ns.into_iter().chain([u64::MAX]);
    let mut found = Vec::new();
    for to_ns in tops {
        let (from, to) = (axis.at(from_ns as f64), axis.at(to_ns as f64));
        if to > from {
            found.push((policy.band(from_ns), from, to));
        }
        from_ns = to_ns;
    }
    found
}

/// The class that has the colour of a band.
pub fn band_class(band: Band) -> &'static str {
    ["b0", "b1", "b2", "b3", "b4"][band as usize]
}

fn label(into: &mut Markup, tick: &Tick, at: (f64, f64), classes: [&'static str; 2]) {
    let class = classes[usize::from(tick.minor)];
    into.tags("<text class=\"").tags(class).tags("\" x=\"").number(at.0 * 100.0).tags("%\" y=\"");
    into.number((1.0 - at.1) * 100.0).tags("%\">").text(&tick.label).tags("</text>");
}
