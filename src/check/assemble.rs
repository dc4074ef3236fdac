//! From a session to the record.

use std::ffi::OsString;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use synctail_bench::{Cause, Fault, Iowq, Length, Plan, Rate};
use synctail_sys::Scale;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::failure::{self, Circumstances};
use super::figures;
use super::observe::observations;
use super::session::{End, Session};
use crate::args::CheckArgs;
use crate::evidence::interval::between;
use crate::human;
use crate::policy::Policy;
use crate::record::{
    ClockReport, Effective, ErrorReport, InFlight, Interval, Metric, Parts, PlanRecord, Record,
    RingEffective, SCHEMA, Status, Tool, Trace,
};
use crate::refusal::error_report;
use crate::resolve::{Request, Resolved};
use crate::substrate;
use crate::trace::{self, Pair, Run};

/// A record of nothing yet.
pub fn empty_record(command: &[OsString]) -> Record {
    Record {
        schema: SCHEMA.to_owned(),
        tool: Tool::this(),
        started_at: now_rfc3339(),
        command: command.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        status: Status::Complete,
        error: None,
        plan: None,
        effective: None,
        clock: None,
        substrate: None,
        distributions: None,
        proof: None,
        interval: None,
        load: None,
        trace: None,
        in_flight: Vec::new(),
        counters: None,
        wall_ns: None,
        pairs_per_s: None,
        source: None,
        observations: Vec::new(),
        verdict: None,
        samples: None,
    }
}

/// This moment, UTC, to the second.
pub fn now_rfc3339() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let time = OffsetDateTime::from_unix_timestamp(seconds as i64).ok();
    time.and_then(|time| time.format(&Rfc3339).ok()).unwrap_or_default()
}

/// The record of `session`, not judged yet.
pub fn record(
    session: &mut Session,
    args: &CheckArgs,
    policy: &Policy,
    command: &[OsString],
) -> Record {
    let scale = session.clock.scale();
    locate_completions(session);
    let in_flight = in_flight(session, &scale);
    let mut record = empty_record(command);
    record.started_at = session.started_at.clone();
    record.status = status(session);
    record.error = error(session, &in_flight);
    record.plan = session.resolved.as_ref().map(|resolved| plan(session, resolved, args, policy));
    record.effective = Some(effective(session));
    let kernel = session.substrate.as_ref().and_then(|s| s.machine.clocksource.clone());
    record.clock = Some(ClockReport {
        floor_ns: session.floor_ns,
        ..session.clock.report(&scale, session.skew_ns, kernel)
    });
    record.substrate = session.substrate.clone();
    record.proof = session.proof.clone();
    record.interval = interval(session);
    record.load = session.neighbours.as_ref().and_then(|neighbours| neighbours.report());
    record.trace = trace(session, &scale);
    figures::measured(&mut record, session, &scale);
    include_in_flight(&mut record, &in_flight);
    include_intended(&mut record, session, &scale);
    record.in_flight = in_flight;
    notice_overlong(&mut record, session.request.timeout_ns);
    record.observations = observations(session);
    if args.output.needs_samples() || args.plot.plot {
        record.samples = figures::samples(session, &scale);
    }
    record
}

/// Fills in which CPUs served the disk's interrupts during the run.
fn locate_completions(session: &mut Session) {
    let (before, after) = &session.interrupts;
    let Some(under) = &mut session.substrate else { return };
    if let Some((node, completion)) =
        substrate::completion(Path::new("/"), &under.block, before, after)
    {
        under.block[node].completion = Some(completion);
    }
}

fn status(session: &Session) -> Status {
    match session.end {
        End::Signal(_) => Status::Interrupted,
        End::TimedOut => Status::TimedOut,
        _ if fault(session).is_some() || session.death.is_some() => Status::Failed,
        End::Finished | End::MaxDuration | End::ChildDied => Status::Complete,
    }
}

fn fault(session: &Session) -> Option<&Fault> {
    let of_run = session.report.as_ref().and_then(|report| report.fault.as_ref());
    session.fault.as_ref().or(of_run).filter(|fault| fault.cause != Cause::Stopped)
}

fn error(session: &Session, in_flight: &[InFlight]) -> Option<ErrorReport> {
    if session.end == End::TimedOut {
        return Some(timed_out(&session.request, in_flight));
    }
    if let Some(fault) = fault(session) {
        let under = session.substrate.as_ref();
        let circumstances = Circumstances {
            arm: session.request.arm,
            block_size_bytes: session.request.block_size_bytes(),
            filesystem: under.and_then(|s| s.filesystem.as_deref()),
            root: Path::new("/"),
            pairs: session.measured.pairs(),
        };
        return Some(failure::report(fault, &circumstances));
    }
    let death = session.death.as_ref()?;
    let message = format!("the measuring process {death}: what it measured before is kept");
    Some(error_report("internal", "wait", message))
}

