//! What each worker was doing at each moment: its own thread and, for a ring, those of its pool.

use std::collections::{BTreeMap, HashMap};

use super::event::{Event, Role, Thread, What};

/// A worker's state; of several threads the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// None of its threads can go on.
    Blocked,
    /// The kernel makes it pause because too much was dirty.
    Throttled,
    /// One could go on and waits for a CPU.
    Runnable,
    /// One is on a CPU.
    Running,
}

/// Each worker's state from each tick on, ascending.
pub type States = BTreeMap<u64, Vec<(u64, State)>>;

/// Follows `events`, ascending in time.
pub fn states(events: &[Event]) -> States {
    let workers = workers(events);
    let mut threads: HashMap<u64, BTreeMap<u32, State>> = HashMap::new();
    let mut all = States::new();
    for event in events {
        for (thread, state) in changes(&event.what).into_iter().flatten() {
            let Some(worker) = worker_of(thread, &workers) else { continue };
            let own = threads.entry(worker).or_default();
            let pausing = own.get(&thread.tid) == Some(&State::Throttled);
            let state = if pausing && state == State::Blocked { State::Throttled } else { state };
            own.insert(thread.tid, state);
            let whole = own.values().copied().max().unwrap_or(State::Blocked);
            let steps = all.entry(worker).or_default();
            if steps.last().is_none_or(|&(_, last)| last != whole) {
                steps.push((event.tick, whole));
            }
        }
    }
    all
}

/// The worker of each thread that bears a worker's name.
fn workers(events: &[Event]) -> HashMap<u32, u64> {
    let named = |thread: Thread| match thread.role {
        Role::Worker(worker) => Some((thread.tid, worker)),
        Role::Pool(_) | Role::Kernel | Role::Other => None,
    };
    let threads = events.iter().flat_map(|event| changes(&event.what)).flatten();
    threads.filter_map(|(thread, _)| named(thread)).collect()
}

fn worker_of(thread: Thread, workers: &HashMap<u32, u64>) -> Option<u64> {
    match thread.role {
        Role::Worker(worker) => Some(worker),
        Role::Pool(owner) => workers.get(&owner).copied(),
        Role::Kernel | Role::Other => None,
    }
}

/// The threads whose state an event changes.
pub fn changes(what: &What) -> [Option<(Thread, State)>; 2] {
    match *what {
        What::Switch { from, blocked, to } => {
            let left = if blocked { State::Blocked } else { State::Runnable };
            [Some((from, left)), Some((to, State::Running))]
        }
        What::Wake(thread) => [Some((thread, State::Runnable)), None],
        What::Throttled(thread) => [Some((thread, State::Throttled)), None],
        What::Request(..) | What::Journal(_) => [None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(tid: u32, role: Role) -> Thread {
        Thread { tid, role }
    }

    fn switch(tick: u64, from: Thread, blocked: bool, to: Thread) -> Event {
        Event { tick, what: What::Switch { from, blocked, to } }
    }

    const IDLE: Thread = Thread { tid: 0, role: Role::Other };

    #[test]
    fn a_worker_runs_waits_and_waits_for_a_cpu() {
        let worker = thread(7, Role::Worker(0));
        let events = [
            switch(10, worker, true, IDLE),
            Event { tick: 20, what: What::Wake(worker) },
            switch(25, IDLE, false, worker),
            switch(30, worker, false, thread(9, Role::Other)),
            Event { tick: 35, what: What::Wake(thread(9, Role::Other)) },
        ];
        let states = states(&events);
        let expected = [
            (10, State::Blocked),
            (20, State::Runnable),
            (25, State::Running),
            (30, State::Runnable),
        ];
        assert_eq!(states[&0], expected);
        assert_eq!(states.len(), 1);
    }

    #[test]
    fn a_rings_pool_works_for_its_owner() {
        let (worker, pool) = (thread(7, Role::Worker(3)), thread(8, Role::Pool(7)));
        let events = [
            Event { tick: 5, what: What::Wake(pool) },
            switch(10, worker, true, pool),
            switch(20, pool, true, IDLE),
            switch(30, IDLE, false, thread(50, Role::Pool(49))),
        ];
        let found = states(&events);
        // The owner sleeps at 10 while its pool runs: the worker as a whole is at work until 20.
        assert_eq!(found[&3], [(5, State::Runnable), (10, State::Running), (20, State::Blocked)]);
        assert_eq!(found.len(), 1, "another ring's pool is none of ours");
    }

    #[test]
    fn a_pause_for_dirty_pages_is_told_from_other_waits() {
        let worker = thread(7, Role::Worker(0));
        let events = [
            switch(1, IDLE, false, worker),
            Event { tick: 5, what: What::Throttled(worker) },
            switch(6, worker, true, IDLE),
            switch(9, IDLE, false, worker),
            switch(12, worker, true, IDLE),
        ];
        let expected =
            [(1, State::Running), (5, State::Throttled), (9, State::Running), (12, State::Blocked)];
        assert_eq!(states(&events)[&0], expected);
    }
}
