//! `--explain`: what it will do, how long, how many bytes.

use std::path::Path;

use super::estimate;
use super::spec::{Amount, Limits, Spec, Step};
use crate::human;
use crate::load::Room;

/// One page for a person.
pub fn text(spec: &Spec, path: &Path) -> String {
    let document = &spec.document;
    let mut text = String::new();
    let mut say = |line: String| {
        text.push_str(&human::escape_controls(&line));
        text.push('\n');
    };
    say(format!("{}: {}", document.name, document.description));
    say(format!("target: {}", path.display()));
    let before = &document.precondition;
    if let Some(Amount(room)) = before.fill {
        say(format!("precondition: write {}, sync, keep until the end", amount(room)));
    }
    if let Some(Amount(room)) = before.random_overwrite {
        say(format!("precondition: write {} of it over, 4 KiB each, anywhere", amount(room)));
    }
    if let Some(files) = before.age_files {
        say(format!("precondition: make {files} files of up to 64 KiB, remove every second"));
    }
    let count = document.steps.len();
    for (number, step) in document.steps.iter().enumerate() {
        say(format!("step {} of {count}: {}", number + 1, step.name));
        explain_step(step, &mut say);
    }
    let time: u64 = document.steps.iter().map(estimate::step_ns).sum();
    let written: u64 = document
        .steps
        .iter()
        .map(|step| estimate::rounds_max(step).saturating_mul(estimate::round(step).written_bytes))
        .sum();
    let on_disk =
        document.steps.iter().map(|step| estimate::round(step).on_disk_bytes).max().unwrap_or(0);
    say(format!("time: at most about {}, preconditioning aside", human::time(time)));
    say(format!("bytes: at most {} written by the rounds", rounded(written)));
    say(format!("room: at most {} at once, loads and preconditioning aside", rounded(on_disk)));
    text
}

fn explain_step(step: &Step, say: &mut impl FnMut(String)) {
    say(format!("  plan: {}", step.plan.shown()));
    match step.steady {
        None => say(format!("  rounds: {}", step.repeats.unwrap_or(1))),
        Some(steady) => say(format!(
            "  rounds: until the p99 of five is steady (range {} %, slope {} %), at most {}; else {}",
            steady.range.0,
            steady.slope.0,
            steady.rounds_max,
            format!("{:?}", steady.otherwise).to_lowercase(),
        )),
    }
    for load in step.variants() {
        let beside = load.map_or("alone".to_owned(), |mix| format!("beside {}", mix.name()));
        say(format!("  limits {beside}: {}", limits(&step.limits_of(load))));
    }
    say(format!("  time: at most about {}", human::time(estimate::step_ns(step))));
}

fn limits(limits: &Limits) -> String {
    let mut all: Vec<String> = super::spec::Figure::ALL
        .into_iter()
        .filter_map(|figure| Some((figure, limits.of(figure)?)))
        .map(|(figure, bound)| format!("{} {}", figure.name(), human::time(bound.0)))
        .collect();
    all.extend(limits.rate.map(|rate| format!("rate {}/s", human::decimal(rate))));
    all.extend(limits.stalls.map(|stalls| {
        format!("{} stalls over {}", stalls.most, human::time(stalls.longer_than.0))
    }));
    all.extend(limits.band.map(|band| format!("band {}", crate::policy::band_name(band))));
    all.extend(limits.durability.map(|state| format!("durability {state:?}").to_lowercase()));
    all.extend(limits.spread.map(|most| format!("spread {} %", most.0)));
    all.extend(
        limits.change.as_ref().map(|change| format!("change against {}", change.record.display())),
    );
    if all.is_empty() { "the policy".to_owned() } else { all.join(", ") }
}

fn amount(room: Room) -> String {
    match room {
        Room::Bytes(bytes) => human::bytes(bytes),
        Room::Percent(share) => format!("{share} % of what is free"),
    }
}

/// A bound need not be exact to the byte.
fn rounded(bytes: u64) -> String {
    human::bytes(bytes.next_multiple_of(1 << 20))
}
