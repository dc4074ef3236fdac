//! What another tool's figures allow to say, and what they do not.

use super::figures::SAMPLES_FOR_P99;
use crate::human;
use crate::policy::Policy;
use crate::record::{Durability, Figures, Finding, Record, Severity};

/// Below this no device was involved.
const IMPLAUSIBLE_BELOW_NS: u64 = 5_000;
/// Below this only power-loss protection or a controller's cache explains a flush.
const PROTECTED_BELOW_NS: u64 = 100_000;
/// Below this few devices without such protection answer.
const REMARKABLE_BELOW_NS: u64 = 1_000_000;

/// Whether `record` holds figures that another tool measured.
pub fn is_import(record: &Record) -> bool {
    record.source.as_ref().is_some_and(|source| !source.parts.is_empty())
}

/// Why the figures of an import allow no verdict; nothing for what is none.
pub fn refusal(record: &Record, policy: &Policy) -> Option<String> {
    let source = record.source.as_ref().filter(|source| !source.parts.is_empty())?;
    if let Some(why) = &source.unjudged {
        return Some(why.clone());
    }
    source.parts.iter().find_map(|part| refused(&part.flush, policy))
}

fn refused(figures: &Figures, policy: &Policy) -> Option<String> {
    if figures.count == Some(1) {
        return Some("one sample is no distribution".to_owned());
    }
    if let Some([low, high]) = figures.p99_within_ns {
        return straddles(low, high, policy);
    }
    if judged(figures).is_none() {
        return Some(
            "p99 is not in the file, and what is there must not be judged as p99".to_owned(),
        );
    }
    let fastest = typical(figures).filter(|&ns| ns < IMPLAUSIBLE_BELOW_NS)?;
    Some(format!(
        "implausible: flushes of {}; below 5us no device was involved",
        human::time(fastest)
    ))
}

/// A bucket whose ends fall on two sides of a limit.
fn straddles(low: u64, high: u64, policy: &Policy) -> Option<String> {
    let above_low = low.saturating_add(1);
    let bands = (policy.band(above_low), policy.band(high));
    let line = policy.pass_below_ns.filter(|&line| above_low < line && high >= line);
    (bands.0 != bands.1 || line.is_some()).then(|| {
        let (low, high) = (human::time(low), human::time(high));
        format!("undecided: p99 is above {low} and at most {high}, and a limit lies between them")
    })
}

/// The figure to judge, and whether it is p99 or the maximum.
pub fn judged(figures: &Figures) -> Option<(u64, bool)> {
    if let Some([_, high]) = figures.p99_within_ns {
        return Some((high, true));
    }
    let enough = figures.count.is_none_or(|count| count >= SAMPLES_FOR_P99);
    match figures.p99_ns.filter(|_| enough) {
        Some(p99) => Some((p99, true)),
        // Without a count a maximum says nothing: it may be that of a single flush.
        None => figures.count.and(figures.max_ns).map(|max| (max, false)),
    }
}

/// The least that tells a flush from its absence.
fn typical(figures: &Figures) -> Option<u64> {
    figures.p50_ns.or(figures.p99_ns).or(figures.max_ns)
}

/// Durability of an import is never proved; what the figures themselves suggest is a finding.
pub fn durability(record: &Record) -> (Durability, String, Vec<Finding>) {
    let parts = record.source.iter().flat_map(|source| &source.parts);
    let fastest = parts.filter_map(|part| typical(&part.flush)).min();
    let text = match fastest {
        Some(ns) if ns < PROTECTED_BELOW_NS => Some(
            "suspect: so fast only with power-loss protection or a controller's cache, or \
                  because something does not flush",
        ),
        Some(ns) if ns < REMARKABLE_BELOW_NS => {
            Some("fast for a disk of unknown kind: ask whether its flushes are honest")
        }
        _ => None,
    };
    let finding = text.map(|text| Finding {
        code: "flush_honesty".to_owned(),
        severity: Severity::Warning,
        text: text.to_owned(),
        evidence: fastest
            .map(|ns| format!("typical flush {}", human::time(ns)))
            .unwrap_or_default(),
    });
    let evidence = "imported figures carry no proof that a flush reached the device".to_owned();
    (Durability::Unproved, evidence, finding.into_iter().collect())
}

/// A percentile without its number of samples may be a maximum in disguise.
pub fn count_unknown(record: &Record) -> Option<Finding> {
    let source = record.source.as_ref()?;
    source.parts.iter().any(|part| part.flush.count.is_none()).then(|| Finding {
        code: "count_unknown".to_owned(),
        severity: Severity::Info,
        text: "the file does not say how many flushes there were".to_owned(),
        evidence: String::new(),
    })
}
