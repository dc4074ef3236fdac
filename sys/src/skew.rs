//! Offset of the tick counter between two CPUs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::{Clock, pin};

const ROUNDS: u64 = 400;
/// A partner that is not scheduled must not hold up the run.
const PATIENCE: Duration = Duration::from_millis(20);

/// The three words of the exchange.
#[derive(Default)]
struct Exchange {
    asked: AtomicU64,
    answered: AtomicU64,
    theirs: AtomicU64,
}

/// How far, in ticks, the counter of `cpu_b` is from that of `cpu_a`: the middle of the interval that
/// all round trips agree on. Nothing where the two threads could not be run side by side in time.
///
/// A round trip reads a0 on A, then b on B, then a1 on A, so b - a1 <= offset <= b - a0; intersecting
/// the intervals of many rounds leaves the shortest trip's width or less. An interval that contains 0
/// shows no offset, and 0 is returned.
pub fn measure_skew_ticks(clock: &impl Clock, cpu_a: u64, cpu_b: u64) -> Option<u64> {
    let exchange = Exchange::default();
    std::thread::scope(|scope| {
        let answers = scope.spawn(|| answer(clock, cpu_b, &exchange));
        let bounds = scope.spawn(|| ask(clock, cpu_a, &exchange));
        let answered = answers.join().ok().flatten();
        let (low, high) = bounds.join().ok().flatten()?;
        answered.map(|()| distance_from_zero(low, high))
    })
}

fn distance_from_zero(low: i64, high: i64) -> u64 {
    if low <= 0 && high >= 0 { 0 } else { (low / 2 + high / 2).unsigned_abs() }
}

fn wait_for(word: &AtomicU64, value: u64, deadline: Instant) -> Option<()> {
    while word.load(Ordering::Acquire) < value {
        if Instant::now() > deadline {
            return None;
        }
        std::hint::spin_loop();
    }
    Some(())
}

fn answer(clock: &impl Clock, cpu: u64, exchange: &Exchange) -> Option<()> {
    pin(cpu).ok()?;
    let deadline = Instant::now() + PATIENCE;
    for round in 1..=ROUNDS {
        wait_for(&exchange.asked, round, deadline)?;
        exchange.theirs.store(clock.ticks(), Ordering::Relaxed);
        exchange.answered.store(round, Ordering::Release);
    }
    Some(())
}

fn ask(clock: &impl Clock, cpu: u64, exchange: &Exchange) -> Option<(i64, i64)> {
    pin(cpu).ok()?;
    let deadline = Instant::now() + PATIENCE;
    let (mut low, mut high) = (i64::MIN, i64::MAX);
    for round in 1..=ROUNDS {
        let before = clock.ticks();
        exchange.asked.store(round, Ordering::Release);
        wait_for(&exchange.answered, round, deadline)?;
        let after = clock.ticks();
        let theirs = exchange.theirs.load(Ordering::Relaxed);
        low = low.max(theirs.wrapping_sub(after) as i64);
        high = high.min(theirs.wrapping_sub(before) as i64);
    }
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OsClock, allowed_cpus};

    /// A clock that is `ahead` by so much on every CPU but the first allowed one.
    #[derive(Clone)]
    struct Skewed {
        first: u64,
        ahead: u64,
    }

    impl Clock for Skewed {
        fn ticks(&self) -> u64 {
            let elsewhere = crate::current_cpu() != Some(self.first);
            OsClock.ticks() + if elsewhere { self.ahead } else { 0 }
        }

        fn nominal_ticks_per_s(&self) -> f64 {
            1e9
        }

        fn source(&self) -> &'static str {
            "skewed"
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_offset_between_two_cpus_is_found_and_none_is_invented() {
        let [a, b, ..] = allowed_cpus()[..] else {
            eprintln!("skipped: skew: this machine allows one CPU only");
            assert!(!std::env::var("SYNCTAIL_REQUIRE").is_ok_and(|r| r.contains("cpus")));
            return;
        };
        let measure = |ahead| {
            let clock = Skewed { first: a, ahead };
            // A busy machine may not run both threads at once: that is an answer too, not a failure.
            (0..50).find_map(|_| measure_skew_ticks(&clock, a, b)).expect("two CPUs within 2 s")
        };
        assert_eq!(measure(0), 0);
        let found = measure(50_000_000);
        assert!(found.abs_diff(50_000_000) < 5_000_000, "{found}");
    }

    #[test]
    fn an_interval_around_zero_shows_no_offset() {
        assert_eq!(distance_from_zero(-5, 3), 0);
        assert_eq!(distance_from_zero(100, 300), 200);
        assert_eq!(distance_from_zero(-300, -100), 200);
        assert_eq!(distance_from_zero(i64::MIN, i64::MAX), 0);
    }
}
