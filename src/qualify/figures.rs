//! What a record says, in the figures that limits are about.

use serde::{Deserialize, Serialize};
use synctail_bench::Distribution;

use super::spec::{Figure, Span};
use crate::record::{Band, Durability, Metric, Parts, Record, Status};

/// The figures of one round: of the worst worker for each, of the judged part of the pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// How the round ended.
    pub status: Status,
    /// Completed pairs.
    pub pairs: u64,
    /// Completed pairs a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs_per_s: Option<f64>,
    /// Median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// 90th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90_ns: Option<u64>,
    /// 95th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_ns: Option<u64>,
    /// 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// 99.9th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_9_ns: Option<u64>,
    /// 99.99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_99_ns: Option<u64>,
    /// The longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<u64>,
    /// Of the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// Of the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// Whether the policy was met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<bool>,
    /// Why the load was not what it should be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load_failures: Vec<String>,
}

impl Figures {
    /// Of a record.
    pub fn of(record: &Record) -> Figures {
        let worst = |figure: Figure| worst(record, figure);
        let verdict = record.verdict.as_ref();
        let loads = verdict.into_iter().flat_map(|verdict| &verdict.findings);
        let loads = loads.filter(|finding| finding.code == "load_failed");
        let counters = record.counters.as_ref();
        Figures {
            status: record.status,
            pairs: counters.map_or(0, |counters| counters.pairs),
            pairs_per_s: record.pairs_per_s,
            p50_ns: worst(Figure::P50),
            p90_ns: worst(Figure::P90),
            p95_ns: worst(Figure::P95),
            p99_ns: worst(Figure::P99),
            p99_9_ns: worst(Figure::P99_9),
            p99_99_ns: worst(Figure::P99_99),
            max_ns: worst(Figure::Max),
            band: verdict.map(|verdict| verdict.band),
            durability: verdict.map(|verdict| verdict.durability),
            pass: verdict.map(|verdict| verdict.pass),
            load_failures: loads.map(|finding| finding.text.clone()).collect(),
        }
    }

    /// One figure.
    pub fn get(&self, figure: Figure) -> Option<u64> {
        match figure {
            Figure::P50 => self.p50_ns,
            Figure::P90 => self.p90_ns,
            Figure::P95 => self.p95_ns,
            Figure::P99 => self.p99_ns,
            Figure::P99_9 => self.p99_9_ns,
            Figure::P99_99 => self.p99_99_ns,
            Figure::Max => self.max_ns,
        }
    }
}

fn metric(record: &Record) -> Metric {
    let judged = record.verdict.as_ref().map(|verdict| verdict.metric);
    judged.or(record.plan.as_ref().map(|plan| plan.metric)).unwrap_or(Metric::Barrier)
}

fn part(parts: &Parts, metric: Metric) -> &Distribution {
    match metric {
        Metric::Barrier => parts.barrier.as_ref().unwrap_or(&parts.total),
        Metric::Total => &parts.total,
    }
}

/// The largest of all workers; nothing where one of them has too few samples for it.
fn worst(record: &Record, figure: Figure) -> Option<u64> {
    let distributions = record.distributions.as_ref()?;
    let of = |parts: &Parts| {
        let part = part(parts, metric(record));
        match figure {
            Figure::P50 => part.p50_ns,
            Figure::P90 => part.p90_ns,
            Figure::P95 => part.p95_ns,
            Figure::P99 => part.p99_ns,
            Figure::P99_9 => part.p99_9_ns,
            Figure::P99_99 => part.p99_99_ns,
            Figure::Max => Some(part.max_ns),
        }
    };
    let all: Option<Vec<u64>> =
        distributions.workers.iter().map(|worker| of(&worker.parts)).collect();
    all?.into_iter().max().or_else(|| of(&distributions.pooled))
}

/// Pairs that took longer than `limit`, and those in flight that already had; nothing where the record has
/// no samples.
pub fn stalls(record: &Record, limit: Span) -> Option<u64> {
    let samples = record.samples.as_ref()?;
    let all = samples.workers.iter().flat_map(|worker| &worker.total_ns);
    let over = all.filter(|&&ns| ns > limit.0).count() as u64;
    let hanging = record.in_flight.iter().filter(|one| one.at_least_ns > limit.0).count() as u64;
    Some(over + hanging)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Samples, WorkerSamples};
    use crate::verdict::sample_record;

    #[test]
    fn figures_are_the_worst_workers_and_absent_where_one_cannot_carry_them() {
        let figures = Figures::of(&sample_record::barriers(&[vec![10; 1_000], vec![20; 1_000]]));
        assert_eq!(
            (figures.p50_ns, figures.p99_ns, figures.max_ns),
            (Some(20), Some(20), Some(20))
        );
        assert_eq!((figures.p99_9_ns, figures.p99_99_ns, figures.pairs), (Some(20), None, 2_000));
        let few = Figures::of(&sample_record::barriers(&[vec![10; 1_000], vec![20; 50]]));
        assert_eq!((few.p99_ns, few.p50_ns), (None, Some(20)));
        assert_eq!(Figures::of(&sample_record::empty()).max_ns, None);
    }

    #[test]
    fn a_pair_that_never_returned_is_a_stall_as_well() {
        let mut record = sample_record::barriers(&[vec![5, 50, 500]]);
        assert_eq!(stalls(&record, Span(40)), None);
        let worker = WorkerSamples { total_ns: vec![5, 50, 500], ..WorkerSamples::default() };
        record.samples = Some(Samples { workers: vec![worker] });
        assert_eq!(stalls(&record, Span(50)), Some(1));
        record.in_flight.push(sample_record::in_flight(0, 60));
        assert_eq!(stalls(&record, Span(50)), Some(2));
    }
}