fn timed_out(request: &Request, in_flight: &[InFlight]) -> ErrorReport {
    let limit = human::time(request.timeout_ns);
    let worst = in_flight.iter().max_by_key(|operation| operation.at_least_ns);
    let (stage, operation) = worst.map_or(("measure", "pair"), |worst| {
        (worst.stage.as_str(), worst.operation.as_deref().unwrap_or("pair"))
    });
    let message = format!("{operation} did not return within --timeout {limit} ({stage})");
    let remedy = "look at the kernel log and the device; raise --timeout if it is only slow";
    ErrorReport { remedy: Some(remedy.to_owned()), ..error_report(stage, operation, message) }
}

/// The parent looks every now and then; an operation that exceeded the limit between two looks counts
/// no less than one that was seen.
fn notice_overlong(record: &mut Record, timeout_ns: u64) {
    let longest = record.distributions.as_ref().map(|d| d.pooled.total.max_ns);
    let Some(longest) = longest.filter(|&ns| ns > timeout_ns) else { return };
    if record.status != Status::Complete {
        return;
    }
    record.status = Status::TimedOut;
    let (took, limit) = (human::time(longest), human::time(timeout_ns));
    let message = format!("a pair took {took}, longer than --timeout {limit} (measure)");
    let remedy = "look at the kernel log and the device; raise --timeout if it is only slow";
    record.error = Some(ErrorReport {
        remedy: Some(remedy.to_owned()),
        ..error_report("measure", "pair", message)
    });
}

fn plan(session: &Session, resolved: &Resolved, args: &CheckArgs, policy: &Policy) -> PlanRecord {
    let Resolved { plan, bytes_on_disk, bytes_written, memory_bytes } = resolved;
    let path = session.facts.as_ref().map(|facts| facts.path.clone()).unwrap_or_default();
    let text = String::from_utf8(path.clone());
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    // An open loop is judged by what it is for: the wait of those who queued behind a stall counts.
    let own = if plan.rate.is_some() { Metric::Total } else { policy.metric };
    let metric = args.judge.metric.map_or(own, Metric::from);
    PlanRecord {
        path_bytes_hex: text.is_err().then(|| hex(&path)),
        path: text.unwrap_or_else(|_| String::from_utf8_lossy(&path).into_owned()),
        arm: plan.arm,
        block_size_bytes: plan.block_size_bytes,
        writes_per_barrier: plan.writes_per_barrier,
        sync_fd: plan.sync_fd,
        workers: plan.workers,
        iterations: match plan.length {
            Length::Iterations(pairs) => Some(pairs),
            Length::DurationNs(_) => None,
        },
        duration_ns: match plan.length {
            Length::DurationNs(ns) => Some(ns),
            Length::Iterations(_) => None,
        },
        warmup: plan.warmup,
        layout: plan.layout,
        files: "own".to_owned(),
        file_size_bytes: plan.segment_bytes,
        max_bytes: session.request.max_bytes,
        depth: plan.depth,
        rate_per_s: plan.rate.map(Rate::per_s),
        metric: if plan.arm.has_own_barrier() { metric } else { Metric::Total },
        policy: policy.name.clone(),
        load: session.neighbours.as_ref().map(|neighbours| neighbours.plan()),
        null: session.request.null,
        pin: session.request.pin.to_string(),
        seed: plan.seed,
        timeout_ns: session.request.timeout_ns,
        max_samples: session.request.max_samples,
        bytes_on_disk: *bytes_on_disk,
        bytes_written: *bytes_written,
        memory_bytes: *memory_bytes,
    }
}

fn effective(session: &Session) -> Effective {
    let plan = session.resolved.as_ref().map(|resolved| &resolved.plan);
    let workers = session.report.as_ref().map_or(&[][..], |report| &report.workers);
    let facts = workers.first().map(|worker| &worker.facts);
    let ring = facts.and_then(|facts| Some((facts.ring_flags.clone()?, facts.quiet_writes)));
    Effective {
        cpus: cpus(session),
        scheduling_class: session.scheduling_class.clone(),
        ring: ring.map(|(flags, cqe_skip)| RingEffective {
            flags,
            registered: plan.is_some_and(|plan| plan.ring.registered),
            iowq: plan.map_or("inherited", iowq_name).to_owned(),
            cqe_skip,
        }),
        direct_alignment_bytes: facts.and_then(|facts| facts.direct_alignment_bytes),
    }
}

