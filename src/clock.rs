//! Which clock times a run, and what the record says of it.

use std::collections::BTreeSet;
use std::path::Path;

use synctail_bench::Plan;
use synctail_sys::{Clock, OsClock, Scale, ScalePoint, TscClock, measure_skew_ticks, read_cost_ns};

use crate::record::ClockReport;

/// Either clock; the engine is compiled for each.
#[derive(Clone, Debug)]
pub enum AnyClock {
    /// The time stamp counter.
    Tsc(TscClock),
    /// CLOCK_MONOTONIC.
    Os(OsClock),
}

impl AnyClock {
    /// The TSC where this CPU has a usable one.
    pub fn best() -> AnyClock {
        TscClock::new().map_or(AnyClock::Os(OsClock), AnyClock::Tsc)
    }

    /// The clock of this name in the record.
    pub fn named(&self, source: &str) -> AnyClock {
        if source == self.source() { self.clone() } else { AnyClock::Os(OsClock) }
    }

    /// The count now.
    pub fn ticks(&self) -> u64 {
        match self {
            AnyClock::Tsc(clock) => clock.ticks(),
            AnyClock::Os(clock) => clock.ticks(),
        }
    }

    /// The name in the record.
    pub fn source(&self) -> &'static str {
        match self {
            AnyClock::Tsc(clock) => clock.source(),
            AnyClock::Os(clock) => clock.source(),
        }
    }

    fn nominal_ticks_per_s(&self) -> f64 {
        match self {
            AnyClock::Tsc(clock) => clock.nominal_ticks_per_s(),
            AnyClock::Os(clock) => clock.nominal_ticks_per_s(),
        }
    }

    fn point(&self) -> ScalePoint {
        match self {
            AnyClock::Tsc(clock) => ScalePoint::take(clock),
            AnyClock::Os(clock) => ScalePoint::take(clock),
        }
    }

    fn read_cost_ns(&self) -> f64 {
        match self {
            AnyClock::Tsc(clock) => read_cost_ns(clock),
            AnyClock::Os(clock) => read_cost_ns(clock),
        }
    }
}

/// A clock whose scale is being measured.
#[derive(Clone, Debug)]
pub struct TimedClock {
    /// The clock.
    pub clock: AnyClock,
    start: ScalePoint,
}

impl TimedClock {
    /// Takes the first point now.
    pub fn start(clock: AnyClock) -> TimedClock {
        let start = clock.point();
        TimedClock { clock, start }
    }

    /// The scale from the start to now; the nominal one where no time has passed.
    pub fn scale(&self) -> Scale {
        let nominal = || Scale::nominal(self.clock.nominal_ticks_per_s());
        Scale::between(self.start, self.clock.point()).unwrap_or_else(nominal)
    }

    /// What the record says.
    pub fn report(
        &self,
        scale: &Scale,
        skew_ns: Option<u64>,
        kernel: Option<String>,
    ) -> ClockReport {
        let nominal = self.clock.nominal_ticks_per_s();
        ClockReport {
            source: self.clock.source().to_owned(),
            read_ns: self.clock.read_cost_ns(),
            ticks_per_s: scale.ticks_per_s(),
            drift_ppm: (nominal / scale.ticks_per_s() - 1.0) * 1e6,
            skew_ns,
            floor_ns: None,
            kernel_clocksource: kernel,
        }
    }
}

/// The largest offset between the first CPU in use and each other; 0 for a single CPU, nothing where
/// it could not be measured.
pub fn skew_ns(clock: &TscClock, plan: &Plan, allowed: &[u64]) -> Option<u64> {
    /// On a machine with more CPUs in use the first ones have to stand for all.
    const CPUS_MAX: usize = 64;
    let mut cpus: BTreeSet<u64> = plan.cpus.iter().copied().flatten().collect();
    if plan.cpus.contains(&None) {
        cpus.extend(allowed);
    }
    let cpus: Vec<u64> = cpus.into_iter().take(CPUS_MAX).collect();
    let (&first, others) = cpus.split_first()?;
    let measured = others.iter().filter_map(|&cpu| measure_skew_ticks(clock, first, cpu));
    let ticks: Vec<u64> = measured.collect();
    if ticks.len() < others.len() && ticks.is_empty() {
        return None;
    }
    let scale = Scale::nominal(clock.nominal_ticks_per_s());
    Some(scale.ns(ticks.into_iter().max().unwrap_or(0)))
}

/// Whether the kernel offers the TSC as a clock source: one that it found unstable is withdrawn.
/// Where the list cannot be read, or on machines without one, quanta's own check has to do.
pub fn tsc_is_stable(root: &Path) -> bool {
    let list = root.join("sys/devices/system/clocksource/clocksource0/available_clocksource");
    let Ok(available) = std::fs::read_to_string(list) else { return true };
    !cfg!(target_arch = "x86_64") || available.split_whitespace().any(|source| source == "tsc")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_withdrawn_tsc_is_not_used() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("sys/devices/system/clocksource/clocksource0");
        std::fs::create_dir_all(&dir).unwrap();
        assert!(tsc_is_stable(root.path()));
        for (available, stable) in
            [("kvm-clock tsc acpi_pm \n", true), ("hpet acpi_pm\n", !cfg!(target_arch = "x86_64"))]
        {
            std::fs::write(dir.join("available_clocksource"), available).unwrap();
            assert_eq!(tsc_is_stable(root.path()), stable);
        }
    }

    #[test]
    fn the_scale_of_the_os_clock_is_one_to_a_thousandth() {
        let timed = TimedClock::start(AnyClock::Os(OsClock));
        while timed.clock.ticks() - timed.start.ticks < 2_000_000 {}
        assert!((timed.scale().ticks_per_s() / 1e9 - 1.0).abs() < 1e-3);
    }
}
