//! Axes: from a value to a place between 0 and 1, and the ticks beside it.

use crate::human;

/// The most labels that a linear axis bears.
const LINEAR_TICKS_MAX: u64 = 10;

/// How values lie along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// Each decade as long as the next.
    Log,
}

/// A label of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// From 0 (low) to 1 (high).
    pub at: f64,
    /// What it says; a line without a word where it is empty.
    pub label: String,
    /// May be left out where there is little room.
    pub minor: bool,
}

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    scale: Scale,
    /// Ascending.
    pub ticks: Vec<Tick>,
    /// What is counted, with its unit.
    pub title: &'static str,
}

impl Axis {
    /// An axis whose ticks are set by whom it is for. Where `high` is not above `low`, everything lies
    /// at its low end.
    pub fn new(low: f64, high: f64, scale: Scale, title: &'static str) -> Axis {
        Axis { low, high, scale, ticks: Vec::new(), title }
    }

    /// Latencies from `min_ns` to `max_ns`, in decades, with some air at both ends.
    pub fn latency(min_ns: u64, max_ns: u64, title: &'static str) -> Axis {
        let low = (min_ns.max(1) as f64) / 1.4;
        // A range below three decades bears the twos and fives as well.
        let high = (max_ns.max(1) as f64 * 1.6).max(low * 8.0);
        let mut axis = Axis::new(low, high, Scale::Log, title);
        let dense = high / low < 1_000.0;
        let decades = (0..20).map(|power| 10u64.pow(power.min(19)));
        for decade in decades {
            for (factor, minor) in [(1, false), (2, true), (5, true)] {
                let ns = decade.saturating_mul(factor);
                if (dense || !minor) && (low..=high).contains(&(ns as f64)) {
                    axis.tick(ns as f64, short(&human::time(ns)), minor);
                }
            }
        }
        axis
    }

    /// Time since the start of the run, 0 to `end_ns`.
    pub fn time(end_ns: u64, title: &'static str) -> Axis {
        let end_ns = end_ns.max(1);
        let mut axis = Axis::new(0.0, end_ns as f64, Scale::Linear, title);
        let step = step(end_ns);
        for (i, ns) in (0..=end_ns).step_by(step as usize).enumerate() {
            axis.tick(
                ns as f64,
                if ns == 0 { "0".into() } else { short(&human::time(ns)) },
                i % 2 == 1,
            );
        }
        axis
    }

    /// Counts from 1 to `most`, in decades.
    pub fn count(most: u64, title: &'static str) -> Axis {
        let high = (most.max(1) as f64 * 1.6).max(12.0);
        // One sample is a bar that is seen.
        let mut axis = Axis::new(0.5, high, Scale::Log, title);
        for power in 0..20 {
            let count = 10f64.powi(power);
            if count <= high {
                axis.tick(count, format!("{count}"), false);
            }
        }
        axis
    }

    /// Adds a tick; ticks come in ascending order.
    pub fn tick(&mut self, value: f64, label: String, minor: bool) {
        let at = self.at(value);
        self.ticks.push(Tick { at, label, minor });
    }

    /// Where `value` lies: 0 at the low end, 1 at the high one; beyond them at the nearer.
    pub fn at(&self, value: f64) -> f64 {
        let at = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        if at.is_nan() { 0.0 } else { at.clamp(0.0, 1.0) }
    }

    /// The value at `at`.
    pub fn value(&self, at: f64) -> f64 {
        match self.scale {
            Scale::Linear => self.low + at * (self.high - self.low),
            Scale::Log => self.low * (self.high / self.low).powf(at),
        }
    }
}

/// The distance of ticks on a linear axis: 1, 2 or 5 of a power of ten.
fn step(end: u64) -> u64 {
    let steps = (0..19).flat_map(|power| [1, 2, 5].map(|factor| factor * 10u64.pow(power)));
    let mut fitting = steps.skip_while(|step| end / step > LINEAR_TICKS_MAX);
    fitting.next().unwrap_or(u64::MAX)
}

/// `1.00ms` as `1ms`, `1.50s` as `1.5s`: a tick is an exact figure.
fn short(time: &str) -> String {
    let unit = time.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(time.len());
    let (number, unit) = time.split_at(unit);
    match number.contains('.') {
        true => format!("{}{unit}", number.trim_end_matches('0').trim_end_matches('.')),
        false => time.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn latencies_have_a_tick_at_every_decade() {
        let axis = Axis::latency(300_000, 2_000_000_000, "latency");
        assert_eq!(labels(&axis), ["1ms", "10ms", "100ms", "1s"]);
        assert!(axis.ticks.is_sorted_by_key(|tick| (tick.at * 1e6) as u64));
        let narrow = Axis::latency(300_000, 900_000, "latency");
        assert_eq!(labels(&narrow), ["500us", "1ms"]);
    }

    #[test]
    fn every_value_has_a_place_whatever_it_is() {
        for (low, high) in [(0, 0), (1, 1), (0, u64::MAX), (u64::MAX, u64::MAX)] {
            let axis = Axis::latency(low, high, "latency");
            for ns in [0, 1, 1_000, u64::MAX] {
                assert!((0.0..=1.0).contains(&axis.at(ns as f64)), "{low} {high} {ns}");
            }
        }
        assert_eq!(Axis::latency(100, 100, "").at(0.0), 0.0);
        assert!(!labels(&Axis::time(0, "")).is_empty());
    }

    #[test]
    fn time_has_at_most_eleven_round_ticks() {
        let cases = [(8_400_000_000u64, "1s"), (1_000_000, "100us"), (3_600_000_000_000, "500s")];
        for (end, first) in cases {
            let axis = Axis::time(end, "time");
            assert!((5..=11).contains(&axis.ticks.len()), "{:?}", labels(&axis));
            assert_eq!(labels(&axis)[1], first);
        }
    }

    #[test]
    fn a_place_leads_back_to_its_value() {
        let axis = Axis::latency(1_000, 1_000_000_000, "latency");
        for at in [0.0, 0.3, 1.0] {
            assert!((axis.at(axis.value(at)) - at).abs() < 1e-9);
        }
    }
}
