//! Rounds against limits: what is not known does not hold.

use super::document::{Limit, Unit};
use super::figures::{Figures, stalls};
use super::spec::{Change, Figure, Limits};
use crate::record::{Durability, Record, Status};

/// A round with what its limits look at.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// From 1.
    pub number: u64,
    /// Its record, with samples.
    pub record: &'a Record,
    /// Its figures.
    pub figures: &'a Figures,
}

/// Every limit, each with the round that is furthest from holding it. Beside those that were asked for:
/// every round was complete, met its policy, was not refuted as durable, and had its load.
pub fn judge(limits: &Limits, rounds: &[Judged], reference: Option<&Figures>) -> Vec<Limit> {
    let mut found = vec![complete(rounds)];
    for figure in Figure::ALL {
        if let Some(bound) = limits.of(figure) {
            let value = |round: &Judged| round.figures.get(figure).map(|ns| ns as f64);
            found.push(at_most(figure.name(), bound.0 as f64, Unit::Ns, rounds, value));
        }
    }
    if let Some(least) = limits.rate {
        found.push(at_least("rate", least, rounds, |round| round.figures.pairs_per_s));
    }
    if let Some(wanted) = limits.stalls {
        let value = |round: &Judged| stalls(round.record, wanted.longer_than).map(|n| n as f64);
        let mut limit = at_most("stalls", wanted.most as f64, Unit::Count, rounds, value);
        limit.of = Some(format!("longer than {}", crate::human::time(wanted.longer_than.0)));
        found.push(limit);
    }
    if let Some(worst) = limits.band {
        let value = |round: &Judged| round.figures.band.map(|band| f64::from(band as u8));
        found.push(at_most("band", f64::from(worst as u8), Unit::Band, rounds, value));
    }
    let worst = limits.durability.unwrap_or(Durability::Unproved);
    let value = |round: &Judged| round.figures.durability.map(|state| f64::from(state as u8));
    found.push(at_most("durability", f64::from(worst as u8), Unit::Durability, rounds, value));
    if let Some(most) = limits.spread {
        found.push(spread(most.0, rounds));
    }
    if let Some(change) = &limits.change {
        found.extend(changes(change, rounds, reference));
    }
    found
}

/// Complete, its policy met, its load there.
fn complete(rounds: &[Judged]) -> Limit {
    let why = |round: &Judged| match round.figures {
        Figures { status: Status::Complete, pass: Some(true), load_failures, .. } => {
            load_failures.first().cloned()
        }
        Figures { status: Status::Complete, .. } => Some("the policy is not met".to_owned()),
        Figures { status, .. } => {
            let said = round.record.error.as_ref().map(|error| error.message.clone());
            Some(said.unwrap_or_else(|| format!("{status:?}").to_lowercase()))
        }
    };
    let missed = rounds.iter().find_map(|round| Some((round.number, why(round)?)));
    Limit {
        figure: "policy".to_owned(),
        of: missed.as_ref().map(|(_, why)| why.clone()),
        bound: 1.0,
        found: (!rounds.is_empty()).then(|| f64::from(u8::from(missed.is_none()))),
        unit: Unit::Holds,
        round: missed.as_ref().map(|(number, _)| *number),
        holds: missed.is_none() && !rounds.is_empty(),
    }
}

fn at_most(
    name: &str,
    bound: f64,
    unit: Unit,
    rounds: &[Judged],
    value: impl Fn(&Judged) -> Option<f64>,
) -> Limit {
    // A value that is not known is worse than any; of equals the last counts, and the first is wanted.
    let values = rounds.iter().rev().map(|round| (round.number, value(round)));
    let rank = |value: &Option<f64>| value.unwrap_or(f64::INFINITY);
    let worst = values.max_by(|a, b| rank(&a.1).total_cmp(&rank(&b.1)));
    let found = worst.and_then(|(_, value)| value);
    Limit {
        figure: name.to_owned(),
        of: None,
        bound,
        found,
        unit,
        round: worst.map(|(number, _)| number),
        holds: found.is_some_and(|value| value <= bound),
    }
}

fn at_least(
    name: &str,
    bound: f64,
    rounds: &[Judged],
    value: impl Fn(&Judged) -> Option<f64>,
) -> Limit {
    let negative = |round: &Judged| value(round).map(|value| -value);
    let limit = at_most(name, -bound, Unit::PairsPerS, rounds, negative);
    Limit { bound, found: limit.found.map(|value| -value), ..limit }
}

/// Range of the rounds' p99 in percent of their mean.
fn spread(most: f64, rounds: &[Judged]) -> Limit {
    let values: Option<Vec<f64>> =
        rounds.iter().map(|round| round.figures.p99_ns.map(|ns| ns as f64)).collect();
    let found = values.filter(|values| values.len() > 1).map(|values| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let (low, high) = values.iter().fold((f64::MAX, 0.0f64), |(a, b), &x| (a.min(x), b.max(x)));
        (high - low) / mean * 100.0
    });
    Limit {
        figure: "spread".to_owned(),
        of: Some("p99 of all rounds".to_owned()),
        bound: most,
        found,
        unit: Unit::Percent,
        round: None,
        holds: found.is_some_and(|found| found <= most),
    }
}

/// How much worse than the reference, in percent of it.
fn changes(change: &Change, rounds: &[Judged], reference: Option<&Figures>) -> Vec<Limit> {
    let of_reference = |figure: Figure| reference.and_then(|figures| figures.get(figure));
    let mut found = Vec::new();
    let named = |limit: Limit| Limit { of: Some("against the reference".to_owned()), ..limit };
    for figure in Figure::ALL {
        if let Some(most) = change.of(figure) {
            let value = |round: &Judged| {
                let (now, before) = (round.figures.get(figure)?, of_reference(figure)?);
                Some((now as f64 / before.max(1) as f64 - 1.0) * 100.0)
            };
            let name = format!("change of {}", figure.name());
            found.push(named(at_most(&name, most.0, Unit::Percent, rounds, value)));
        }
    }
    if let Some(most) = change.rate {
        let value = |round: &Judged| {
            let (now, before) = (round.figures.pairs_per_s?, reference?.pairs_per_s?);
            Some((1.0 - now / before) * 100.0)
        };
        found.push(named(at_most("loss of rate", most.0, Unit::Percent, rounds, value)));
    }
    found
}

#[cfg(test)]
mod tests;
