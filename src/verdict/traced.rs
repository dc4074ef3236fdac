//! What the kernel's trace adds to the verdict.

use crate::human;
use crate::record::{Finding, Record, Severity};

/// From here on a finding says that the trace is not whole.
const LOST_SHARE_LEAST: f64 = 0.001;

/// What the tail waited for. Without a trace counters split sums only, which says nothing of the tail.
pub fn tail(record: &Record) -> Option<Finding> {
    let trace = record.trace.as_ref()?;
    let tail = trace.tail.as_ref()?;
    let (words, share) = tail.waits.main()?;
    let text = format!(
        "{} of the tail's time (pairs of {} and more) was: {words}",
        human::share(share),
        human::time(tail.at_least_ns)
    );
    let evidence = format!(
        "{} pairs, matched with {} events of the kernel's trace",
        human::count(tail.pairs),
        human::count(trace.events)
    );
    Some(Finding { code: "tail_cause".to_owned(), severity: Severity::Info, text, evidence })
}

/// Events that were lost make waits of what was something else.
pub fn lost(record: &Record) -> Option<Finding> {
    let trace = record.trace.as_ref()?;
    let share = trace.events_lost as f64 / (trace.events + trace.events_lost).max(1) as f64;
    let missing = record.counters.as_ref()?.pairs.saturating_sub(trace.pairs);
    if share < LOST_SHARE_LEAST && missing == 0 {
        return None;
    }
    let text = format!(
        "the trace is not whole: {} pairs are outside it; a shorter run is traced in full",
        human::count(missing)
    );
    let evidence = format!("{} events lost", human::count(trace.events_lost));
    Some(Finding {
        code: "trace_incomplete".to_owned(),
        severity: Severity::Warning,
        text,
        evidence,
    })
}

/// Writes with forced unit access that reached `node` within the traced pairs, for each of them; nothing
/// without a trace, or where the trace is not whole.
pub fn fua_per_pair(record: &Record, node: &str) -> Option<f64> {
    let trace = record.trace.as_ref().filter(|trace| trace.events_lost == 0 && trace.pairs > 0)?;
    let device = trace.devices.iter().find(|device| device.node == node)?;
    Some(device.fua_writes as f64 / trace.pairs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Tail, Trace, TracedDevice, Waits};
    use crate::verdict::sample_record;

    fn traced(lost: u64, pairs: u64) -> Record {
        let waits = Waits { run_queue_ns: 60, flush_ns: 40, ..Waits::default() };
        let mut record = sample_record::barriers(&[vec![1_000; 500]]);
        record.trace = Some(Trace {
            clock: "mono".into(),
            events: 10_000,
            events_lost: lost,
            pairs,
            all: Waits::default(),
            tail: Some(Tail { pairs: 6, at_least_ns: 1_000, waits }),
            worst: Vec::new(),
            devices: vec![TracedDevice {
                node: "sda".into(),
                fua_writes: 490,
                ..Default::default()
            }],
        });
        record
    }

    #[test]
    fn the_greatest_part_of_the_tail_is_named() {
        let found = tail(&traced(0, 500)).unwrap();
        assert_eq!(
            found.text,
            "60.0 % of the tail's time (pairs of 1.00us and more) was: ready, waiting for a CPU"
        );
        assert!(tail(&sample_record::barriers(&[vec![1; 500]])).is_none());
    }

    #[test]
    fn a_trace_with_holes_says_so_and_proves_nothing() {
        assert!(lost(&traced(0, 500)).is_none());
        assert!(lost(&traced(5, 500)).is_none(), "five of ten thousand");
        assert!(lost(&traced(0, 499)).is_some());
        assert!(lost(&traced(100, 500)).is_some());
        assert_eq!(fua_per_pair(&traced(0, 500), "sda"), Some(0.98));
        assert_eq!(fua_per_pair(&traced(1, 500), "sda"), None);
        assert_eq!(fua_per_pair(&traced(0, 500), "sdb"), None);
    }
}
