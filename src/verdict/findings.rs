//! The findings that the verdict itself adds to a run's observations.

use crate::human;
use crate::record::{CounterKind, Finding, InFlight, Record, Severity, Status};

use super::figures::{Participants, SAMPLES_FOR_P99};

/// Share of the asked rate below which a run fell behind.
const RATE_SHARE_LEAST: f64 = 0.99;

/// From here on waiting for CPUs is worth a word.
const CONTENTION_SHARE_LEAST: f64 = 0.1;

/// A first flush is worth a word from here on, and from so many times the later ones.
const FIRST_FLUSH_NS_LEAST: u64 = 100_000_000;
const FIRST_FLUSH_TIMES_LEAST: u64 = 20;

/// Workers named in a finding before the rest is only counted.
const WORKERS_NAMED: usize = 8;

/// The total is in a worse band than the barrier: what makes the data durable happens in the write
/// (ZFS with sync=always, O_SYNC mounts, throttled writes).
pub fn cost_in_write(barrier_ns: u64, total_ns: u64) -> Finding {
    let figures = format!("barrier {}, total {}", human::time(barrier_ns), human::time(total_ns));
    Finding {
        code: "cost_in_write".to_owned(),
        severity: Severity::Warning,
        text: format!("the write costs more than the barrier, so the total decides: {figures}"),
        evidence: format!("worst worker: barrier {barrier_ns} ns, total {total_ns} ns"),
    }
}

/// Workers that were judged on their maximum because a percentile needs more samples.
pub fn too_few_samples(people: &Participants) -> Option<Finding> {
    let few: Vec<(u64, u64)> = people.with_too_few().collect();
    if few.is_empty() {
        return None;
    }
    let named = few.iter().take(WORKERS_NAMED);
    let mut evidence: Vec<String> =
        named.map(|(worker, count)| format!("worker {worker}: {count}")).collect();
    if few.len() > WORKERS_NAMED {
        evidence.push(format!("{} more", few.len() - WORKERS_NAMED));
    }
    Some(Finding {
        code: "too_few_samples".to_owned(),
        severity: Severity::Info,
        text: format!("a worker with fewer than {SAMPLES_FOR_P99} pairs is judged on its maximum"),
        evidence: evidence.join(", "),
    })
}

/// An open loop that fell behind: what was asked is more than the storage can do, so that its latency
/// grows for as long as the run lasts. A stall alone leaves most pairs on time; falling behind makes
/// them later and later, so that half of them are at least a quarter as late as the last.
pub fn rate_not_reached(record: &Record) -> Option<Finding> {
    let asked = record.plan.as_ref()?.rate_per_s?;
    let reached = record.pairs_per_s?;
    let late = record.distributions.as_ref()?.pooled.late.as_ref()?;
    if reached >= asked * RATE_SHARE_LEAST || late.p50_ns.unwrap_or(0) < late.max_ns / 4 {
        return None;
    }
    let evidence = format!("half of the pairs began {} late or more", human::time(late.p50_ns?));
    let (reached, asked) = (human::decimal(reached), human::decimal(asked));
    let text = format!("{asked}/s were asked, {reached}/s were reached: the queue only grows");
    Some(Finding { code: "rate_not_reached".to_owned(), severity: Severity::Error, text, evidence })
}

/// Time that the workers waited for a CPU looks like the storage's own. The share is of all workers' time.
pub fn cpu_contention(record: &Record) -> Option<Finding> {
    let interval = record.interval.as_ref()?;
    let workers = record.distributions.as_ref()?.workers.iter();
    let ran_ns: u64 = workers.map(|worker| worker.ended_ns.saturating_sub(worker.started_ns)).sum();
    let delay_ns = interval.run_delay_ns?;
    let share = delay_ns as f64 / ran_ns.max(1) as f64;
    let steal = interval.steal_share.unwrap_or(0.0);
    let throttled = interval.throttled_us.unwrap_or(0);
    if share < CONTENTION_SHARE_LEAST && steal < CONTENTION_SHARE_LEAST && throttled == 0 {
        return None;
    }
    let text = format!(
        "the workers waited for a CPU for {} of their time: not all of the latency is the storage's",
        human::share(share.min(1.0))
    );
    let evidence = format!(
        "run delay {}, stolen {}, throttled by a control group {}",
        human::time(delay_ns),
        human::share(steal),
        human::time(throttled.saturating_mul(1_000))
    );
    Some(Finding { code: "cpu_contention".to_owned(), severity: Severity::Warning, text, evidence })
}

