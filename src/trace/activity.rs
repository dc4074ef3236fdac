//! What the devices and the journal were doing at each moment, and each request's way.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::event::{Event, Operation, Phase, Request, Role, Thread, What};
use super::threads::{State, changes};

/// A device's number, major and minor.
pub type Device = (u32, u32);

/// A request from when the device got it to its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    /// What was asked.
    pub request: Request,
    /// When the device got it.
    pub issued: u64,
    /// When it answered.
    pub completed: u64,
}

/// What is under way at one moment; counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Flushes at a device.
    pub flushes: u32,
    /// Writes at a device that somebody waits for.
    pub writes: u32,
    /// Anything else at a device.
    pub others: u32,
    /// Flushes and writes that somebody waits for, on their way to a device.
    pub queued: u32,
    /// Threads of the kernel that could carry something on and wait for a CPU.
    pub starved: u32,
    /// Commits of the journal.
    pub commits: u32,
}

/// Activity over time.
#[derive(Debug, Default)]
pub struct Activities {
    /// From each tick on, ascending.
    pub steps: Vec<(u64, Activity)>,
    /// Every request that was seen to come and go, in the order of their answers.
    pub flights: Vec<Flight>,
    at_device: HashMap<(Device, bool, u64), VecDeque<(u64, Request)>>,
    /// By whom, by device and sector.
    queued: BTreeMap<(Device, u64), u16>,
    queued_flushes: BTreeMap<Device, u16>,
    starved: HashSet<u32>,
    commits: u32,
    now: Activity,
}

impl Activities {
    /// Follows `events`, ascending in time. `disks` tells the disk of each partition that lies below:
    /// requests are asked of the one and reach the other.
    pub fn of(events: &[Event], disks: &HashMap<Device, Device>) -> Activities {
        let whole = |device: Device| disks.get(&device).copied().unwrap_or(device);
        let issuing: HashSet<Device> = events.iter().filter_map(issued_to).map(whole).collect();
        let mut all = Activities::default();
        for event in events {
            match event.what {
                What::Request(phase, mut request) => {
                    request.device = whole(request.device);
                    // What a mapping device takes, it hands on: it never gets a request of its own.
                    if phase != Phase::Queued || issuing.contains(&request.device) {
                        all.request(event.tick, phase, request);
                    }
                }
                What::Journal(true) => all.commits += 1,
                What::Journal(false) => all.commits = all.commits.saturating_sub(1),
                _ => all.follow_threads(&event.what),
            }
            all.step(event.tick);
        }
        all
    }

    fn request(&mut self, tick: u64, phase: Phase, request: Request) {
        let flush = request.operation == Operation::Flush;
        let key = (request.device, flush, if flush { 0 } else { request.sector });
        match phase {
            Phase::Queued if flush => {
                self.queued_flushes.insert(request.device, request.by);
            }
            Phase::Queued if request.operation == Operation::Write && request.sync => {
                self.queued.insert((request.device, request.sector), request.by);
            }
            Phase::Queued => {}
            Phase::Issued => {
                // Who gives it to the device often does so for another.
                let by = self.leave_queue(&request).unwrap_or(request.by);
                let request = Request { by, ..request };
                *self.count(&request) += 1;
                self.at_device.entry(key).or_default().push_back((tick, request));
            }
            Phase::Completed => {
                let waiting = self.at_device.get_mut(&key).and_then(VecDeque::pop_front);
                // Issued before the trace began.
                let Some((issued, asked)) = waiting else { return };
                let count = self.count(&asked);
                *count = count.saturating_sub(1);
                self.flights.push(Flight { request: asked, issued, completed: tick });
            }
        }
    }

    /// Who queued it. A request may carry several that were merged.
    fn leave_queue(&mut self, request: &Request) -> Option<u16> {
        if request.operation == Operation::Flush {
            return self.queued_flushes.remove(&request.device);
        }
        let from = request.sector;
        let to = from.saturating_add(u64::from(request.sectors.max(1)));
        let covered = self.queued.range((request.device, from)..(request.device, to));
        let covered: Vec<(Device, u64)> = covered.map(|(key, _)| *key).collect();
        let by: Vec<u16> = covered.iter().filter_map(|key| self.queued.remove(key)).collect();
        by.first().copied()
    }

    fn follow_threads(&mut self, what: &What) {
        let kernel = |(thread, _): &(Thread, State)| thread.role == Role::Kernel;
        for (thread, state) in changes(what).into_iter().flatten().filter(kernel) {
            match state {
                State::Runnable => self.starved.insert(thread.tid),
                _ => self.starved.remove(&thread.tid),
            };
        }
    }

    fn count(&mut self, request: &Request) -> &mut u32 {
        match request.operation {
            Operation::Flush => &mut self.now.flushes,
            Operation::Write if request.sync || request.fua => &mut self.now.writes,
            _ => &mut self.now.others,
        }
    }

