//! Facts about a run that a reader of its figures has to know.

use synctail_bench::{Iowq, Length, RunReport};
use synctail_sys::errno_name;

use super::assemble::cpus;
use super::neighbours::Neighbours;
use super::session::{End, Session};
use crate::human;
use crate::record::{Block, Finding, Severity};

/// Everything that was noticed, in the order of its stages.
pub fn observations(session: &Session) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(leftovers(session));
    found.extend(clock(session));
    if let Some(report) = &session.report {
        found.extend(pins(report));
        found.extend(samples_full(session, report));
        found.extend(direct_unverified(session, report));
    }
    found.extend(trace_failed(session));
    found.extend(session.neighbours.iter().flat_map(Neighbours::findings));
    found.extend(completion(session));
    found.extend(iowq(session));
    found.extend(ended(session));
    found.extend(left_behind(session));
    found
}

/// A fact that a reader has to know.
pub fn finding(code: &str, severity: Severity, text: String, evidence: String) -> Finding {
    Finding { code: code.to_owned(), severity, text, evidence }
}

fn leftovers(session: &Session) -> Option<Finding> {
    let found = &session.leftovers.found;
    let text = format!(
        "{} of dead runs here; --clean removes them",
        plural(found.len(), "work directory", "work directories")
    );
    (!found.is_empty()).then(|| finding("leftovers", Severity::Warning, text, found.join(", ")))
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn clock(session: &Session) -> Option<Finding> {
    if session.clock.clock.source() == "tsc" || cfg!(not(target_arch = "x86_64")) {
        return None;
    }
    let text = "the TSC cannot be trusted here: timed by the operating system's clock".to_owned();
    let evidence = match session.skew_ns {
        Some(ns) => format!("the CPUs in use disagree by {ns} ns"),
        None => "the kernel does not offer it, or the CPU has none that is invariant".to_owned(),
    };
    Some(finding("clock_os", Severity::Info, text, evidence))
}

fn pins(report: &RunReport) -> Option<Finding> {
    let failed: Vec<String> = report
        .workers
        .iter()
        .filter_map(|worker| {
            Some(format!("worker {}: {}", worker.worker, errno_name(worker.pin_errno?)))
        })
        .collect();
    let text = format!(
        "{} could not be pinned and ran anywhere",
        plural(failed.len(), "worker", "workers")
    );
    (!failed.is_empty()).then(|| finding("pin_failed", Severity::Warning, text, failed.join(", ")))
}

fn samples_full(session: &Session, report: &RunReport) -> Option<Finding> {
    let full = report.workers.iter().filter(|worker| worker.samples_full).count();
    let text = format!(
        "--max-samples {} ended {} early",
        session.request.max_samples,
        plural(full, "worker", "workers")
    );
    let evidence = format!("{} samples a worker", session.board.size().samples_per_worker);
    (full > 0).then(|| finding("max_samples_reached", Severity::Warning, text, evidence))
}

/// Where statx tells no alignment nobody has promised that O_DIRECT goes past the page cache: btrfs
/// writes what is not aligned through it, ZFS before 2.3 and tmpfs write everything so.
fn direct_unverified(session: &Session, report: &RunReport) -> Option<Finding> {
    let direct = session.resolved.as_ref()?.plan.arm.direct;
    let facts = report.workers.iter().map(|worker| &worker.facts);
    let untold = facts.filter(|facts| facts.direct_alignment_bytes.is_none()).count();
    let text = "this filesystem took O_DIRECT but tells no alignment for it: it may have written \
                through the page cache"
        .to_owned();
    let evidence = "statx without STATX_DIOALIGN on the test file".to_owned();
    (direct && untold > 0).then(|| finding("direct_unverified", Severity::Warning, text, evidence))
}

fn trace_failed(session: &Session) -> Option<Finding> {
    let why = session.trace_failed.clone()?;
    let text =
        "the kernel's trace could not be had: nothing says what the tail waited for".to_owned();
    Some(finding("trace_failed", Severity::Warning, text, why))
}

/// A worker that sleeps on another CPU than the one that serves the disk's interrupts is woken across
/// CPUs each time: 1.35 x the append p50 where it was measured.
fn completion(session: &Session) -> Option<Finding> {
    let blocks = &session.substrate.as_ref()?.block;
    let serving = blocks.iter().find_map(completion_cpus)?;
    let mut used: Vec<u64> = cpus(session).into_iter().flatten().collect();
    let elsewhere = used.iter().any(|cpu| !serving.contains(cpu));
    let list = |cpus: &[u64]| cpus.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    used.sort_unstable();
    used.dedup();
    let text = format!(
        "pinned to CPU {}, but CPU {} serves the disk's completions: each wait ends with a wake-up across CPUs",
        list(&used),
        list(&serving),
    );
    let evidence = "/proc/interrupts before and after the run; compare with --pin".to_owned();
    elsewhere.then(|| finding("completion_on_other_cpu", Severity::Info, text, evidence))
}

fn completion_cpus(block: &Block) -> Option<Vec<u64>> {
    Some(block.completion.as_ref()?.cpus.clone())
}

/// io-wq inherits the submitter's CPU mask, so a pinned worker shares its CPU with it.
fn iowq(session: &Session) -> Option<Finding> {
    let plan = &session.resolved.as_ref()?.plan;
    let pinned = cpus(session).iter().any(Option::is_some);
    let shares =
        plan.arm.uses_ring() && pinned && matches!(plan.ring.iowq, None | Some(Iowq::Same));
    let text =
        "the ring's worker pool shares each submitter's CPU; --iowq other or any changes that"
            .to_owned();
    shares.then(|| finding("iowq_shares_cpu", Severity::Info, text, String::new()))
}

fn ended(session: &Session) -> Option<Finding> {
    let ns = session.request.max_duration_ns.filter(|_| session.end == End::MaxDuration)?;
    let done = session.measured.pairs();
    let text = match session.request.length {
        Length::Iterations(each) => {
            let all = each.saturating_mul(session.board.size().workers);
            format!("--max-duration {} ended the run after {done} of {all} pairs", human::time(ns))
        }
        Length::DurationNs(_) => format!("--max-duration {} ended the run early", human::time(ns)),
    };
    Some(finding("max_duration_reached", Severity::Warning, text, String::new()))
}

fn left_behind(session: &Session) -> Option<Finding> {
    let directory = session.directory_text();
    if let Some(pid) = session.child_left {
        let text = format!("child process {pid} still waits; {}", session.after_return());
        return Some(finding(
            "child_left",
            Severity::Warning,
            text,
            format!("pid {pid}, {directory}"),
        ));
    }
    if let Some(death) = &session.death {
        let text = match session.request.device {
            Some(_) => format!("the measuring process {death}"),
            None => format!(
                "the measuring process {death}; {directory} may be left, removed by --clean"
            ),
        };
        return Some(finding("child_died", Severity::Error, text, directory));
    }
    let why = session.not_removed.as_ref()?;
    let text = format!("{directory} could not be removed: {why}");
    Some(finding("not_removed", Severity::Warning, text, why.clone()))
}
