//! The scripted ring: behaves as the kernel does with linked, quiet and failing requests.

use std::collections::VecDeque;

use synctail_sys::{CallResult, Completion, Part, Place};

use super::target::Tape;
use super::{BLOCK_BYTES, FakeClock, Hold, Pair, Step};
use crate::Fault;
use crate::device::{RingDevice, Segments};

/// How the storage takes chains that are in flight together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// All at once, each in its own time.
    Parallel,
    /// One after the other, in order of submission.
    Queue,
}

#[derive(Clone, Copy, Debug)]
enum Request {
    Write { slot: u32, link: bool, quiet: bool },
    Barrier { slot: u32 },
}

#[derive(Clone, Debug)]
struct Flight {
    due: u64,
    completion: Completion,
    hold: Option<Hold>,
    is_last: bool,
}

/// Plays a script as chains on a ring.
#[derive(Debug)]
pub struct FakeRing<'a, F> {
    tape: Tape<'a, F>,
    service: Service,
    /// By slot: the chain in flight.
    chains: Vec<Option<Step>>,
    queued: VecDeque<Request>,
    flights: Vec<Flight>,
    /// Ticks of signals that have not come yet.
    interrupts: Vec<u64>,
    posted: VecDeque<Completion>,
    free_at: u64,
    enters: u64,
}

/// What becomes of a request whose link broke.
const CANCELED: CallResult = CallResult(-125);

impl<'a, F: Fn(Pair) -> Step> FakeRing<'a, F> {
    pub(super) fn new(tape: Tape<'a, F>, depth: u32, service: Service) -> Self {
        FakeRing {
            tape,
            service,
            chains: vec![None; depth as usize],
            queued: VecDeque::new(),
            flights: Vec::new(),
            interrupts: Vec::new(),
            posted: VecDeque::new(),
            free_at: 0,
            enters: 0,
        }
    }

    fn step_of(&self, slot: u32) -> Step {
        self.chains[slot as usize].clone().expect("a barrier belongs to a chain in flight")
    }

    fn fly(&mut self, due: u64, slot: u32, part: Part, result: CallResult, hold: Option<Hold>) {
        let completion = Completion { slot, part, result };
        // A stray completion is not given a slot here, so it frees none.
        self.flights.push(Flight { due, completion, hold, is_last: false });
    }

    /// The flight that was added last ends its chain.
    fn mark_last(&mut self) {
        if let Some(flight) = self.flights.last_mut() {
            flight.is_last = true;
        }
    }

    fn begin(&self) -> u64 {
        match self.service {
            Service::Parallel => FakeClock::now(),
            Service::Queue => FakeClock::now().max(self.free_at),
        }
    }

    fn submit_write(&mut self, slot: u32, link: bool, quiet: bool) {
        let step = self.step_of(slot);
        let begin = self.begin();
        let written_at = begin + step.write_ns;
        self.interrupts.extend(step.interrupt_ns.map(|ns| begin + ns));
        if let Some(Completion { slot, part, result }) = step.stray {
            self.fly(written_at, slot, part, result, None);
        }
        let is_full = step.write.is_full(BLOCK_BYTES as usize);
        if !(link && quiet && is_full) {
            let is_whole_pair = !link && !self.tape.barrier_follows();
            let hold = step.hold.clone().filter(|_| is_whole_pair);
            self.fly(written_at, slot, Part::Write, step.write, hold);
        }
        self.free_at = written_at;
        if link {
            let Some(Request::Barrier { slot: linked }) = self.queued.pop_front() else {
                panic!("a linked write of slot {slot} without its barrier")
            };
            assert_eq!(linked, slot, "a write is linked to another slot's barrier");
            if is_full {
                self.free_at = written_at + step.barrier_ns;
                self.fly(self.free_at, slot, Part::Barrier, step.barrier, step.hold);
            } else if !quiet {
                self.fly(written_at, slot, Part::Barrier, CANCELED, step.hold);
            }
        }
        if link || !self.tape.barrier_follows() {
            self.mark_last();
        }
    }