/// How much of the time of all pairs the device's own requests took, by the kernel's accounts. Beside a load, or
/// where it is more than all of it, too much of that is others' or overlaps: then no share is known.
pub fn device_share(record: &Record) -> Option<Finding> {
    let total = &record.distributions.as_ref()?.pooled;
    let total = total.service.as_ref().unwrap_or(&total.total);
    let pairs_ns = total.mean_ns * total.count as f64;
    let under = record.substrate.as_ref()?;
    let devices = &record.interval.as_ref()?.devices;
    let is_leaf = |name: &str| under.block.iter().any(|n| n.name == name && n.below.is_empty());
    let leaf =
        devices.iter().filter(|d| is_leaf(&d.node)).max_by_key(|d| d.write_ms + d.flush_ms)?;
    let requests_ms = leaf.write_ms + leaf.flush_ms;
    let share = requests_ms as f64 * 1e6 / pairs_ns;
    let may_be_theirs = share <= 1.0 && record.load.is_none();
    if requests_ms == 0 || !may_be_theirs {
        return None;
    }
    let text =
        format!("requests to {} took {} of the time of all pairs", leaf.node, human::share(share));
    let evidence = format!(
        "{} writes in {} ms, {} flushes in {} ms, others' included",
        leaf.writes, leaf.write_ms, leaf.flushes, leaf.flush_ms
    );
    Some(Finding { code: "device_share".to_owned(), severity: Severity::Info, text, evidence })
}

/// A log device that the intent log does not use.
pub fn slog_unused(record: &Record) -> Option<Finding> {
    let zfs = record.substrate.as_ref()?.zfs.as_ref().filter(|zfs| !zfs.log_devices.is_empty())?;
    let proof = record.proof.as_ref()?;
    let moved = |kind| {
        let counter = proof.counters.iter().find(|counter| counter.kind == kind);
        counter.map_or(0, |counter| counter.libc + counter.raw)
    };
    if moved(CounterKind::ZilCommits) == 0 || moved(CounterKind::ZilSlog) > 0 {
        return None;
    }
    let why = zfs.logbias.as_deref().filter(|&bias| bias == "throughput");
    let why = why.map_or("", |_| ": logbias=throughput keeps it from being used");
    let text = format!("a log device is present and unused{why}");
    let evidence = format!("{} and no record on a log device", zfs.log_devices.join(", "));
    Some(Finding { code: "slog_unused".to_owned(), severity: Severity::Warning, text, evidence })
}

/// A fresh filesystem may make its first flush wait for a transaction, which no later one does.
pub fn first_flush(record: &Record) -> Option<Finding> {
    let proof = record.proof.as_ref()?;
    let (first, later) = (proof.first_barrier_ns, proof.libc_barrier_p50_ns);
    if first < FIRST_FLUSH_NS_LEAST || first < later.saturating_mul(FIRST_FLUSH_TIMES_LEAST) {
        return None;
    }
    let text = format!("the very first flush took {}; it is in no figure", human::time(first));
    let evidence = format!("later ones: p50 {}", human::time(later));
    Some(Finding { code: "first_flush".to_owned(), severity: Severity::Info, text, evidence })
}

/// What a control group allows shapes the tail as much as the disk does.
pub fn io_limits(record: &Record) -> Option<Finding> {
    let limits = &record.substrate.as_ref()?.limits;
    let first = limits.first()?;
    let text = format!("a control group limits writes to {}: {}", first.node, first.limit);
    let all: Vec<String> =
        limits.iter().map(|l| format!("{}: {} ({})", l.node, l.limit, l.source)).collect();
    let severity = Severity::Warning;
    Some(Finding { code: "io_limited".to_owned(), severity, text, evidence: all.join(", ") })
}

