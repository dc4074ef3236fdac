//! The samples of a record as plots take them: one part of the pair, worker by worker.

use crate::record::{Metric, Record, WorkerSamples};

/// One worker's samples of one part.
#[derive(Clone, Copy, Debug)]
pub struct Lane<'a> {
    /// From 0.
    pub worker: u64,
    /// When each pair began, or was due to in an open loop, after the run's common start.
    pub at_ns: &'a [u64],
    /// What it took; as many as `at_ns`.
    pub ns: &'a [u64],
}

impl Lane<'_> {
    /// Moment and latency of each sample.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.at_ns.iter().copied().zip(self.ns.iter().copied())
    }
}

/// The lanes of the part that `metric` names; none where the record has no samples of it.
pub fn lanes(record: &Record, metric: Metric) -> Vec<Lane<'_>> {
    let workers = record.samples.as_ref().map_or(&[][..], |samples| &samples.workers);
    workers.iter().filter_map(|worker| lane(worker, metric)).collect()
}

fn lane(worker: &WorkerSamples, metric: Metric) -> Option<Lane<'_>> {
    let ns = match metric {
        Metric::Barrier => worker.barrier_ns.as_ref()?,
        Metric::Total => &worker.total_ns,
    };
    let at_ns = worker.intended_ns.as_ref().unwrap_or(&worker.start_ns);
    (!ns.is_empty() && ns.len() == at_ns.len()).then_some(Lane { worker: worker.worker, at_ns, ns })
}

/// All latencies, ascending.
pub fn sorted(lanes: &[Lane]) -> Vec<u64> {
    let mut all: Vec<u64> = lanes.iter().flat_map(|lane| lane.ns).copied().collect();
    all.sort_unstable();
    all
}

/// The end of the time that plots show: when the last pair was over.
pub fn end_ns(record: &Record, lanes: &[Lane]) -> u64 {
    let ends = lanes.iter().flat_map(Lane::iter).map(|(at, ns)| at.saturating_add(ns));
    ends.max().unwrap_or(0).max(record.wall_ns.unwrap_or(0)).max(1)
}
