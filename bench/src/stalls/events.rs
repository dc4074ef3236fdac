//! Which pairs are stalls, and which of them are the same one.

/// A time in which pairs took far longer than usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Start of the first pair in it.
    pub start_ns: u64,
    /// To the end of the last one.
    pub duration_ns: u64,
}

impl Stall {
    fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.duration_ns)
    }
}

/// A stall takes at least so many times the median.
const MEDIANS: u64 = 5;

/// And lies at least so many times the distance of median and third quartile above the median, so that a
/// wide body has no stalls: for a log-normal body this is beyond 1 in 1,000.
const UPPER_QUARTILES: u64 = 10;

/// What is usual in a run.
#[derive(Clone, Copy, Debug)]
pub struct Usual {
    /// From here on a pair is a stall.
    pub threshold_ns: u64,
    /// Stalls this close to each other are one.
    pub gap_ns: u64,
    /// How finely the start of a stall is known: it is the start of the pair that was in flight, and pairs
    /// begin this far apart.
    pub resolution_ns: u64,
    /// From the first start to the last end.
    pub span_ns: u64,
    p99_ns: u64,
}

impl Usual {
    /// Nothing for no pairs. The median and the third quartile do not move with the tail.
    pub fn of<I: Iterator<Item = (u64, u64)>>(pairs: &impl Fn() -> I) -> Option<Usual> {
        let (mut first, mut last) = (u64::MAX, 0);
        let mut all = Vec::new();
        for (start, ns) in pairs() {
            first = first.min(start);
            last = last.max(start.saturating_add(ns));
            all.push(ns);
        }
        let count = all.len();
        if count == 0 {
            return None;
        }
        let at = |numerator: usize| (count * numerator / 100).saturating_sub(1);
        let p99 = at(99);
        let p99_ns = *all.select_nth_unstable(p99).1;
        // Each among those that are not above the one before.
        let p75_ns = *all[..=p99].select_nth_unstable(at(75)).1;
        let p50_ns = *all[..=at(75)].select_nth_unstable(at(50)).1;
        let spread = UPPER_QUARTILES.saturating_mul(p75_ns.saturating_sub(p50_ns));
        let threshold = MEDIANS.saturating_mul(p50_ns).max(p50_ns.saturating_add(spread));
        let span_ns = last - first;
        Some(Usual {
            threshold_ns: threshold.max(1),
            gap_ns: 2 * p75_ns,
            resolution_ns: p50_ns.max(span_ns / count as u64),
            span_ns,
            p99_ns,
        })
    }

    /// Share of the samples above p99 that lie in `stalls`, which ascend and do not overlap.
    pub fn tail_share(
        &self,
        pairs: impl Iterator<Item = (u64, u64)>,
        stalls: &[Stall],
    ) -> Option<f64> {
        let (mut above, mut inside) = (0u64, 0u64);
        for (start, _) in pairs.filter(|&(_, ns)| ns > self.p99_ns) {
            let next = stalls.partition_point(|stall| stall.start_ns <= start);
            above += 1;
            inside += u64::from(next > 0 && start <= stalls[next - 1].end_ns());
        }
        (above > 0).then(|| inside as f64 / above as f64)
    }

    /// Share of the run that `stalls` took.
    pub fn time_share(&self, stalls: &[Stall]) -> f64 {
        let sum: u64 = stalls.iter().map(|stall| stall.duration_ns).sum();
        sum as f64 / self.span_ns.max(1) as f64
    }
}

/// Pairs that took at least `threshold_ns`, in the order of their starts.
pub fn longer_than(pairs: impl Iterator<Item = (u64, u64)>, threshold_ns: u64) -> Vec<Stall> {
    let slow = pairs.filter(|&(_, ns)| ns >= threshold_ns);
    let mut slow: Vec<Stall> =
        slow.map(|(start_ns, duration_ns)| Stall { start_ns, duration_ns }).collect();
    slow.sort_unstable_by_key(|one| one.start_ns);
    slow
}

/// Slow pairs of several workers at the same time, and of one worker right after one another, are one stall.
pub fn merged(slow: &[Stall], gap_ns: u64) -> Vec<Stall> {
    let mut all: Vec<Stall> = Vec::new();
    for one in slow {
        match all.last_mut() {
            Some(last) if one.start_ns <= last.end_ns().saturating_add(gap_ns) => {
                last.duration_ns = last.end_ns().max(one.end_ns()) - last.start_ns;
            }
            _ => all.push(*one),
        }
    }
    all
}
