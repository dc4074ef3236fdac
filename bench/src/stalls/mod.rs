//! Stalls: when pairs took far longer than usual, and whether there is a beat in it.
//!
//! [`events`] finds them, all workers together. [`beat`] looks for the period that most of them keep, and
//! [`chance`] says how often stalls at random moments would look as regular. Everything follows from the
//! samples; no setting of the system is known here. docs/statistics.md explains the method.

mod beat;
mod chance;
mod events;
#[cfg(test)]
mod tests;

pub use events::Stall;

use beat::{Beat, Search};
use events::{Usual, longer_than, merged};

/// The shortest period that is looked for.
pub const PERIOD_NS_LEAST: u64 = 50_000_000;

/// Fewer stalls than this do not show whether there is a beat.
pub const STALLS_LEAST: usize = 4;

/// Regularity that chance explains more often than this is none. Of simulated series without a beat, at most 3
/// in 1,000 fall below it (`tests/simulated.rs`).
const CHANCE_MOST: f64 = 0.01;

/// Each threshold of the search is so many times the one before it.
const LADDER_STEP: f64 = 1.5;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StallOutcome {
    /// No pair took long.
    None,
    /// Too few to tell a beat from chance.
    TooFew,
    /// No beat that chance does not explain.
    Irregular,
    /// Most of them keep a beat.
    Periodic,
}

/// A period of stalls.
#[derive(Clone, Debug, PartialEq)]
pub struct Period {
    /// From one beat to the next.
    pub period_ns: f64,
    /// The 95 % interval of it.
    pub interval_ns: [f64; 2],
    /// Beats from the first that had a stall to the last, both counted.
    pub beats: u64,
    /// How often random moments would look as regular, at most; 0 to 1.
    pub chance: f64,
}

/// The stalls of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Stalls {
    /// What was found.
    pub outcome: StallOutcome,
    /// From here on a pair is a stall. Where there is a beat, the threshold at which it is clearest.
    pub threshold_ns: u64,
    /// Every stall; where there is a beat, those on it.
    pub stalls: Vec<Stall>,
    /// Stalls beside the beat; none where there is no beat.
    pub off_beat: u64,
    /// The beat.
    pub period: Option<Period>,
    /// Share of the samples above p99 that lie in these stalls; nothing where no sample is above it.
    pub tail_share: Option<f64>,
    /// Share of the run's time that these stalls took; 0 to 1.
    pub time_share: f64,
}

impl Stalls {
    /// The stalls among pairs, each given with its start and what it took, in any order. `pairs` is gone
    /// through several times. Nothing for no pairs.
    pub fn of<I: Iterator<Item = (u64, u64)>>(pairs: impl Fn() -> I) -> Option<Stalls> {
        let usual = Usual::of(&pairs)?;
        let slow = longer_than(pairs(), usual.threshold_ns);
        let all = merged(&slow, usual.gap_ns);
        let stalls = match all.len() {
            0 => Stalls::without_beat(StallOutcome::None, &usual, all),
            n if n < STALLS_LEAST => Stalls::without_beat(StallOutcome::TooFew, &usual, all),
            _ => match clearest(&slow, &usual) {
                Some(found) => Stalls::on(found, &usual),
                None => Stalls::without_beat(StallOutcome::Irregular, &usual, all),
            },
        };
        let tail_share = usual.tail_share(pairs(), &stalls.stalls);
        Some(Stalls { tail_share, ..stalls })
    }

    /// Median and longest duration; nothing without stalls.
    pub fn durations_ns(&self) -> Option<[u64; 2]> {
        let mut all: Vec<u64> = self.stalls.iter().map(|stall| stall.duration_ns).collect();
        all.sort_unstable();
        Some([*all.get(all.len().saturating_sub(1) / 2)?, *all.last()?])
    }

    fn without_beat(outcome: StallOutcome, usual: &Usual, stalls: Vec<Stall>) -> Stalls {
        Stalls {
            outcome,
            threshold_ns: usual.threshold_ns,
            time_share: usual.time_share(&stalls),
            stalls,
            off_beat: 0,
            period: None,
            tail_share: None,
        }
    }

    fn on(found: Found, usual: &Usual) -> Stalls {
        let Found { threshold_ns, events, beat, chance } = found;
        let stalls: Vec<Stall> = beat.hits.iter().map(|hit| events[hit.event]).collect();
        let period = Period {
            period_ns: beat.period,
            interval_ns: beat.interval(usual.resolution_ns as f64),
            beats: beat.beats(),
            chance,
        };
        Stalls {
            off_beat: (events.len() - stalls.len()) as u64,
            period: Some(period),
            ..Stalls { threshold_ns, ..Stalls::without_beat(StallOutcome::Periodic, usual, stalls) }
        }
    }
}

/// A beat among the stalls above one threshold.
struct Found {
    threshold_ns: u64,
    events: Vec<Stall>,
    beat: Beat,
    chance: f64,
}

/// The beat that chance explains least, over a ladder of thresholds: what is noise among short stalls may
/// keep time among long ones. Every threshold that gives other stalls is a trial more, which counts.
fn clearest(slow: &[Stall], usual: &Usual) -> Option<Found> {
    let search = Search {
        period_least: PERIOD_NS_LEAST as f64,
        period_most: usual.span_ns as f64 / 3.0,
        resolution: usual.resolution_ns as f64,
    };
    let mut best: Option<Found> = None;
    let mut trials = 0u32;
    let mut seen = usize::MAX;
    let mut threshold = usual.threshold_ns as f64;
    loop {
        let threshold_ns = threshold as u64;
        let above: Vec<Stall> =
            slow.iter().filter(|one| one.duration_ns >= threshold_ns).copied().collect();
        let events = merged(&above, usual.gap_ns);
        if events.len() < STALLS_LEAST {
            break;
        }
        threshold *= LADDER_STEP;
        if above.len() == seen {
            continue;
        }
        seen = above.len();
        trials += 1;
        if let Some((beat, chance)) = search.clearest(&events)
            && best.as_ref().is_none_or(|best| chance < best.chance)
        {
            best = Some(Found { threshold_ns, events, beat, chance });
        }
    }
    let mut best = best?;
    best.chance = (best.chance * f64::from(trials)).min(1.0);
    (best.chance <= CHANCE_MOST).then_some(best)
}
