//! Which `sync_interval` to configure for JetStream, and what it costs.
//!
//! The server's background flush holds the lock of the message block while it runs, so an interval
//! does not remove the tail, it spaces it: with flushes of length f every interval i, a share of
//! f/(i+f) of the acknowledgements still waits. Checked against nats-server 2.10 to 2.15 with an open
//! loop of 200 messages/s: 230 ms every 500 ms stalled 30.3 % (31.5 % by the formula), every 2 s 9.9 %
//! (10.3 %).

use crate::human;
use crate::record::{Band, Durability, JudgedOn, Recommendation};

const MS: u64 = 1_000_000;

/// The server's default, and the last step: an interval above it recommends nothing.
const LONGEST: &str = "2m";

/// The intervals to choose from, in the form the server's configuration takes.
pub const STEPS: [(u64, &str); 11] = [
    (100 * MS, "100ms"),
    (200 * MS, "200ms"),
    (500 * MS, "500ms"),
    (1_000 * MS, "1s"),
    (2_000 * MS, "2s"),
    (5_000 * MS, "5s"),
    (10_000 * MS, "10s"),
    (20_000 * MS, "20s"),
    (30_000 * MS, "30s"),
    (60_000 * MS, "1m"),
    (120_000 * MS, LONGEST),
];

/// What a recommendation follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// The judged figure, taken as the length of a flush.
    pub figure_ns: u64,
    /// Which figure it is.
    pub on: JudgedOn,
    /// Its band.
    pub band: Band,
    /// Whether the flush reached stable storage.
    pub durability: Durability,
    /// Whether an operation did not return: the figure is then only a lower bound.
    pub timed_out: bool,
}

/// The recommendation: `always` for IDEAL and GOOD, else twice the figure rounded up to a step, else
/// no number but the advice to fix the storage.
pub fn recommend(situation: &Situation) -> Recommendation {
    if let Some(why) = nothing_helps(situation) {
        return advice(why.to_owned());
    }
    if situation.band <= Band::Good {
        return always(situation);
    }
    match step_at_least(situation.figure_ns.saturating_mul(2)) {
        Some(step) => spaced(situation, step),
        None => advice(format!(
            "twice {} is above {LONGEST}, the server's default; fix the storage",
            situation.figure()
        )),
    }
}

/// One flush per acknowledgement: no interval, and so no stall.
fn always(situation: &Situation) -> Recommendation {
    let reason = format!(
        "{} is short enough to flush before every ack, and then a crash loses nothing \
         acknowledged{}",
        situation.figure(),
        situation.doubt()
    );
    Recommendation { sync_interval: Some("always".to_owned()), ..advice(reason) }
}

/// A flush every `step`, with its price.
fn spaced(situation: &Situation, (interval_ns, interval): (u64, &str)) -> Recommendation {
    let clean = clean_step(situation.figure_ns);
    let first = if situation.band == Band::Broken { "fix the storage; until then " } else { "" };
    let mut reason = format!(
        "{first}twice {}, rounded up; a crash may lose the last {interval} of acknowledged \
         messages on each node that loses power",
        situation.figure()
    );
    if clean.is_none() {
        reason.push_str(&format!("; no step up to {LONGEST} keeps the acks that wait under 1 %"));
    }
    reason.push_str(situation.doubt());
    Recommendation {
        sync_interval: Some(interval.to_owned()),
        stall_share: Some(stall_share(interval_ns, situation.figure_ns)),
        clean_interval: clean.map(str::to_owned),
        reason,
    }
}

impl Situation {
    /// `p99 of 230ms`.
    fn figure(&self) -> String {
        let label = match self.on {
            JudgedOn::P99 => "p99",
            JudgedOn::Max => "the maximum",
        };
        format!("{label} of {}", human::time(self.figure_ns))
    }

    /// What has to be said with every number as long as nothing shows that flushes are real.
    fn doubt(&self) -> &'static str {
        match self.durability {
            Durability::Unproved => "; that flushes reach the device is not proved",
            Durability::Proved | Durability::NotDurable => "",
        }
    }
}

/// The server's configuration, if there is something to configure.
pub fn config_line(recommendation: &Recommendation) -> Option<String> {
    let interval = recommendation.sync_interval.as_ref()?;
    Some(format!("jetstream {{ sync_interval: \"{interval}\" }}"))
}

/// Why no interval makes up for the storage.
fn nothing_helps(situation: &Situation) -> Option<&'static str> {
    if situation.durability == Durability::NotDurable {
        return Some("no interval makes this storage durable; fix the storage");
    }
    if situation.timed_out {
        return Some("an operation did not return, so no interval is long enough; fix the storage");
    }
    None
}

/// No number, only a reason.
fn advice(reason: String) -> Recommendation {
    Recommendation { sync_interval: None, stall_share: None, clean_interval: None, reason }
}

/// The smallest step that is not below `ns`; an exact step stays.
fn step_at_least(ns: u64) -> Option<(u64, &'static str)> {
    STEPS.into_iter().find(|&(step, _)| step >= ns)
}

/// f/(interval+f), 0 to 1.
pub fn stall_share(interval_ns: u64, flush_ns: u64) -> f64 {
    flush_ns as f64 / (interval_ns as f64 + flush_ns as f64)
}

/// The smallest step whose stall share is below 1 %: f/(i+f) < 1/100, that is 99 f < i.
fn clean_step(flush_ns: u64) -> Option<&'static str> {
    let least = u128::from(flush_ns) * 99;
    STEPS.into_iter().find(|&(step, _)| u128::from(step) > least).map(|(_, name)| name)
}

#[cfg(test)]
mod tests;
