//! How long it will take and how much it will write, as far as that is known before.

use super::spec::{Spec, Step};
use super::state::State;
use crate::policy::Policy;
use crate::resolve::{Request, Room};
use synctail_bench::Length;

/// Start, probe and end of a round.
const ROUND_NS: u64 = 1_000_000_000;
/// A load's ramp.
const LOAD_NS: u64 = 1_000_000_000;
/// What a pair is taken to last where a round is bounded by a number of them.
const PAIR_NS: u64 = 2_000_000;
/// No worker has written faster: what a round by time writes at most.
const PAIRS_PER_S_MAX: u64 = 10_000;

/// Time and bytes of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Of the whole command.
    pub time_ns: u64,
    /// By the measured workers; a bound where only time ends the round.
    pub written_bytes: u64,
    /// Most that the measured files hold at once.
    pub on_disk_bytes: u64,
}

/// Of one round of `step` without a load.
pub fn round(step: &Step) -> Estimate {
    let Ok(args) = step.plan.parsed() else { return Estimate::default() };
    let policy = args.judge.policy.to_str().and_then(Policy::named).unwrap_or_default();
    let Ok(request) = Request::new(&args.work, &args.device, &policy) else {
        return Estimate::default();
    };
    let Ok(resolved) = request.plan(Room::Free(None), &[]) else { return Estimate::default() };
    let plan = &resolved.plan;
    let (time_ns, pairs) = match plan.length {
        Length::DurationNs(ns) => {
            let most = u128::from(ns) * u128::from(PAIRS_PER_S_MAX * plan.workers) / 1_000_000_000;
            (ns, most as u64)
        }
        Length::Iterations(each) => {
            (each.saturating_mul(PAIR_NS), each.saturating_mul(plan.workers))
        }
    };
    let written = resolved.bytes_written.unwrap_or(pairs.saturating_mul(plan.pair_bytes()));
    Estimate {
        time_ns: time_ns + ROUND_NS,
        written_bytes: written,
        on_disk_bytes: resolved.bytes_on_disk,
    }
}

/// Most rounds of a step, all loads together.
pub fn rounds_max(step: &Step) -> u64 {
    let each = step.steady.map_or(step.repeats.unwrap_or(1), |steady| steady.rounds_max);
    each * step.variants().len() as u64
}

/// Most time that a step takes.
pub fn step_ns(step: &Step) -> u64 {
    let loaded = if step.load.is_some() { rounds_max(step) / 2 } else { 0 };
    rounds_max(step).saturating_mul(round(step).time_ns).saturating_add(loaded * LOAD_NS)
}

/// Most time that is left.
pub fn left_ns(spec: &Spec, state: &State) -> u64 {
    let of = |step: &Step| {
        if state.due(step).is_none() {
            return 0;
        }
        let done: Vec<u64> =
            state.rounds.iter().filter(|r| r.step == step.name).map(|r| r.took_ns).collect();
        let left = rounds_max(step).saturating_sub(done.len() as u64);
        // What rounds took so far says more than what was planned.
        let each = match done.len() as u64 {
            0 => step_ns(step) / rounds_max(step).max(1),
            count => done.iter().sum::<u64>() / count,
        };
        left.saturating_mul(each)
    };
    spec.document.steps.iter().map(of).sum()
}
