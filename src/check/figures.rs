//! Figures of what was completed: exact distributions, counts, rates, and the samples themselves.

use synctail_bench::{Distribution, Opened, P99Interval, PairPart};
use synctail_sys::Scale;

use super::assemble::cpus;
use super::session::Session;
use crate::record::{
    Counters, Distributions, Parts, Record, Samples, WorkerDistributions, WorkerSamples,
};

/// Distributions, counts and rates of what was completed.
pub fn measured(record: &mut Record, session: &Session, scale: &Scale) {
    let board = session.board;
    let spans = spans(session);
    let start = board.start_tick().unwrap_or(0);
    let wall = spans.iter().flatten().map(|&(_, end)| scale.ns(end.saturating_sub(start))).max();
    let pairs = session.measured.pairs();
    record.wall_ns = wall;
    record.pairs_per_s = wall.filter(|&ns| ns > 0).map(|ns| pairs as f64 * 1e9 / ns as f64);
    record.distributions = distributions(session, scale, &spans);
    let workers = session.report.as_ref().map_or(&[][..], |report| &report.workers);
    let sum = |of: fn(&synctail_bench::WorkerReport) -> u64| workers.iter().map(of).sum();
    record.counters = Some(Counters {
        pairs,
        not_started: board.schedule().map(|_| not_started(session)),
        warmup_pairs: (0..board.size().workers).map(|w| board.control(w).warmed()).sum(),
        bytes_written: pairs.saturating_mul(session.request.pair_bytes()),
        segments: sum(|worker| worker.segments),
        enters: session.request.arm.uses_ring().then(|| sum(|worker| worker.enters)),
        overlap_share: overlap(&spans),
        sample_memory_waits: (0..board.size().workers)
            .map(|w| board.control(w).memory_waits())
            .sum(),
    });
}

/// Pairs that were due and had not begun when their worker ended.
fn not_started(session: &Session) -> u64 {
    let of = |worker| {
        let opened = session.measured.opened(worker);
        opened.map_or(0, |opened| opened.not_started(planned(session, worker)).count())
    };
    (0..session.board.size().workers).map(of).sum::<usize>() as u64
}

/// Pairs that `worker` was to do.
fn planned(session: &Session, worker: u64) -> u64 {
    let plan = session.resolved.as_ref().map(|resolved| &resolved.plan);
    plan.and_then(|plan| plan.pairs_of(worker)).unwrap_or(u64::MAX)
}

/// First start and last end of each worker that completed a pair.
fn spans(session: &Session) -> Vec<Option<(u64, u64)>> {
    let measured = &session.measured;
    let span = |worker| {
        let start = measured.samples(worker).map(|s| s.start).min()?;
        Some((start, measured.samples(worker).map(|s| s.end).max()?))
    };
    (0..session.board.size().workers).map(span).collect()
}

/// Share of the time from the first start to the last end during which every worker ran.
fn overlap(spans: &[Option<(u64, u64)>]) -> Option<f64> {
    let spans: Vec<(u64, u64)> = spans.iter().copied().collect::<Option<_>>()?;
    let (first, last_start) = (spans.iter().map(|s| s.0).min()?, spans.iter().map(|s| s.0).max()?);
    let (first_end, last) = (spans.iter().map(|s| s.1).min()?, spans.iter().map(|s| s.1).max()?);
    let all = last.saturating_sub(first);
    (all > 0).then(|| first_end.saturating_sub(last_start) as f64 / all as f64)
}

fn distributions(
    session: &Session,
    scale: &Scale,
    spans: &[Option<(u64, u64)>],
) -> Option<Distributions> {
    let board = session.board;
    let start = board.start_tick().unwrap_or(0);
    let active: Vec<u64> =
        (0..board.size().workers).filter(|&w| spans[w as usize].is_some()).collect();
    let of = |part| ranked(session, scale, part, &active);
    let (total_each, total) = of(PairPart::Total)?;
    let [write, barrier, service, late] =
        [PairPart::Write, PairPart::Barrier, PairPart::Service, PairPart::Late].map(of);
    let each = |part: &Option<Ranked>, i: usize| part.as_ref().map(|p| p.0[i].clone());
    let cpus = cpus(session);
    let workers = active.iter().enumerate().map(|(i, &worker)| {
        let (first, last) = spans[worker as usize].unwrap_or((start, start));
        WorkerDistributions {
            worker,
            cpu: cpus.get(worker as usize).copied().flatten(),
            started_ns: scale.ns(first.saturating_sub(start)),
            ended_ns: scale.ns(last.saturating_sub(start)),
            parts: Parts {
                write: each(&write, i),
                barrier: each(&barrier, i),
                total: total_each[i].clone(),
                service: each(&service, i),
                late: each(&late, i),
            },
        }
    });
    let workers = workers.collect();
    let [write, barrier, service, late] =
        [write, barrier, service, late].map(|part| part.map(|(_, pooled)| pooled));
    Some(Distributions { workers, pooled: Parts { write, barrier, total, service, late } })
}

/// Each worker's distribution, and that of all of them.
type Ranked = (Vec<Distribution>, Distribution);

/// One part's distribution per worker and pooled; one part at a time bounds the memory.
fn ranked(session: &Session, scale: &Scale, part: PairPart, active: &[u64]) -> Option<Ranked> {
    let mut timed = Vec::new();
    let mut each = Vec::new();
    for &worker in active {
        let (arm, planned) = (session.request.arm, planned(session, worker));
        let samples = session.measured.part_ns(worker, part, arm, scale, planned)?;
        let starts = session.measured.samples(worker).map(|sample| sample.start);
        // Pairs that had not begun come last.
        timed.extend(starts.chain(std::iter::repeat(u64::MAX)).zip(samples.iter().copied()));
        each.push(with_interval(samples)?);
    }
    // What is slow at the same time in several workers is neighbours only in the order of time.
    timed.sort_by_key(|&(start, _)| start);
    let pooled = with_interval(timed.into_iter().map(|(_, ns)| ns).collect())?;
    Some((each, pooled))
}

/// Ranks `series`, which is in the order of time.
fn with_interval(series: Vec<u64>) -> Option<Distribution> {
    let mut sorted = series.clone();
    sorted.sort_unstable();
    let p99_interval_ns = P99Interval::of(&series, &sorted).and_then(|p99| p99.interval_ns);
    Some(Distribution { p99_interval_ns, ..Distribution::of_sorted(&sorted)? })
}

/// Every pair in columns.
pub fn samples(session: &Session, scale: &Scale) -> Option<Samples> {
    let board = session.board;
    let start = board.start_tick()?;
    let measured = &session.measured;
    let arm = session.request.arm;
    let after_start = |tick: u64| scale.ns(tick.saturating_sub(start));
    let of = |worker| {
        let column = |part| measured.part_ns(worker, part, arm, scale, 0);
        let starts: Vec<u64> = measured.samples(worker).map(|sample| sample.start).collect();
        let intended = |opened: Opened| {
            starts.iter().map(|&start| after_start(opened.intended_tick(start))).collect()
        };
        WorkerSamples {
            worker,
            intended_ns: measured.opened(worker).map(intended),
            start_ns: starts.iter().map(|&start| after_start(start)).collect(),
            write_ns: column(PairPart::Write),
            barrier_ns: column(PairPart::Barrier),
            total_ns: column(PairPart::Total).unwrap_or_default(),
        }
    };
    Some(Samples { workers: (0..board.size().workers).map(of).collect() })
}
