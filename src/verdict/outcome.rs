//! Pass, exit code and the sentence for a person.

use synctail_bench::Barrier;

use super::Case;
use crate::human;
use crate::policy::band_name;
use crate::record::{Band, Durability, Status};

/// Exit code: the policy is met.
pub const PASS: i32 = 0;
/// Exit code: the policy is not met.
pub const NOT_MET: i32 = 1;
/// Exit code: not durable or, where proof is required, unproved.
pub const NOT_DURABLE: i32 = 4;
/// Exit code: interrupted by SIGINT; the caller knows whether it was another signal.
pub const INTERRUPTED: i32 = 130;

/// Whether the policy is met.
pub fn pass(case: &Case) -> bool {
    let fast_enough = case.band < case.fail_at && above_line(case).is_none();
    let returned = case.record.status != Status::TimedOut;
    let kept_up = returned && !case.fell_behind;
    fast_enough && kept_up && lacks_durability(case).is_none()
}

/// 130, 4, 1, 0: the first that applies.
pub fn exit_code(case: &Case) -> i32 {
    if case.record.status == Status::Interrupted {
        INTERRUPTED
    } else if lacks_durability(case).is_some() {
        NOT_DURABLE
    } else if !pass(case) {
        NOT_MET
    } else {
        PASS
    }
}

/// One sentence. It never says that a storage is safe where the exit code says otherwise.
pub fn sentence(case: &Case) -> String {
    let partial = match case.record.status {
        Status::Interrupted => " (interrupted: partial)",
        _ => "",
    };
    format!("{}{partial}", meaning(case))
}

fn meaning(case: &Case) -> String {
    let band = band_name(case.band);
    if is_baseline(case) {
        return format!("BASELINE: {}; never a pass ({band} by latency alone)", case.evidence);
    }
    if let Some(label) = lacks_durability(case) {
        return format!("{label}: {} ({band} by latency alone)", case.evidence);
    }
    if case.record.status == Status::TimedOut {
        return format!("{band}: an operation did not return within its time-out");
    }
    if case.fell_behind {
        return format!("{band}: the asked rate is more than this storage can do");
    }
    let sentence = case.policy.sentence(case.band);
    match too_slow(case) {
        None => format!("{band}: {sentence}"),
        // What the two best bands promise is not repeated where a limit refuses them.
        Some(why) if case.band <= Band::Good => format!("{band}: {why}"),
        Some(why) => format!("{band}: {sentence}; {why}"),
    }
}

/// Which limit the figure misses, where the band alone does not say it.
fn too_slow(case: &Case) -> Option<String> {
    if let Some(line) = above_line(case) {
        let (figure, line) = (human::time(case.judged.ns), human::time(line));
        return Some(format!("{figure} does not pass, {line} is the limit"));
    }
    let stricter = case.fail_at < Band::Broken && case.band >= case.fail_at;
    stricter.then(|| format!("does not pass: {} and worse fail", band_name(case.fail_at)))
}

/// The policy's pass line, if the judged figure is not below it.
fn above_line(case: &Case) -> Option<u64> {
    case.policy.pass_below_ns.filter(|&line| case.judged.ns >= line)
}

/// What durability lacks, as a headline.
fn lacks_durability(case: &Case) -> Option<&'static str> {
    match case.durability {
        Durability::NotDurable => Some("NOT DURABLE"),
        Durability::Unproved if case.require_proof => Some("UNPROVED"),
        Durability::Unproved | Durability::Proved => None,
    }
}

fn is_baseline(case: &Case) -> bool {
    case.record.plan.as_ref().is_some_and(|plan| plan.null || plan.arm.barrier == Barrier::None)
}