    fn submit_barrier(&mut self, slot: u32) {
        let step = self.step_of(slot);
        self.free_at = self.begin() + step.barrier_ns;
        self.fly(self.free_at, slot, Part::Barrier, step.barrier, step.hold);
        self.mark_last();
    }

    /// Posts what is due, in order of time and, at one moment, of submission.
    fn post(&mut self) {
        self.flights.sort_by_key(|flight| flight.due);
        let due = self.flights.partition_point(|flight| flight.due <= FakeClock::now());
        for flight in self.flights.drain(..due) {
            flight.hold.iter().for_each(Hold::block);
            if flight.is_last {
                self.chains[flight.completion.slot as usize] = None;
            }
            self.posted.push_back(flight.completion);
        }
    }

    /// The first signal before `tick`.
    fn take_interrupt(&mut self, tick: u64) -> Option<u64> {
        self.interrupts.retain(|&at| at >= FakeClock::now());
        let (index, _) = self.interrupts.iter().enumerate().min_by_key(|(_, at)| **at)?;
        (self.interrupts[index] < tick).then(|| self.interrupts.swap_remove(index))
    }
}

impl<F: Fn(Pair) -> Step> RingDevice for FakeRing<'_, F> {
    fn push_write(&mut self, slot: u32, _place: Place, dsync: bool, link: bool, quiet: bool) {
        assert!(link || !quiet, "only a linked write can be quiet");
        let step = self.tape.next_step();
        self.tape.count(|counts| {
            counts.writes += 1;
            counts.dsyncs += u64::from(dsync);
        });
        step.turn_clock_back();
        let chain = self.chains[slot as usize].replace(step);
        assert!(chain.is_none(), "slot {slot} is used while it is in flight");
        self.queued.push_back(Request::Write { slot, link, quiet });
    }

    fn push_barrier(&mut self, slot: u32, datasync: bool) {
        self.tape.count(|counts| {
            counts.barriers += 1;
            counts.datasyncs += u64::from(datasync);
        });
        self.queued.push_back(Request::Barrier { slot });
    }

    fn enter(&mut self, wanted: u32) -> CallResult {
        self.enter_until(wanted, u64::MAX)
    }

    fn enter_for(&mut self, wanted: u32, patience_ns: u64) -> CallResult {
        self.enter_until(wanted, FakeClock::now() + patience_ns)
    }

    fn ready(&mut self) -> u32 {
        self.posted.len() as u32
    }

    fn take(&mut self) -> Option<Completion> {
        self.posted.pop_front()
    }

    fn enters(&self) -> u64 {
        self.enters
    }
}

impl<F: Fn(Pair) -> Step> FakeRing<'_, F> {
    fn enter_until(&mut self, wanted: u32, until: u64) -> CallResult {
        self.enters += 1;
        let refused = self.chains.iter().flatten().find(|step| step.enter.errno().is_some());
        if let Some(step) = refused {
            return step.enter;
        }
        while let Some(request) = self.queued.pop_front() {
            match request {
                Request::Write { slot, link, quiet } => self.submit_write(slot, link, quiet),
                Request::Barrier { slot } => self.submit_barrier(slot),
            }
        }
        self.post();
        while self.ready() < wanted {
            let due = self.flights.iter().map(|flight| flight.due).min();
            let due =
                due.expect("more completions are waited for than can come: a ring would hang");
            let interrupt = self.take_interrupt(due.min(until));
            FakeClock::advance_to(interrupt.unwrap_or(due).min(until));
            self.post();
            if interrupt.is_some() || FakeClock::now() >= until {
                break;
            }
        }
        CallResult(0)
    }
}

impl<F: Fn(Pair) -> Step> Segments for FakeRing<'_, F> {
    fn next_segment(&mut self) -> Result<(), Fault> {
        assert!(self.flights.is_empty(), "the file changes under a request in flight");
        self.tape.next_segment()
    }

    fn segments(&self) -> u64 {
        self.tape.segments
    }
}
