//! The clock: raw ticks in the loop, nanoseconds afterwards.
//!
//! quanta reads the TSC; its own calibration is short and off by up to 18 ppm, so ticks are scaled by
//! pairs of (tick, CLOCK_MONOTONIC_RAW) taken around the run instead.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// Something that counts upwards at a constant rate. Reading it must cost tens of nanoseconds at most.
pub trait Clock: Clone + Send + Sync + 'static {
    /// The count now; only differences mean anything.
    fn ticks(&self) -> u64;

    /// Ticks per second as known before the run, off by some ten ppm, by a thousand if the calibration
    /// was disturbed: for deadlines, not for results.
    fn nominal_ticks_per_s(&self) -> f64;

    /// The name in the record.
    fn source(&self) -> &'static str;

    /// Nanoseconds of a difference of ticks, as exact as the nominal rate.
    fn nominal_ns(&self, ticks: u64) -> u64 {
        (ticks as f64 / self.nominal_ticks_per_s() * 1e9) as u64
    }

    /// Waits for part of `ticks`: sleeps while they are long enough for it, so that the caller comes
    /// back early rather than late, and then only spins for a moment.
    fn rest(&self, ticks: u64) {
        let ns = self.nominal_ns(ticks);
        if ns > SPIN_NS {
            std::thread::sleep(Duration::from_nanos((ns - SPIN_NS).min(REST_NS_MAX)));
        } else {
            std::hint::spin_loop();
        }
    }
}

/// A sleep of a virtual CPU ends up to this late, once the thread's timer slack is off.
const SPIN_NS: u64 = 60_000;
/// Between two looks at whatever may end the wait.
const REST_NS_MAX: u64 = 50_000_000;

/// The CPU's time stamp counter, read by quanta.
#[derive(Clone, Debug)]
pub struct TscClock {
    clock: quanta::Clock,
    nominal_ticks_per_s: f64,
}

impl TscClock {
    /// Calibrates (0.6 ms, up to 200 ms on a loaded core); nothing where quanta itself falls back to
    /// the operating system's clock, which it does not say but shows by a scale of exactly one.
    pub fn new() -> Option<TscClock> {
        let clock = quanta::Clock::new();
        let falls_back = clock.delta_as_nanos(0, 1 << 40) == 1 << 40;
        let ns = clock.delta_as_nanos(0, 1 << 40);
        let nominal_ticks_per_s = (1u64 << 40) as f64 / ns as f64 * 1e9;
        (!falls_back).then_some(TscClock { clock, nominal_ticks_per_s })
    }

    /// The same clock, its rate known better than quanta's calibration has it: two points some
    /// milliseconds apart are within some ten ppm, also where the calibration was disturbed.
    pub fn at_rate(self, ticks_per_s: f64) -> TscClock {
        TscClock { nominal_ticks_per_s: ticks_per_s, ..self }
    }
}

impl Clock for TscClock {
    #[inline(always)]
    fn ticks(&self) -> u64 {
        self.clock.raw()
    }

    fn nominal_ticks_per_s(&self) -> f64 {
        self.nominal_ticks_per_s
    }

    fn source(&self) -> &'static str {
        "tsc"
    }
}

/// CLOCK_MONOTONIC, for machines whose TSC cannot be trusted.
#[derive(Clone, Copy, Debug)]
pub struct OsClock;

impl Clock for OsClock {
    #[inline]
    fn ticks(&self) -> u64 {
        read_ns(ClockId::CLOCK_MONOTONIC)
    }

    fn nominal_ticks_per_s(&self) -> f64 {
        1e9
    }

    fn source(&self) -> &'static str {
        "clock_monotonic"
    }
}

#[cfg(target_os = "linux")]
const REFERENCE: ClockId = ClockId::CLOCK_MONOTONIC_RAW;
#[cfg(not(target_os = "linux"))]
const REFERENCE: ClockId = ClockId::CLOCK_MONOTONIC;

