//! How far a qualification has come: saved after each round.

use serde::{Deserialize, Serialize};

use super::health::Health;
use super::spec::{Otherwise, Spec, Step};
use super::steady::{Steadiness, steadiness};
use super::target::Target;
use crate::load::Mix;
use crate::refusal::Refusal;

const SCHEMA: &str = "synctail.qualification-state/1";

/// What a later process needs to go on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    schema: String,
    /// Of the spec and what it refers to.
    pub spec_sha256: String,
    /// Who is qualified.
    pub target: Target,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// How often it was continued.
    pub resumed: u64,
    /// Before the first step.
    pub health_before: Vec<Health>,
    /// Finished rounds, in their order.
    pub rounds: Vec<Round>,
}

/// A finished round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Name of the step.
    pub step: String,
    /// What worked beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Mix>,
    /// From 1, of each step and load.
    pub number: u64,
    /// The record, relative to the folder.
    pub file: String,
    /// Of the record's bytes.
    pub sha256: String,
    /// Of `check`.
    pub exit_code: i32,
    /// Of the whole command.
    pub took_ns: u64,
    /// The worst worker's p99, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
}

/// A round that is still to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// What works beside it.
    pub load: Option<Mix>,
    /// From 1.
    pub number: u64,
}

impl State {
    /// Nothing done yet.
    pub fn new(spec: &Spec, target: Target, started_at: String, health: Vec<Health>) -> State {
        State {
            schema: SCHEMA.to_owned(),
            spec_sha256: spec.sha256.clone(),
            target,
            started_at,
            resumed: 0,
            health_before: health,
            rounds: Vec::new(),
        }
    }

    /// Another process goes on.
    pub fn resumed(mut self) -> State {
        self.resumed += 1;
        self
    }

    /// Whether it may go on with this spec on this target.
    ///
    /// # Errors
    /// What has changed.
    pub fn may_continue(&self, spec: &Spec, target: &Target) -> Result<(), Refusal> {
        let mut changed = self.target.differences(target);
        if self.schema != SCHEMA {
            changed.push(format!("the state is of another version ({})", self.schema));
        }
        if self.spec_sha256 != spec.sha256 {
            changed.push("the spec or a record that it refers to has changed".to_owned());
        }
        if changed.is_empty() {
            return Ok(());
        }
        let text = format!("--resume: {}", changed.join("; "));
        Err(Refusal::cannot("prepare", "resume", text, "begin anew with another --state"))
    }

    /// The finished rounds of a step under a load, in order.
    pub fn rounds_of(&self, step: &Step, load: Option<Mix>) -> Vec<&Round> {
        let of = |round: &&Round| round.step == step.name && round.load == load;
        self.rounds.iter().filter(of).collect()
    }

    /// Whether the rounds of a step are steady; nothing where that was not asked, or is too early to say.
    pub fn steadiness(&self, step: &Step, load: Option<Mix>) -> Option<Steadiness> {
        let figures: Option<Vec<u64>> =
            self.rounds_of(step, load).iter().map(|round| round.p99_ns).collect();
        steadiness(&figures?, step.steady.as_ref()?)
    }

    /// The next round of a step; nothing where it is finished.
    pub fn due(&self, step: &Step) -> Option<Due> {
        let most = step.steady.map_or(step.repeats.unwrap_or(1), |steady| steady.rounds_max);
        let reached = |load| self.steadiness(step, load).is_some_and(|steady| steady.reached);
        let done = |load| self.rounds_of(step, load).len() as u64;
        let variants = step.variants();
        // A round that lacks one of its variants is finished first, so that both have as many.
        let number = variants.iter().map(|&load| done(load)).min().unwrap_or(0) + 1;
        let complete = variants.iter().all(|&load| done(load) == number - 1);
        if number > most || complete && variants.iter().all(|&load| reached(load)) {
            return None;
        }
        let load = variants.into_iter().find(|&load| done(load) < number)?;
        Some(Due { load, number })
    }

    /// Whether nothing may follow this step.
    pub fn stops_at(&self, step: &Step) -> bool {
        let stop = step.steady.is_some_and(|steady| steady.otherwise == Otherwise::Stop);
        let steady = |load| self.steadiness(step, load).is_some_and(|steady| steady.reached);
        stop && self.due(step).is_none() && !step.variants().into_iter().all(steady)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(text: &str) -> Step {
        toml::from_str(&format!("name = 'a'\n{text}")).unwrap()
    }

    /// Does rounds of these figures until the step is finished, and says how many of each load.
    fn finish(step: &Step, figure: impl Fn(u64) -> u64) -> (State, Vec<usize>) {
        let mut state = State {
            schema: SCHEMA.to_owned(),
            spec_sha256: String::new(),
            target: Target::default(),
            started_at: String::new(),
            resumed: 0,
            health_before: Vec::new(),
            rounds: Vec::new(),
        };
        while let Some(Due { load, number }) = state.due(step) {
            state.rounds.push(Round {
                step: step.name.clone(),
                load,
                number,
                file: String::new(),
                sha256: String::new(),
                exit_code: 0,
                took_ns: 1,
                p99_ns: Some(figure(number)),
            });
        }
        let variants = step.variants().into_iter();
        let counts = variants.map(|load| state.rounds_of(step, load).len()).collect();
        (state, counts)
    }

    #[test]
    fn rounds_are_repeated_as_asked_and_alternate_with_the_load() {
        assert_eq!(finish(&step(""), |_| 1).1, [1]);
        let (state, counts) = finish(&step("repeats = 3\nload = 'mixed'"), |_| 1);
        assert_eq!(counts, [3, 3]);
        let loads: Vec<bool> = state.rounds.iter().map(|round| round.load.is_some()).collect();
        assert_eq!(loads, [false, true, false, true, false, true]);
    }

    #[test]
    fn steady_rounds_end_early_and_others_at_their_bound() {
        let asked = step("load = 'mixed'\nsteady = { rounds_max = 9, otherwise = 'stop' }");
        let (state, counts) = finish(&asked, |_| 100);
        assert_eq!((counts, state.stops_at(&asked)), (vec![5, 5], false));
        let (state, counts) = finish(&asked, |number| if number < 3 { 200 } else { 100 });
        assert_eq!((counts, state.stops_at(&asked)), (vec![7, 7], false));
        let (state, counts) = finish(&asked, |number| number * 100);
        assert_eq!((counts, state.stops_at(&asked)), (vec![9, 9], true));
        let goes_on = step("steady = { rounds_max = 9, otherwise = 'continue' }");
        assert!(!finish(&goes_on, |number| number * 100).0.stops_at(&goes_on));
    }
}
