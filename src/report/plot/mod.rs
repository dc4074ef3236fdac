//! Plots for a terminal: the percentile curve and a histogram in text, at most 80 columns wide.
//!
//! Pure, colours included: whether there are any is asked by whom a terminal is known to. Crates that
//! plot in text have no logarithmic axes and no bands behind the curve, which is all that is drawn here.

mod bars;
mod canvas;
mod curve;
#[cfg(test)]
mod golden;
mod paint;
mod shape;

use synctail_bench::Distribution;

use super::lanes::{lanes, sorted};
use super::text::{metric, part};
use crate::policy::Policy;
use crate::record::{Metric, Record};
use paint::Paint;
use shape::Shape;

/// How to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlotOptions {
    /// Nothing beyond ASCII.
    pub ascii: bool,
    /// Bands in colours.
    pub colour: bool,
}

/// The plots of the judged part, from all that the record has of it; empty where that is not enough.
pub fn render(record: &Record, policy: &Policy, options: &PlotOptions) -> String {
    let paint = Paint { colour: options.colour, policy };
    let imported = record.source.iter().flat_map(|source| &source.parts);
    if let Some(worst) = imported.max_by_key(|part| part.flush.p99_ns) {
        let name = worst.name.as_deref().unwrap_or("flush");
        let name = crate::human::escape_controls(name);
        return draw(&name, Shape::of_figures(&worst.flush), options.ascii, &paint);
    }
    let Some(distributions) = &record.distributions else { return String::new() };
    let metric = metric(record, distributions);
    let name = match metric {
        Metric::Barrier => "barrier",
        Metric::Total => "total",
    };
    let sorted = sorted(&lanes(record, metric));
    let figures = || Shape::of_distribution(part(&distributions.pooled, metric)?);
    draw(name, Shape::of_samples(&sorted).or_else(figures), options.ascii, &paint)
}

/// The plot of a distribution whose samples are gone.
pub fn of_distribution(
    name: &str,
    distribution: &Distribution,
    policy: &Policy,
    options: &PlotOptions,
) -> String {
    let paint = Paint { colour: options.colour, policy };
    draw(name, Shape::of_distribution(distribution), options.ascii, &paint)
}

fn draw(name: &str, shape: Option<Shape>, ascii: bool, paint: &Paint) -> String {
    let Some(shape) = shape else { return String::new() };
    let name: String = name.chars().take(40).collect();
    let mut text = format!("\n  {name} by percentile\n{}", curve::draw(&shape, ascii, paint));
    if let Some(below) = &shape.below {
        let bars = bars::draw(&shape, below.as_ref(), ascii, paint);
        text.push_str(&format!("\n  {name}, pairs by latency\n{bars}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Samples, WorkerSamples};
    use crate::verdict::sample_record;

    fn record(ns: Vec<u64>) -> Record {
        let mut record = sample_record::barriers(std::slice::from_ref(&ns));
        let columns = WorkerSamples {
            start_ns: vec![0; ns.len()],
            barrier_ns: Some(ns.clone()),
            total_ns: ns,
            ..WorkerSamples::default()
        };
        record.samples = Some(Samples { workers: vec![columns] });
        record
    }

    /// The plot of these latencies.
    pub(super) fn plot(ns: Vec<u64>, ascii: bool, colour: bool) -> String {
        render(&record(ns), &Policy::default(), &PlotOptions { ascii, colour })
    }

    #[test]
    fn no_line_is_wider_than_a_terminal_whatever_is_drawn() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        for count in [1, 2, 99, 1_000, 100_000] {
            let most = 10u64.pow(random.u32(1..19));
            let mut ns: Vec<u64> = (0..count).map(|_| random.u64(0..most)).collect();
            ns.push(if random.bool() { u64::MAX } else { 0 });
            for ascii in [false, true] {
                let text = plot(ns.clone(), ascii, false);
                let widest = text.lines().map(|line| line.chars().count()).max();
                assert!(widest <= Some(80), "seed {seed}: {widest:?}\n{text}");
                assert!(text.lines().count() < 44, "seed {seed}:\n{text}");
                assert!(!ascii || text.is_ascii(), "seed {seed}:\n{text}");
                assert!(!text.contains('\x1b'));
            }
        }
    }

    #[test]
    fn colours_add_nothing_but_colours() {
        let ns: Vec<u64> = (1..=2_000).map(|i| i * 5_000).collect();
        let coloured = plot(ns.clone(), false, true);
        let mut plain = coloured.clone();
        for code in ["\x1b[0m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[35m", "\x1b[36m"] {
            plain = plain.replace(code, "");
        }
        assert!(coloured.contains("\x1b[32m") && coloured.contains("\x1b[36m"));
        assert_eq!(plain, plot(ns, false, false));
    }

    #[test]
    fn a_record_without_samples_shows_its_percentiles_and_one_of_nothing_nothing() {
        let mut record = record((1..=500).map(|i| i * 10_000).collect());
        record.samples = None;
        let text = render(&record, &Policy::default(), &PlotOptions::default());
        assert!(text.contains("by percentile") && !text.contains("by latency"), "{text}");
        assert_eq!(plot(Vec::new(), false, false), "");
    }
}