    fn step(&mut self, tick: u64) {
        self.now.queued = (self.queued.len() + self.queued_flushes.len()) as u32;
        self.now.commits = self.commits;
        self.now.starved = self.starved.len() as u32;
        if self.steps.last().is_none_or(|&(_, last)| last != self.now) {
            self.steps.push((tick, self.now));
        }
    }
}

fn issued_to(event: &Event) -> Option<Device> {
    match event.what {
        What::Request(Phase::Issued, request) => Some(request.device),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOURNAL: Thread = Thread { tid: 230, role: Role::Kernel };
    const DISK: Device = (254, 0);
    const MAPPED: Device = (253, 0);

    fn event(tick: u64, phase: Phase, device: Device, operation: Operation, sector: u64) -> Event {
        let request =
            Request { device, operation, fua: false, sync: true, sector, sectors: 8, by: 0 };
        Event { tick, what: What::Request(phase, request) }
    }

    fn follow(events: &[Event]) -> Activities {
        Activities::of(events, &HashMap::from([((254, 1), DISK)]))
    }

    #[test]
    fn a_flush_is_matched_though_its_answer_names_another_sector() {
        let all = follow(&[
            event(1, Phase::Queued, DISK, Operation::Flush, 0),
            event(5, Phase::Issued, DISK, Operation::Flush, 0),
            event(9, Phase::Completed, DISK, Operation::Flush, u64::MAX),
        ]);
        assert_eq!(all.flights.len(), 1);
        assert_eq!((all.flights[0].issued, all.flights[0].completed), (5, 9));
        let counts: Vec<(u64, u32, u32)> =
            all.steps.iter().map(|&(tick, now)| (tick, now.queued, now.flushes)).collect();
        assert_eq!(counts, [(1, 1, 0), (5, 0, 1), (9, 0, 0)]);
    }

    #[test]
    fn merged_writes_leave_the_queue_together_and_only_they() {
        let mut issue = event(4, Phase::Issued, DISK, Operation::Write, 100);
        if let What::Request(_, request) = &mut issue.what {
            request.sectors = 16;
        }
        let all = follow(&[
            event(1, Phase::Queued, (254, 1), Operation::Write, 100),
            event(2, Phase::Queued, DISK, Operation::Write, 108),
            event(3, Phase::Queued, DISK, Operation::Write, 116),
            issue,
            event(6, Phase::Completed, DISK, Operation::Write, 100),
        ]);
        let queued: Vec<u32> = all.steps.iter().map(|step| step.1.queued).collect();
        assert_eq!(queued, [1, 2, 3, 1, 1]);
        assert_eq!(all.steps.last().unwrap().1.writes, 0);
    }

    #[test]
    fn what_a_mapping_device_takes_is_not_waited_for_there() {
        let all = follow(&[
            event(1, Phase::Queued, MAPPED, Operation::Write, 1),
            event(2, Phase::Queued, DISK, Operation::Write, 100),
            event(3, Phase::Issued, DISK, Operation::Write, 100),
            event(4, Phase::Completed, DISK, Operation::Write, 100),
            event(5, Phase::Completed, DISK, Operation::Write, 777),
        ]);
        assert_eq!(all.steps.last().unwrap().1, Activity::default());
        assert_eq!(
            all.flights.len(),
            1,
            "an answer to what was asked before the trace is nobody's"
        );
    }

    #[test]
    fn a_thread_of_the_kernel_starves_from_its_wake_up_until_it_runs() {
        let other = Thread { tid: 9, role: Role::Other };
        let at = |tick, what| Event { tick, what };
        let all = follow(&[
            at(1, What::Wake(other)),
            at(2, What::Wake(JOURNAL)),
            at(5, What::Switch { from: other, blocked: false, to: JOURNAL }),
            at(7, What::Switch { from: JOURNAL, blocked: false, to: other }),
            at(8, What::Switch { from: other, blocked: true, to: JOURNAL }),
            at(9, What::Switch { from: JOURNAL, blocked: true, to: other }),
        ]);
        let starved: Vec<(u64, u32)> =
            all.steps.iter().map(|&(tick, now)| (tick, now.starved)).collect();
        assert_eq!(starved, [(1, 0), (2, 1), (5, 0), (7, 1), (8, 0)]);
    }

    #[test]
    fn who_queued_a_request_asked_for_it_whoever_gave_it_to_the_device() {
        let by = |event: Event, by| match event.what {
            What::Request(phase, request) => {
                Event { what: What::Request(phase, Request { by, ..request }), ..event }
            }
            _ => event,
        };
        let all = follow(&[
            by(event(1, Phase::Queued, DISK, Operation::Flush, 0), 3),
            by(event(2, Phase::Issued, DISK, Operation::Flush, 0), 4),
            by(event(3, Phase::Completed, DISK, Operation::Flush, 0), 5),
            by(event(4, Phase::Issued, DISK, Operation::Write, 8), 4),
            by(event(5, Phase::Completed, DISK, Operation::Write, 8), 5),
        ]);
        let askers: Vec<u16> = all.flights.iter().map(|flight| flight.request.by).collect();
        assert_eq!(askers, [3, 4]);
    }
}