/// Pairs of an open loop that had not begun at the end.
pub fn not_started(record: &Record) -> Option<Finding> {
    let count = record.counters.as_ref()?.not_started.filter(|&count| count > 0)?;
    let count = human::count(count);
    let text = format!("{count} pairs were due and had not begun: total has what they had waited");
    let evidence = String::new();
    Some(Finding { code: "not_started".to_owned(), severity: Severity::Info, text, evidence })
}

/// How the run ended, where that was not as planned.
pub fn end_of_run(record: &Record) -> Option<Finding> {
    let (code, severity, text) = match record.status {
        Status::TimedOut => {
            ("timed_out", Severity::Error, "an operation did not return within its time-out")
        }
        Status::Interrupted => {
            ("interrupted", Severity::Warning, "interrupted: the figures are of a partial run")
        }
        Status::Complete | Status::Failed => return None,
    };
    let longest = record.in_flight.iter().max_by_key(|operation| operation.at_least_ns);
    let evidence = longest.map(in_flight).unwrap_or_default();
    Some(Finding { code: code.to_owned(), severity, text: text.to_owned(), evidence })
}

/// `worker 3, measure, fdatasync: at least 60.0s`.
pub fn in_flight(operation: &InFlight) -> String {
    let name = operation.operation.iter().fold(String::new(), |_, name| format!(", {name}"));
    let at_least = human::time(operation.at_least_ns);
    format!("worker {}, {}{name}: at least {at_least}", operation.worker, operation.stage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Block, DeviceTime, Interval, JudgedOn, LoadReport, Metric};
    use crate::verdict::sample_record::{self, in_flight as operation};

    #[test]
    fn workers_with_too_few_samples_are_named_and_long_lists_are_cut() {
        let record = sample_record::barriers(&[vec![9; 100], vec![9; 99]]);
        let found = too_few_samples(&Participants::of(&record)).unwrap();
        assert_eq!((found.evidence.as_str(), found.severity), ("worker 1: 99", Severity::Info));
        let many = sample_record::barriers(&vec![vec![9; 5]; 11]);
        let found = too_few_samples(&Participants::of(&many)).unwrap();
        assert!(found.evidence.ends_with("worker 7: 5, 3 more"), "{}", found.evidence);
        let enough = sample_record::barriers(&[vec![9; 100]]);
        assert_eq!(too_few_samples(&Participants::of(&enough)), None);
    }

    #[test]
    fn a_share_of_the_device_is_said_only_where_its_time_can_be_the_pairs() {
        let with = |write_ms, load: Option<LoadReport>| {
            let mut record = sample_record::barriers(&[vec![10_000_000; 100]]);
            let mut under = record.substrate.take().unwrap_or_default();
            under.block = vec![Block { name: "sda".to_owned(), ..Block::default() }];
            record.substrate = Some(under);
            let device = DeviceTime { node: "sda".to_owned(), write_ms, ..DeviceTime::default() };
            record.interval = Some(Interval { devices: vec![device], ..Interval::default() });
            record.load = load;
            device_share(&record)
        };
        assert!(with(750, None).unwrap().text.contains("took 75.0 % of"));
        assert_eq!(with(0, None), None);
        assert_eq!(with(1_500, None), None);
        assert_eq!(with(750, Some(LoadReport::default())), None);
    }

    #[test]
    fn the_longest_operation_in_flight_is_the_evidence() {
        let mut record = sample_record::barriers(&[vec![9; 100]]);
        assert_eq!(end_of_run(&record), None);
        record.status = Status::TimedOut;
        record.in_flight = vec![operation(2, 1_000), operation(3, 60_000_000_000)];
        record.in_flight[1].operation = Some("fdatasync".into());
        let found = end_of_run(&record).unwrap();
        assert_eq!(found.evidence, "worker 3, measure, fdatasync: at least 60.0s");
        assert_eq!((found.code.as_str(), found.severity), ("timed_out", Severity::Error));
        let worst = Participants::of(&record).worst(Metric::Total).unwrap();
        assert_eq!((worst.ns, worst.on), (60_000_000_000, JudgedOn::Max));
    }
}
