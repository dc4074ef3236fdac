//! What the script says about the operation at hand: its delay and its fault.

use std::sync::{Mutex, PoisonError};

use crate::draw::{bimodal_ns, generator, lognormal_ns};
use crate::script::{Effect, Rules, Stall};

/// Rules of one kind with what they have seen.
#[derive(Debug)]
pub struct Schedule {
    rules: Rules,
    seed: u64,
    kind: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    count: u64,
    /// Per fault, the operations that it counted.
    counted: Vec<u64>,
    stalls: Stalls,
}

#[derive(Debug, Default)]
struct Stalls {
    /// When the next stall may begin; nothing before the first operation.
    due_ns: Option<u64>,
    ends_ns: u64,
}

/// What happens to one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// It returns no earlier than this long after its arrival.
    pub delay_ns: u64,
    /// Instead of success.
    pub effect: Option<Effect>,
}

impl Decision {
    /// At once and with success.
    pub const PLAIN: Decision = Decision { delay_ns: 0, effect: None };
}

impl Schedule {
    /// A schedule that has seen nothing; `kind` tells its draws from those of other kinds.
    pub fn new(rules: Rules, seed: u64, kind: u64) -> Schedule {
        let counted = vec![0; rules.faults.len()];
        let state = Mutex::new(State { count: 0, counted, stalls: Stalls::default() });
        Schedule { rules, seed, kind, state }
    }

    /// Counts an operation on `file` that arrived at `now_ns`.
    pub fn decide(&self, file: &str, now_ns: u64) -> Decision {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let n = state.count;
        state.count += 1;
        let stall = self.rules.stall.map_or(0, |stall| state.stalls.left_ns(&stall, now_ns));
        let effect = self.effect(&mut state.counted, file);
        drop(state);
        Decision { delay_ns: self.delay_ns(n).max(stall), effect }
    }

    /// Every fault counts, also where another one has already struck.
    fn effect(&self, counted: &mut [u64], file: &str) -> Option<Effect> {
        let mut effect = None;
        for (fault, seen) in self.rules.faults.iter().zip(counted) {
            if !file.starts_with(&fault.file) {
                continue;
            }
            *seen += 1;
            if (fault.at..fault.at.saturating_add(fault.times)).contains(seen) {
                effect = effect.or(Some(fault.effect));
            }
        }
        effect
    }

    fn delay_ns(&self, n: u64) -> u64 {
        let rules = &self.rules;
        if let Some(listed) = rules.delays.get(n as usize) {
            return listed.0;
        }
        let mut rng = generator(self.seed, self.kind, n);
        match (&rules.lognormal, &rules.bimodal) {
            (Some(shape), _) => lognormal_ns(shape, &mut rng),
            (_, Some(shape)) => bimodal_ns(shape, &mut rng),
            _ => rules.delay.map_or(0, |delay| delay.0),
        }
    }
}

impl Stalls {
    /// How much of a stall is left for an operation that arrives at `now_ns`.
    fn left_ns(&mut self, stall: &Stall, now_ns: u64) -> u64 {
        let due = *self.due_ns.get_or_insert(now_ns + stall.every.0);
        if now_ns >= due {
            self.ends_ns = now_ns + stall.lasts.0;
            let missed = (now_ns - due) / stall.every.0;
            self.due_ns = Some(due + (missed + 1) * stall.every.0);
        }
        self.ends_ns.saturating_sub(now_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{ErrorName, Script};

    fn schedule(fsync: &str) -> Schedule {
        Schedule::new(Script::parse(&format!("[fsync]\n{fsync}")).unwrap().fsync, 5, 0)
    }

    fn delays(schedule: &Schedule, arrivals_ms: &[u64]) -> Vec<u64> {
        let delay = |ms| schedule.decide("w", ms * 1_000_000).delay_ns / 1_000_000;
        arrivals_ms.iter().map(|&ms| delay(ms)).collect()
    }

    #[test]
    fn listed_delays_come_first_and_then_the_fixed_one() {
        let schedule = schedule("delays = ['3ms', '0ms', '7ms']\ndelay = '1ms'");
        assert_eq!(delays(&schedule, &[0; 5]), [3, 0, 7, 1, 1]);
    }

    #[test]
    fn drawn_delays_are_the_same_for_the_same_seed() {
        let drawn = || {
            let schedule = schedule("lognormal = { median = '5ms', sigma = 1.0 }");
            (0..50).map(|_| schedule.decide("w", 0).delay_ns).collect::<Vec<u64>>()
        };
        assert_eq!(drawn(), drawn());
        assert!(drawn().iter().any(|&ns| ns != drawn()[0]));
    }

    #[test]
    fn a_stall_holds_everything_that_arrives_while_it_lasts() {
        let schedule = schedule("stall = { lasts = '30ms', every = '100ms' }\ndelay = '1ms'");
        // Due at 110 and 210; the second comes late, and the third keeps its place at 310.
        let arrivals = [10, 50, 109, 115, 125, 144, 146, 260, 275, 309, 311];
        assert_eq!(delays(&schedule, &arrivals), [1, 1, 1, 30, 20, 1, 1, 30, 15, 1, 30]);
    }

    #[test]
    fn a_stall_that_is_missed_altogether_is_not_made_up_for() {
        let schedule = schedule("stall = { lasts = '30ms', every = '100ms' }");
        assert_eq!(delays(&schedule, &[0, 1_050, 1_081, 1_099, 1_101]), [0, 30, 0, 0, 30]);
    }

    #[test]
    fn faults_count_the_files_they_name() {
        let schedule = schedule(
            "faults = [{ at = 2, error = 'EIO' }, { at = 1, times = 2, file = 'w1', error = 'EINTR' }]",
        );
        let names = ["w0-a", "w0-b", "w1-a", "w0-c", "w1-b", "w1-c"];
        let effects: Vec<_> = names.iter().map(|name| schedule.decide(name, 0).effect).collect();
        let error = |name| Some(Effect::Error(ErrorName::parse(name).unwrap()));
        let (eio, eintr) = (error("EIO"), error("EINTR"));
        assert_eq!(effects, [None, eio, eintr, None, eintr, None]);
    }
}
