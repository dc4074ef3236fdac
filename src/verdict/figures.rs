//! The figure that is held against the band edges: each worker's p99 or maximum, and the worst of them.
//!
//! A record has no samples, only ranks. Operations that had not returned take part with their lower
//! bounds, and whatever is said of them is a lower bound too: they can raise a figure, never lower it.

use std::collections::BTreeMap;

use synctail_bench::{Distribution, Percentile};

use super::imported;
use crate::record::{Figures, JudgedOn, Metric, Parts, Record, Status};

/// Fewest samples that a worker is judged on by p99: below, not one sample stands beyond it.
pub const SAMPLES_FOR_P99: u64 = Percentile::P99.samples_needed();

/// One worker's judged figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The figure.
    pub ns: u64,
    /// Which one it is.
    pub on: JudgedOn,
    /// 95 % interval of p99; only where it was judged on p99 and no operation in flight raised it.
    pub interval_ns: Option<[u64; 2]>,
    /// Only the upper bound of p99 is known.
    pub is_bound: bool,
}

/// Everyone who measured something or was still measuring.
pub struct Participants<'a> {
    workers: BTreeMap<u64, Participant<'a>>,
    timed_out: bool,
    pooled_only: bool,
}

/// What is known of one worker.
#[derive(Default)]
struct Participant<'a> {
    /// Absent if it completed no pair.
    parts: Option<&'a Parts>,
    /// Instead of parts: what another tool said of it.
    imported: Option<&'a Figures>,
    /// Lower bounds of its operations in flight, ascending.
    in_flight_ns: Vec<u64>,
}

impl<'a> Participants<'a> {
    /// Collects them from `record`. Where only pooled distributions are known (an import), these
    /// stand for one worker, with everything in flight.
    pub fn of(record: &'a Record) -> Participants<'a> {
        let mut workers: BTreeMap<u64, Participant> = BTreeMap::new();
        let mut pooled_only = false;
        if let Some(distributions) = &record.distributions {
            pooled_only = distributions.workers.is_empty();
            for worker in &distributions.workers {
                workers.entry(worker.worker).or_default().parts = Some(&worker.parts);
            }
            if pooled_only {
                workers.entry(0).or_default().parts = Some(&distributions.pooled);
            }
        }
        if let Some(source) = record.source.as_ref().filter(|source| !source.parts.is_empty()) {
            pooled_only = source.parts.len() == 1;
            workers.clear();
            for (number, part) in (0..).zip(&source.parts) {
                workers.entry(number).or_default().imported = Some(&part.flush);
            }
        }
        for operation in &record.in_flight {
            let worker = if pooled_only { 0 } else { operation.worker };
            workers.entry(worker).or_default().in_flight_ns.push(operation.at_least_ns);
        }
        for participant in workers.values_mut() {
            participant.in_flight_ns.sort_unstable();
        }
        Participants { workers, timed_out: record.status == Status::TimedOut, pooled_only }
    }

    /// Whether no worker's own distributions are known.
    pub fn pooled_only(&self) -> bool {
        self.pooled_only
    }

    /// The largest figure of `metric` over all workers, the first of equals; nothing where nobody
    /// has one.
    pub fn worst(&self, metric: Metric) -> Option<Figure> {
        let figures = self.workers.values().filter_map(|p| p.figure(metric, self.timed_out));
        figures.reduce(|worst, figure| if figure.ns > worst.ns { figure } else { worst })
    }

    /// Number and completed pairs of every worker that has fewer than a p99 needs.
    pub fn with_too_few(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.workers.iter().map(|(&worker, p)| (worker, p.count()));
        counts.filter(|&(_, count)| count < SAMPLES_FOR_P99)
    }
}

impl Participant<'_> {
    fn count(&self) -> u64 {
        // A file that does not say how many is not called too short.
        let imported = self.imported.map(|figures| figures.count.unwrap_or(SAMPLES_FOR_P99));
        imported.unwrap_or_else(|| self.parts.map_or(0, |parts| parts.total.count))
    }

    /// p99 with enough samples, else the maximum; always the maximum once an operation timed out,
    /// since one that never returned may not hide among the hundredth that p99 leaves out.
    fn figure(&self, metric: Metric, timed_out: bool) -> Option<Figure> {
        if let Some(figures) = self.imported {
            return imported::judged(figures).map(|(ns, is_p99)| Figure {
                ns,
                on: if is_p99 { JudgedOn::P99 } else { JudgedOn::Max },
                interval_ns: None,
                is_bound: figures.p99_within_ns.is_some(),
            });
        }
        let distribution = self.parts.and_then(|parts| match metric {
            Metric::Barrier => parts.barrier.as_ref(),
            Metric::Total => Some(&parts.total),
        });
        if let Some(d) = distribution.filter(|d| d.count >= SAMPLES_FOR_P99 && !timed_out)
            && let Some(p99) = d.p99_ns
        {
            let ns = raised_p99(d.count, p99, &self.in_flight_ns);
            let interval_ns = if ns == p99 { d.p99_interval_ns } else { None };
            return Some(Figure { ns, on: JudgedOn::P99, interval_ns, is_bound: false });
        }
        let measured = distribution.map(|d: &Distribution| d.max_ns);
        let ns = measured.max(self.in_flight_ns.last().copied())?;
        Some(Figure { ns, on: JudgedOn::Max, interval_ns: None, is_bound: false })
    }
}

/// p99 of `count` samples once the operations in flight are ranked with them.
///
/// Those above p99 are put at the top of the sorted list; the others could only lower it and are left
/// out. If the index of p99 then falls among them, that bound is the figure: at most the true one, as
/// ranks only rise when a member rises. Otherwise the sample at the new index is not recorded, and
/// the old p99, which is not above it, stays.
fn raised_p99(count: u64, p99: u64, in_flight_ns: &[u64]) -> u64 {
    let above = &in_flight_ns[in_flight_ns.partition_point(|&ns| ns <= p99)..];
    let index = Percentile::P99.index(count.saturating_add(above.len() as u64));
    let among = index.checked_sub(count).and_then(|i| above.get(i as usize));
    among.copied().unwrap_or(p99)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_operation_in_flight_does_not_move_p99_of_100_but_three_do() {
        // 101 and 102 samples: index 98 and 99, both among the completed. 103: index 100.
        assert_eq!(raised_p99(100, 5, &[900]), 5);
        assert_eq!(raised_p99(100, 5, &[900, 901]), 5);
        assert_eq!(raised_p99(100, 5, &[900, 901, 902]), 900);
    }

    #[test]
    fn operations_in_flight_up_to_p99_change_nothing() {
        let mut equal = vec![5; 98];
        equal.extend([900, 901, 902]);
        assert_eq!(raised_p99(100, 5, &equal), 900);
        assert_eq!(raised_p99(100, 5, &[1, 2, 3, 4, 5, 5, 5]), 5);
        assert_eq!(raised_p99(100, 5, &[1, 2, 3, 4, 5, 900, 901, 902]), 900);
        assert_eq!(raised_p99(500, 5, &[]), 5);
    }

    #[test]
    fn the_rank_among_many_in_flight_is_exact() {
        // 200 samples: index 197, the 98th of those in flight.
        let bounds: Vec<u64> = (1_000..1_100).collect();
        assert_eq!(raised_p99(100, 5, &bounds), 1_097);
        // The oracle: merge, sort, rank.
        let mut all = vec![5; 100];
        all.extend(&bounds);
        assert_eq!(Percentile::P99.of(&all), Some(1_097));
    }
}
