//! The verdict: a record judged under a policy. Each rule is explained in docs/verdict.md.
//!
//! Pure: it reads the record and the policy and nothing else, so that a saved record can be judged
//! again anywhere, under another policy too.

mod durability;
mod figures;
mod findings;
mod imported;
mod machine;
mod outcome;
mod prediction;
mod recommendation;
#[cfg(test)]
pub mod sample_record;
mod traced;

pub use durability::{basis, durability, power_loss_protection};
pub use findings::in_flight;
pub use imported::refusal as import_refusal;
pub use recommendation::{config_line, recommend};

use crate::policy::{Kind, Policy};
use crate::record::{
    Band, Confidence, Durability, Judged, JudgedOn, Metric, Record, Status, Verdict,
};
use figures::{Figure, Participants};
use prediction::predict;

/// What the command line adds to the policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgeOptions {
    /// Instead of the policy's metric.
    pub metric: Option<Metric>,
    /// Instead of the policy's band.
    pub fail_at: Option<Band>,
    /// Unproved durability does not pass.
    pub require_proof: bool,
    /// How long a client waits for CreateStream, instead of the usual 5 s.
    pub deadline_ns: Option<u64>,
}

/// Everything that pass, exit code and sentence follow from.
struct Case<'a> {
    record: &'a Record,
    policy: &'a Policy,
    fail_at: Band,
    require_proof: bool,
    /// The figure that was held against the edges.
    judged: Figure,
    band: Band,
    durability: Durability,
    evidence: String,
    /// The asked rate was not kept.
    fell_behind: bool,
}

/// Judges `record` under `policy`.
///
/// Nothing where the run failed (a barrier that failed once says nothing when it succeeds again),
/// where nothing was measured, or where operations in flight are all there is and their lower bounds
/// stay below the last edge.
pub fn judge(record: &Record, policy: &Policy, options: &JudgeOptions) -> Option<Verdict> {
    if record.status == Status::Failed {
        return None;
    }
    if imported::refusal(record, policy).is_some() {
        return None;
    }
    let metric = metric(record, policy, options);
    let people = Participants::of(record);
    let own = people.worst(metric)?;
    let total = people.worst(Metric::Total)?;
    let nothing_complete = record.distributions.is_none() && !imported::is_import(record);
    if nothing_complete && policy.band(total.ns) < Band::Broken {
        return None;
    }
    let total_decides = policy.band(total.ns) > policy.band(own.ns);
    let judged = if total_decides { total } else { own };
    let (durability, evidence, mut own_findings) = durability(record);
    own_findings.extend(imported::count_unknown(record));
    own_findings.extend(total_decides.then(|| findings::cost_in_write(own.ns, total.ns)));
    own_findings.extend(findings::too_few_samples(&people));
    let fell_behind = findings::rate_not_reached(record);
    own_findings.extend(fell_behind.clone());
    own_findings.extend(findings::not_started(record));
    own_findings.extend(findings::cpu_contention(record));
    own_findings.extend(findings::device_share(record));
    own_findings.extend(machine::cpu_sleep(record));
    own_findings.extend(machine::numa_remote(record));
    own_findings.extend(traced::tail(record));
    own_findings.extend(traced::lost(record));
    own_findings.extend(findings::slog_unused(record));
    own_findings.extend(findings::first_flush(record));
    own_findings.extend(findings::io_limits(record));
    own_findings.extend(findings::end_of_run(record));
    let case = Case {
        record,
        policy,
        fail_at: options.fail_at.unwrap_or(policy.fail_at),
        require_proof: options.require_proof,
        judged,
        band: policy.band(judged.ns),
        durability,
        evidence,
        fell_behind: fell_behind.is_some(),
    };
    let for_jetstream = policy.kind == Kind::Jetstream;
    let deadline_ns = options.deadline_ns.unwrap_or(prediction::DEADLINE_NS);
    let prediction = for_jetstream.then(|| predict(record, judged.ns, deadline_ns)).flatten();
    own_findings.extend(prediction::create_stream_deadline(prediction.as_ref(), durability));
    let p99_known = judged.on == JudgedOn::P99 && own.on == JudgedOn::P99 && !judged.is_bound;
    Some(Verdict {
        policy: policy.name.clone(),
        metric,
        judged: if people.pooled_only() { Judged::Pooled } else { Judged::WorstWorker },
        judged_on: judged.on,
        p99_ns: p99_known.then_some(own.ns),
        judged_ns: judged.ns,
        band: case.band,
        durability,
        durability_evidence: case.evidence.clone(),
        durability_basis: basis(record, durability),
        power_loss_protection: power_loss_protection(record),
        confidence: confidence(&people, &judged, policy),
        pass: outcome::pass(&case),
        exit_code: outcome::exit_code(&case),
        sentence: outcome::sentence(&case),
        recommendation: for_jetstream.then(|| recommend(&case.situation())),
        prediction,
        findings: record.observations.iter().cloned().chain(own_findings).collect(),
    })
}

impl Case<'_> {
    /// What a recommendation depends on.
    fn situation(&self) -> recommendation::Situation {
        recommendation::Situation {
            figure_ns: self.judged.ns,
            on: self.judged.on,
            band: self.band,
            durability: self.durability,
            timed_out: self.record.status == Status::TimedOut,
        }
    }
}

/// The judged part: what the command line says, else the total of an open loop (its queueing counts),
/// else the policy's; always the total where the arm has no barrier of its own.
fn metric(record: &Record, policy: &Policy, options: &JudgeOptions) -> Metric {
    if imported::is_import(record) {
        return Metric::Barrier;
    }
    let plan = record.plan.as_ref();
    let has_barrier = match (&record.distributions, plan) {
        (Some(distributions), _) => distributions.pooled.barrier.is_some(),
        (None, Some(plan)) => plan.arm.has_own_barrier(),
        (None, None) => false,
    };
    if !has_barrier {
        return Metric::Total;
    }
    let open_loop = plan.is_some_and(|plan| plan.rate_per_s.is_some());
    options.metric.unwrap_or(if open_loop { Metric::Total } else { policy.metric })
}

/// Whether the samples carry the band and, where the policy draws one, the pass line.
fn confidence(people: &Participants, judged: &Figure, policy: &Policy) -> Confidence {
    if people.with_too_few().next().is_some() {
        return Confidence::TooFewSamples;
    }
    let Some([low, high]) = judged.interval_ns else { return Confidence::Clear };
    let line = policy.pass_below_ns;
    let crosses_line = line.is_some_and(|line| low < line && high >= line);
    if policy.band(low) != policy.band(high) || crosses_line {
        return Confidence::Borderline;
    }
    Confidence::Clear
}

#[cfg(test)]
mod tests;