/// Where each worker ran: what it reported, or, for one that has not reported, what was planned.
pub fn cpus(session: &Session) -> Vec<Option<u64>> {
    let planned = session.resolved.as_ref().map(|resolved| resolved.plan.cpus.clone());
    let mut cpus = planned.unwrap_or_default();
    for worker in session.report.iter().flat_map(|report| &report.workers) {
        if let Some(cpu) = cpus.get_mut(worker.worker as usize) {
            *cpu = worker.cpu;
        }
    }
    cpus
}

fn iowq_name(plan: &Plan) -> &'static str {
    match plan.ring.iowq {
        None => "inherited",
        Some(Iowq::Same) => "same",
        Some(Iowq::Other) => "other",
        Some(Iowq::Any) => "any",
    }
}

/// What the kernel's trace says of the completed pairs.
fn trace(session: &mut Session, scale: &Scale) -> Option<Trace> {
    let tracing = session.tracing.take()?;
    let of = |worker| {
        let samples = session.measured.samples(worker);
        samples.map(move |sample| Pair { worker, start: sample.start, end: sample.end })
    };
    let pairs: Vec<Pair> = (0..session.board.size().workers).flat_map(of).collect();
    let blocks = session.substrate.as_ref().map_or(&[][..], |under| &under.block);
    let (nodes, disks) = trace::devices(Path::new("/"), blocks);
    let start = session.board.start_tick().unwrap_or(0);
    let ns = |ticks| scale.ns(ticks);
    tracing.finish(&Run { pairs: &pairs, start, ns: &ns, nodes: &nodes, disks: &disks })
}

/// In an open loop a pair in flight has waited since its intended start.
fn include_intended(record: &mut Record, session: &Session, scale: &Scale) {
    let Some(distributions) = &mut record.distributions else { return };
    for worker in &mut distributions.workers {
        let opened = session.measured.opened(worker.worker);
        let Some(ticks) = opened.and_then(|opened| opened.longest_in_flight()) else { continue };
        for total in [&mut worker.parts.total, &mut distributions.pooled.total] {
            total.max_ns = total.max_ns.max(scale.ns(ticks));
        }
    }
}

/// What the machine did from before the first file to the end of the workers.
fn interval(session: &Session) -> Option<Interval> {
    let (before, after) = session.moments.0.as_ref().zip(session.moments.1.as_ref())?;
    let wall_ns = u64::try_from(after.0.duration_since(before.0).as_nanos()).ok()?;
    let delays = session.report.iter().flat_map(|report| &report.workers);
    let delays: Option<Vec<u64>> = delays.map(|worker| worker.run_delay_ns).collect();
    let run_delay_ns = delays.filter(|delays| !delays.is_empty()).map(|delays| delays.iter().sum());
    Some(Interval { run_delay_ns, ..between(&before.1, &after.1, wall_ns) })
}

fn in_flight(session: &Session, scale: &Scale) -> Vec<InFlight> {
    let now = session.clock.clock.ticks();
    let of = |pending: &synctail_bench::Pending| InFlight {
        worker: pending.worker,
        stage: pending.stage.name().to_owned(),
        operation: Some(pending.operation.to_owned()),
        at_least_ns: scale.ns(now.saturating_sub(pending.since_tick)),
    };
    session.pending.iter().map(of).collect()
}

/// The worst sample must not be the one that is dropped: a pair that has not returned counts in the
/// maximum with its lower bound. Which of its halves it waits in is not known, so both count. Making the
/// next file is no part of a pair, and so it is none of the maximum either.
fn include_in_flight(record: &mut Record, in_flight: &[InFlight]) {
    let Some(distributions) = &mut record.distributions else { return };
    let raise = |parts: &mut Parts, ns: u64| {
        parts.total.max_ns = parts.total.max_ns.max(ns);
        if let Some(barrier) = &mut parts.barrier {
            barrier.max_ns = barrier.max_ns.max(ns);
        }
    };
    let is_pair = |operation: &&InFlight| {
        operation.stage == "measure" && operation.operation.as_deref() == Some("pair")
    };
    for operation in in_flight.iter().filter(is_pair) {
        raise(&mut distributions.pooled, operation.at_least_ns);
        let worker = distributions.workers.iter_mut().find(|w| w.worker == operation.worker);
        worker.into_iter().for_each(|w| raise(&mut w.parts, operation.at_least_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::sample_record;

    #[test]
    fn a_completed_pair_that_took_longer_than_the_limit_times_the_run_out() {
        let mut samples = vec![1_000; 499];
        samples.push(70_000_000_000);
        let mut record = sample_record::barriers(&[samples]);
        notice_overlong(&mut record, 80_000_000_000);
        assert_eq!((record.status, record.error.is_none()), (Status::Complete, true));
        notice_overlong(&mut record, 60_000_000_000);
        assert_eq!(record.status, Status::TimedOut);
        assert!(record.error.unwrap().message.contains("--timeout 60.0s"));
    }
}
