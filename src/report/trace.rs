//! What the kernel's trace said, as text for a person.

use super::lines::Lines;
use crate::human;
use crate::record::{Trace, TracedPair, TracedRequest, Waits};

/// Parts of a wait that are named, greatest first; the rest is small.
const PARTS_NAMED: usize = 2;
/// Below this share a part is not worth a word.
const SHARE_LEAST: f64 = 0.01;

/// Where the time of all pairs, of the tail and of each of the worst went.
pub fn write(lines: &mut Lines, trace: &Trace) {
    let lost = match trace.events_lost {
        0 => String::new(),
        lost => format!(", {} events lost: some waits may be wrong", human::count(lost)),
    };
    let pairs = human::count(trace.pairs);
    lines.say(&format!("  traced: {pairs} pairs: {}{lost}", shares(&trace.all)), 4);
    if let Some(tail) = &trace.tail {
        let (pairs, least) = (human::count(tail.pairs), human::time(tail.at_least_ns));
        let line = format!("  tail: {pairs} pairs of {least} and more: {}", shares(&tail.waits));
        lines.say(&line, 4);
    }
    for pair in &trace.worst {
        lines.say(&pair_line(pair), 6);
    }
}

/// `  9.21ms at 1.52s, worker 0: 98.0 % a flush at the device; longest: flush of vda, 9.00ms`.
fn pair_line(pair: &TracedPair) -> String {
    let (total, start) = (human::time(pair.total_ns), human::time(pair.start_ns));
    let longest = pair.longest_request.as_ref().map(request).unwrap_or_default();
    format!("    {total} at {start}, worker {}: {}{longest}", pair.worker, shares(&pair.waits))
}

fn request(request: &TracedRequest) -> String {
    let bytes = request.bytes.map(|bytes| format!(" of {}", human::bytes(bytes)));
    format!(
        "; longest: {}{} at {} for {}, by {}",
        request.operation,
        bytes.unwrap_or_default(),
        request.node,
        human::time(request.at_device_ns),
        request.asked_by
    )
}

fn shares(waits: &Waits) -> String {
    let sum = waits.sum_ns().max(1) as f64;
    let mut parts = waits.parts();
    parts.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
    let named = parts.iter().map(|&(words, ns)| (words, ns as f64 / sum));
    let named = named.filter(|&(_, share)| share >= SHARE_LEAST).take(PARTS_NAMED);
    let named: Vec<String> =
        named.map(|(words, share)| format!("{} {words}", human::share(share))).collect();
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Tail;

    #[test]
    fn the_worst_pairs_say_what_they_waited_for() {
        let waits =
            Waits { flush_ns: 9_000_000, cpu_ns: 200_000, queue_ns: 10_000, ..Waits::default() };
        let trace = Trace {
            clock: "x86-tsc".into(),
            events: 100,
            events_lost: 3,
            pairs: 500,
            all: Waits { write_ns: 70, flush_ns: 30, ..Waits::default() },
            tail: Some(Tail { pairs: 6, at_least_ns: 2_100_000, waits: waits.clone() }),
            worst: vec![TracedPair {
                worker: 2,
                start_ns: 1_520_000_000,
                total_ns: 9_210_000,
                waits,
                longest_request: Some(TracedRequest {
                    node: "vda".into(),
                    operation: "write".into(),
                    bytes: Some(4_096),
                    asked_by: "jbd2/vda-8".into(),
                    at_device_ns: 8_000_000,
                }),
            }],
            devices: Vec::new(),
        };
        let mut lines = Lines::default();
        write(&mut lines, &trace);
        let expected =
            "  traced: 500 pairs: 70.0 % a write at the device, 30.0 % a flush at the device,
    3 events lost: some waits may be wrong
  tail: 6 pairs of 2.10ms and more: 97.7 % a flush at the device, 2.2 % on a CPU
    9.21ms at 1.52s, worker 2: 97.7 % a flush at the device, 2.2 % on a CPU;
      longest: write of 4 KiB at vda for 8.00ms, by jbd2/vda-8
";
        assert_eq!(lines.into_text(), expected);
    }
}
