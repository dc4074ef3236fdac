//! Where the time of one pair went.

use super::activity::Activity;
use super::threads::State;

/// What a moment of a pair was spent on. Where several hold, the first of this order counts: a thread that
/// can run is not waiting for a device, and a flush is what a pair waits for longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// On a CPU.
    Cpu,
    /// Ready, and another had the CPU.
    RunQueue,
    /// Paused by the kernel because too much was dirty.
    Throttled,
    /// A flush was at a device.
    Flush,
    /// A write that somebody waits for was at a device.
    Write,
    /// A flush or a write was on its way while a device was busy with others' requests.
    OtherRequests,
    /// A thread of the kernel that carries things on was ready, and another had the CPU.
    KernelRunQueue,
    /// A flush or a write was on its way and no device had anything.
    Queue,
    /// The journal was committing.
    Journal,
    /// Nothing that the trace shows.
    Unseen,
}

impl Cause {
    /// All of them, in the order of [`Split`].
    pub const ALL: [Cause; 10] = [
        Cause::Cpu,
        Cause::RunQueue,
        Cause::Throttled,
        Cause::Flush,
        Cause::Write,
        Cause::OtherRequests,
        Cause::KernelRunQueue,
        Cause::Queue,
        Cause::Journal,
        Cause::Unseen,
    ];

    fn of(state: State, activity: &Activity) -> Cause {
        match state {
            State::Running => Cause::Cpu,
            State::Runnable => Cause::RunQueue,
            State::Throttled => Cause::Throttled,
            State::Blocked if activity.flushes > 0 => Cause::Flush,
            State::Blocked if activity.writes > 0 => Cause::Write,
            State::Blocked if activity.queued > 0 && activity.others > 0 => Cause::OtherRequests,
            State::Blocked if activity.starved > 0 => Cause::KernelRunQueue,
            State::Blocked if activity.queued > 0 => Cause::Queue,
            State::Blocked if activity.commits > 0 => Cause::Journal,
            State::Blocked => Cause::Unseen,
        }
    }
}

/// Ticks by cause, in the order of [`Cause::ALL`].
pub type Split = [u64; Cause::ALL.len()];

/// Splits the time from `start` to `end` of a worker whose `states` and whose devices' `activities` are
/// known from each tick on, both ascending. Before the first of them the worker runs and nothing is under
/// way: it has just read the clock.
pub fn split(
    start: u64,
    end: u64,
    states: &[(u64, State)],
    activities: &[(u64, Activity)],
) -> Split {
    let mut parts = Split::default();
    let (mut s, mut a) = (next_after(states, start), next_after(activities, start));
    // The worker itself read the clock at the start: whatever was last seen of it, it runs.
    let mut state = State::Running;
    let mut activity = a.checked_sub(1).map_or_else(Activity::default, |last| activities[last].1);
    let mut now = start;
    while now < end {
        let ahead = [states.get(s).map(|step| step.0), activities.get(a).map(|step| step.0)];
        let next = ahead.into_iter().flatten().min().unwrap_or(end).min(end);
        parts[Cause::of(state, &activity) as usize] += next - now;
        now = next;
        while let Some(step) = states.get(s).filter(|step| step.0 <= now) {
            state = step.1;
            s += 1;
        }
        while let Some(step) = activities.get(a).filter(|step| step.0 <= now) {
            activity = step.1;
            a += 1;
        }
    }
    parts
}

fn next_after<T>(steps: &[(u64, T)], tick: u64) -> usize {
    steps.partition_point(|step| step.0 <= tick)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(split: &Split, cause: Cause) -> u64 {
        split[cause as usize]
    }

    #[test]
    fn the_order_of_all_is_that_of_the_places() {
        for (place, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, place);
        }
    }

    #[test]
    fn every_tick_has_one_cause_and_all_sum_up() {
        let states = [
            (90, State::Blocked),
            (110, State::Blocked),
            (180, State::Runnable),
            (190, State::Running),
            (195, State::Throttled),
        ];
        let flush = Activity { flushes: 1, writes: 1, ..Activity::default() };
        let write = Activity { writes: 1, commits: 1, ..Activity::default() };
        let queued = Activity { queued: 1, ..Activity::default() };
        let behind = Activity { queued: 1, others: 3, ..Activity::default() };
        let commit = Activity { commits: 1, others: 1, ..Activity::default() };
        let activities = [
            (120, queued),
            (125, behind),
            (130, flush),
            (150, write),
            (160, commit),
            (170, Activity::default()),
        ];
        let parts = split(100, 200, &states, &activities);
        assert_eq!(parts.iter().sum::<u64>(), 100);
        assert_eq!(ticks(&parts, Cause::Cpu), 10 + 5, "it runs until it is seen to block");
        assert_eq!(ticks(&parts, Cause::Unseen), 10 + 10);
        assert_eq!(ticks(&parts, Cause::Queue), 5);
        assert_eq!(ticks(&parts, Cause::OtherRequests), 5);
        assert_eq!(ticks(&parts, Cause::Flush), 20);
        assert_eq!(ticks(&parts, Cause::Write), 10);
        assert_eq!(ticks(&parts, Cause::Journal), 10);
        assert_eq!(ticks(&parts, Cause::RunQueue), 10);
        assert_eq!(ticks(&parts, Cause::Throttled), 5);
    }

    #[test]
    fn what_began_before_the_pair_is_still_under_way() {
        let busy = Activity { flushes: 1, ..Activity::default() };
        let parts = split(100, 140, &[(110, State::Blocked)], &[(50, busy)]);
        assert_eq!((ticks(&parts, Cause::Cpu), ticks(&parts, Cause::Flush)), (10, 30));
        assert_eq!(split(5, 5, &[], &[]), Split::default());
        assert_eq!(ticks(&split(5, 9, &[], &[]), Cause::Cpu), 4);
    }
}
