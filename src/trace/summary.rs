//! Trace and pairs -> what the record says.

use std::collections::{BTreeMap, HashMap};

use synctail_bench::Percentile;

use super::activity::{Activities, Device, Flight};
use super::event::{Event, Operation};
use super::line::Names;
use super::threads::{States, states};
use super::waits::{Cause, Split, split};
use crate::record::{Tail, Trace, TracedDevice, TracedPair, TracedRequest, Waits};

/// Pairs of the tail that are told one by one.
const WORST: usize = 20;
const SECTOR_BYTES: u64 = 512;

/// A completed pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// From 0.
    pub worker: u64,
    /// Tick of its actual start.
    pub start: u64,
    /// Tick of its end.
    pub end: u64,
}

impl Pair {
    fn ticks(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// What a trace is matched with.
pub struct Run<'a> {
    /// Completed pairs, in any order.
    pub pairs: &'a [Pair],
    /// Tick of the run's common start.
    pub start: u64,
    /// Ticks to nanoseconds.
    pub ns: &'a dyn Fn(u64) -> u64,
    /// Devices below the path, by number.
    pub nodes: &'a HashMap<Device, String>,
    /// The disk of each partition.
    pub disks: &'a HashMap<Device, Device>,
}

/// Matches `events`, ascending in time, with the pairs of `run`. The clock's name and the losses are not
/// known here.
pub fn summary(events: &[Event], names: &Names, run: &Run) -> Trace {
    let activities = Activities::of(events, run.disks);
    let states = states(events);
    let (first, last) = match (events.first(), events.last()) {
        (Some(first), Some(last)) => (first.tick, last.tick),
        _ => (u64::MAX, 0),
    };
    // What ends a pair is an event within the last moments of the trace: a little later is still within.
    let within = |pair: &&Pair| pair.start >= first && pair.start <= last;
    let mut pairs: Vec<Pair> = run.pairs.iter().filter(within).copied().collect();
    pairs.sort_by_key(|pair| (std::cmp::Reverse(pair.ticks()), pair.start));
    let of = |pair: &Pair| split_of(pair, &states, &activities);
    let tail = tail_from(run.pairs);
    let tail = tail.map_or(0, |least| pairs.partition_point(|pair| pair.ticks() >= least));
    let waits = |pairs: &[Pair]| waits(&sum(pairs.iter().map(of)), run.ns);
    Trace {
        clock: String::new(),
        events: events.len() as u64,
        events_lost: 0,
        pairs: pairs.len() as u64,
        all: waits(&pairs),
        tail: (tail > 0).then(|| Tail {
            pairs: tail as u64,
            at_least_ns: (run.ns)(pairs[tail - 1].ticks()),
            waits: waits(&pairs[..tail]),
        }),
        worst: pairs
            .iter()
            .take(WORST)
            .map(|pair| TracedPair {
                worker: pair.worker,
                start_ns: (run.ns)(pair.start.saturating_sub(run.start)),
                total_ns: (run.ns)(pair.ticks()),
                waits: self::waits(&of(pair), run.ns),
                longest_request: longest(pair, &activities, names, run),
            })
            .collect(),
        devices: devices(&activities, &pairs, run),
    }
}

/// The p99 of all pairs, traced or not; nothing where they are too few for it.
fn tail_from(pairs: &[Pair]) -> Option<u64> {
    let mut ticks: Vec<u64> = pairs.iter().map(Pair::ticks).collect();
    ticks.sort_unstable();
    Percentile::P99.of(&ticks)
}

fn split_of(pair: &Pair, states: &States, activities: &Activities) -> Split {
    let states = states.get(&pair.worker).map_or(&[][..], Vec::as_slice);
    split(pair.start, pair.end, states, &activities.steps)
}

fn sum(splits: impl Iterator<Item = Split>) -> Split {
    splits.fold(Split::default(), |mut sum, split| {
        sum.iter_mut().zip(split).for_each(|(sum, ticks)| *sum += ticks);
        sum
    })
}

fn waits(split: &Split, ns: &dyn Fn(u64) -> u64) -> Waits {
    let of = |cause: Cause| ns(split[cause as usize]);
    Waits {
        cpu_ns: of(Cause::Cpu),
        run_queue_ns: of(Cause::RunQueue),
        throttled_ns: of(Cause::Throttled),
        flush_ns: of(Cause::Flush),
        write_ns: of(Cause::Write),
        other_requests_ns: of(Cause::OtherRequests),
        kernel_run_queue_ns: of(Cause::KernelRunQueue),
        queue_ns: of(Cause::Queue),
        journal_ns: of(Cause::Journal),
        unseen_ns: of(Cause::Unseen),
    }
}

/// The request that a device of the path had for the longest within the pair.
fn longest(pair: &Pair, all: &Activities, names: &Names, run: &Run) -> Option<TracedRequest> {
    let from = all.flights.partition_point(|flight| flight.completed <= pair.start);
    let shared = |flight: &Flight| {
        flight.completed.min(pair.end).saturating_sub(flight.issued.max(pair.start))
    };
    // In the order of answers: what was answered long after the pair's end began after it, or else is as
    // long as what is looked for.
    let during = all.flights[from..].iter().filter(|flight| flight.issued < pair.end);
    let during = during.filter(|flight| run.nodes.contains_key(&flight.request.device));
    let flight = during.max_by_key(|flight| shared(flight)).filter(|flight| shared(flight) > 0)?;
    let request = &flight.request;
    let bytes = u64::from(request.sectors) * SECTOR_BYTES;
    Some(TracedRequest {
        node: run.nodes[&request.device].clone(),
        operation: request.operation.name().to_owned(),
        bytes: (bytes > 0).then_some(bytes),
        asked_by: names.get(request.by).to_owned(),
        at_device_ns: (run.ns)(flight.completed - flight.issued),
    })
}

/// Requests that were answered within the traced pairs' time.
fn devices(all: &Activities, pairs: &[Pair], run: &Run) -> Vec<TracedDevice> {
    let first = pairs.iter().map(|pair| pair.start).min().unwrap_or(u64::MAX);
    let last = pairs.iter().map(|pair| pair.end).max().unwrap_or(0);
    let mut found: BTreeMap<&str, TracedDevice> = BTreeMap::new();
    for flight in all.flights.iter().filter(|f| f.issued >= first && f.completed <= last) {
        let Some(node) = run.nodes.get(&flight.request.device) else { continue };
        let device = found.entry(node).or_default();
        match flight.request.operation {
            Operation::Flush => device.flushes += 1,
            Operation::Write if flight.request.fua => device.fua_writes += 1,
            Operation::Write => device.writes += 1,
            Operation::Other => {}
        }
    }
    let named = |(node, device): (&str, TracedDevice)| TracedDevice { node: node.into(), ..device };
    found.into_iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::event::{Phase, Request, Role, Thread, What};

    const DISK: Device = (254, 0);
    const WORKER: Thread = Thread { tid: 7, role: Role::Worker(0) };
    const OTHER: Thread = Thread { tid: 8, role: Role::Other };

    fn flush(tick: u64, phase: Phase) -> Event {
        let request = Request {
            device: DISK,
            operation: Operation::Flush,
            fua: false,
            sync: true,
            sector: 0,
            sectors: 0,
            by: 0,
        };
        Event { tick, what: What::Request(phase, request) }
    }

    /// A pair of 100 ticks from `start` on, of which a flush takes `flush_ticks` and the rest the CPU.
    fn pair_events(start: u64, flush_ticks: u64) -> Vec<Event> {
        let asleep = start + 10;
        vec![
            flush(asleep, Phase::Issued),
            Event { tick: asleep, what: What::Switch { from: WORKER, blocked: true, to: OTHER } },
            flush(asleep + flush_ticks, Phase::Completed),
            Event { tick: asleep + flush_ticks, what: What::Wake(WORKER) },
            Event {
                tick: asleep + flush_ticks,
                what: What::Switch { from: OTHER, blocked: false, to: WORKER },
            },
        ]
    }

    fn summarised(pairs: &[Pair], events: &[Event]) -> Trace {
        let nodes = HashMap::from([(DISK, "vda".to_owned())]);
        let disks = HashMap::new();
        let ns = |ticks: u64| ticks * 10;
        let run = Run { pairs, start: 1_000, ns: &ns, nodes: &nodes, disks: &disks };
        summary(events, &Names::default(), &run)
    }

    #[test]
    fn the_tail_is_split_apart_from_the_rest() {
        let mut events = Vec::new();
        let mut pairs = Vec::new();
        for number in 0..200 {
            let start = 1_000 + number * 1_000;
            let flush_ticks = if number == 150 { 700 } else { 40 };
            events.extend(pair_events(start, flush_ticks));
            pairs.push(Pair { worker: 0, start, end: start + 60 + flush_ticks });
        }
        let trace = summarised(&pairs, &events);
        assert_eq!((trace.pairs, trace.worst.len()), (199, 20), "the first began before the trace");
        let tail = trace.tail.unwrap();
        assert_eq!(tail.at_least_ns, 1_000, "p99 of 200 is a pair of 100 ticks");
        let worst = &trace.worst[0];
        assert_eq!((worst.total_ns, worst.start_ns), (7_600, 1_500_000));
        assert_eq!((worst.waits.flush_ns, worst.waits.cpu_ns), (7_000, 600));
        let request = worst.longest_request.as_ref().unwrap();
        assert_eq!(
            (request.node.as_str(), request.at_device_ns, request.bytes),
            ("vda", 7_000, None)
        );
        assert_eq!(trace.devices[0].flushes, 199);
        assert_eq!(trace.all.flush_ns, 198 * 400 + 7_000);
    }

    #[test]
    fn without_events_or_pairs_nothing_is_claimed() {
        let none = summarised(&[Pair { worker: 0, start: 5, end: 9 }], &[]);
        assert_eq!((none.pairs, none.tail, none.worst.len()), (0, None, 0));
        let none = summarised(&[], &pair_events(1_000, 40));
        assert_eq!((none.pairs, none.devices.len()), (0, 0));
    }
}
