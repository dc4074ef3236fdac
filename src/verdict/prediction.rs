//! What a JetStream server would do on this storage, predicted from flushes alone.
//!
//! The counts of flushes were read off nats-server 2.10 to 2.15 with strace, and for clusters off
//! servers on storage whose flush takes a known time.

use synctail_bench::{Barrier, Distribution};

use super::recommendation::{STEPS, stall_share};
use crate::human;
use crate::record::{
    CreateStreamPrediction, Durability, Finding, IntervalPrice, Prediction, PubAckPrediction,
    Record, Severity, Status,
};

/// How long clients wait for an answer to CreateStream unless told otherwise.
pub const DEADLINE_NS: u64 = 5_000_000_000;

/// What the server adds to every acknowledgement: 100 to 250 us measured.
const SERVER_NS: u64 = 200_000;

/// Three replicas stall on the clocks of three logs and stores: measured 14 % at 5 %.
const R3_STALLS: f64 = 3.0;

/// Replicas, servers, flushes in series per acknowledgement under `always`.
const PUB_ACKS: [(u64, &str, u64); 3] =
    [(1, "any", 1), (3, "2.15 and later", 2), (3, "up to 2.14", 3)];

/// Replicas, clustered, servers, sync mode, flushes in series per CreateStream.
const CREATE_STREAMS: [(u64, bool, &str, &str, u64); 6] = [
    (1, false, "any", "always", 4),
    (1, true, "2.15 and later", "always", 8),
    (1, true, "up to 2.14", "always", 6),
    (3, true, "2.15 and later", "always", 25),
    (3, true, "up to 2.14", "always", 21),
    (3, true, "any", "any", 13),
];

/// The prediction from the worst worker's pairs, and `figure_ns` as the length of a background flush.
///
/// Nothing where no flush was timed, or where an operation did not return: bounds predict nothing.
pub fn predict(record: &Record, figure_ns: u64, deadline_ns: u64) -> Option<Prediction> {
    let flushes =
        record.plan.as_ref().is_none_or(|plan| plan.arm.barrier != Barrier::None && !plan.null);
    if record.status == Status::TimedOut || !flushes {
        return None;
    }
    let pair = worst_worker(record)?;
    Some(Prediction {
        server_ns: SERVER_NS,
        pub_ack: PUB_ACKS
            .map(|(replicas, server, flushes)| pub_ack(pair, replicas, server, flushes))
            .into(),
        create_stream: CREATE_STREAMS
            .map(|(replicas, clustered, server, sync, flushes)| {
                let mean_ns = (pair.mean_ns * flushes as f64).round() as u64;
                CreateStreamPrediction {
                    replicas,
                    clustered,
                    server: server.to_owned(),
                    sync: sync.to_owned(),
                    flushes,
                    mean_ns,
                    exceeds_deadline: mean_ns > deadline_ns,
                }
            })
            .into(),
        deadline_ns,
        intervals: STEPS.map(|(ns, name)| price(ns, name, figure_ns)).into(),
    })
}

/// The pairs of the worker with the largest p99, or maximum where there are too few for one. A pair
/// counts from its actual start: its queue is the workload's, not the server's.
fn worst_worker(record: &Record) -> Option<&Distribution> {
    let all = record.distributions.as_ref()?;
    let own = all.workers.iter().map(|worker| &worker.parts);
    let parts = own.chain(all.workers.is_empty().then_some(&all.pooled));
    parts
        .map(|parts| parts.service.as_ref().unwrap_or(&parts.total))
        .max_by_key(|pair| pair.p99_ns.unwrap_or(pair.max_ns))
}

/// p99 of a chain: one link at its p99, the others at their median.
fn pub_ack(pair: &Distribution, replicas: u64, server: &str, flushes: u64) -> PubAckPrediction {
    let chain = |slowest: u64, median: u64| {
        slowest.saturating_add(median.saturating_mul(flushes - 1)).saturating_add(SERVER_NS)
    };
    PubAckPrediction {
        replicas,
        server: server.to_owned(),
        flushes,
        p50_ns: pair.p50_ns.map(|p50| chain(p50, p50)),
        p99_ns: pair.p99_ns.zip(pair.p50_ns).map(|(p99, p50)| chain(p99, p50)),
    }
}

fn price(interval_ns: u64, name: &str, flush_ns: u64) -> IntervalPrice {
    let stall_share = stall_share(interval_ns, flush_ns);
    IntervalPrice {
        sync_interval: name.to_owned(),
        at_risk_ns: interval_ns,
        stall_share,
        stall_share_r3: (R3_STALLS * stall_share).min(1.0),
    }
}

/// CreateStream would take longer than its client waits. It begins inside MARGINAL with three replicas.
pub fn create_stream_deadline(
    prediction: Option<&Prediction>,
    durability: Durability,
) -> Option<Finding> {
    let prediction = prediction.filter(|_| durability != Durability::NotDurable)?;
    let late: Vec<&CreateStreamPrediction> =
        prediction.create_stream.iter().filter(|create| create.exceeds_deadline).collect();
    let first = late.first()?;
    let interval = late.iter().any(|create| create.sync == "any");
    let text = format!(
        "CreateStream with {} replica{} would take {}, longer than the {} that its client waits{}",
        first.replicas,
        if first.replicas == 1 { "" } else { "s" },
        human::time(first.mean_ns),
        human::time(prediction.deadline_ns),
        if interval { "; with 3 replicas a sync interval does not help" } else { "" }
    );
    let evidence: Vec<String> = late
        .iter()
        .map(|create| {
            let CreateStreamPrediction { replicas, server, sync, flushes, mean_ns, .. } = create;
            format!(
                "R{replicas}, nats-server {server}, sync {sync}: {flushes} flushes, {mean_ns} ns"
            )
        })
        .collect();
    Some(Finding {
        code: "create_stream_deadline".to_owned(),
        severity: Severity::Warning,
        text,
        evidence: evidence.join("; "),
    })
}

#[cfg(test)]
mod tests;