fn read_ns(clock: ClockId) -> u64 {
    // POSIX gives clock_gettime no way to fail for a clock that exists; both do on every system here.
    let time = clock_gettime(clock).expect("the monotonic clocks exist");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// One moment on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalePoint {
    /// Ticks of the measuring clock.
    pub ticks: u64,
    /// CLOCK_MONOTONIC_RAW.
    pub reference_ns: u64,
}

impl ScalePoint {
    /// Reads both clocks; of 64 tries the one with the least time between its two tick reads, so that
    /// a preemption in between does not become an error of the scale.
    pub fn take(clock: &impl Clock) -> ScalePoint {
        let attempt = || {
            let before = clock.ticks();
            let reference_ns = read_ns(REFERENCE);
            let width = clock.ticks().saturating_sub(before);
            (width, ScalePoint { ticks: before + width / 2, reference_ns })
        };
        let best = (0..64).map(|_| attempt()).min_by_key(|(width, _)| *width);
        best.map_or_else(|| attempt().1, |(_, point)| point)
    }
}

/// Converts ticks to nanoseconds: a 64.32 fixed-point factor from two points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    factor: u128,
    ticks_per_s: f64,
}

impl Scale {
    /// The scale between two points; nothing where no tick lies between them.
    pub fn between(start: ScalePoint, end: ScalePoint) -> Option<Scale> {
        let ticks = end.ticks.checked_sub(start.ticks).filter(|&t| t > 0)?;
        let ns = end.reference_ns.checked_sub(start.reference_ns).filter(|&n| n > 0)?;
        let factor = (u128::from(ns) << 32) / u128::from(ticks);
        Some(Scale { factor, ticks_per_s: ticks as f64 * 1e9 / ns as f64 })
    }

    /// A scale of so many ticks a second.
    pub fn nominal(ticks_per_s: f64) -> Scale {
        Scale { factor: (1e9 / ticks_per_s * (1u64 << 32) as f64) as u128, ticks_per_s }
    }

    /// Nanoseconds of a difference of ticks.
    #[inline]
    pub fn ns(&self, ticks: u64) -> u64 {
        ((u128::from(ticks) * self.factor) >> 32) as u64
    }

    /// Ticks per second.
    pub fn ticks_per_s(&self) -> f64 {
        self.ticks_per_s
    }
}

/// Nanoseconds that one read of `clock` costs, the least of several series of 1,000.
pub fn read_cost_ns(clock: &impl Clock) -> f64 {
    let series = || {
        let start = clock.ticks();
        for _ in 0..1_000 {
            std::hint::black_box(clock.ticks());
        }
        clock.ticks().saturating_sub(start)
    };
    let least = (0..5).map(|_| series()).min().unwrap_or(0);
    least as f64 / clock.nominal_ticks_per_s() * 1e9 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_exact_to_a_nanosecond_in_an_hour() {
        let hour_ns = 3_600_000_000_000;
        let start = ScalePoint { ticks: 1_000, reference_ns: 5 };
        let end = ScalePoint { ticks: 1_000 + 9_345_678_901_234, reference_ns: 5 + hour_ns };
        let scale = Scale::between(start, end).unwrap();
        assert!(
            scale.ns(9_345_678_901_234).abs_diff(hour_ns) < 2_500,
            "{}",
            scale.ns(9_345_678_901_234)
        );
        assert_eq!(Scale::between(end, start), None);
        assert_eq!(Scale::between(start, start), None);
    }

    #[test]
    fn a_scale_of_one_changes_nothing() {
        let scale = Scale::nominal(1e9);
        assert_eq!((scale.ns(0), scale.ns(123_456_789_012)), (0, 123_456_789_012));
    }

    #[test]
    fn both_clocks_run_forward_and_a_point_lies_between_its_neighbours() {
        let clock = OsClock;
        let before = clock.ticks();
        let point = ScalePoint::take(&clock);
        assert!(before <= point.ticks && point.ticks <= clock.ticks());
        if let Some(tsc) = TscClock::new() {
            let first = tsc.ticks();
            assert!(tsc.ticks() >= first);
            assert!(tsc.nominal_ticks_per_s() > 1e6);
        }
    }

    #[test]
    fn reading_costs_something() {
        assert!(read_cost_ns(&OsClock) > 0.0);
    }
}
