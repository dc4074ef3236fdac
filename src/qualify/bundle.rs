//! From saved rounds to the document.

use std::ffi::OsString;

use super::campaign::Campaign;
use super::document::{
    Limit, Qualification, QualificationVerdict, RoundReport, SCHEMA, SpecReport, StepReport,
    StepVerdict, Unit, VariantReport,
};
use super::figures::Figures;
use super::judge::{Judged, judge};
use super::spec::{Otherwise, Spec, Step};
use super::state::Round;
use super::steady::WINDOW;
use crate::check::now_rfc3339;
use crate::load::Mix;
use crate::record::{Durability, Machine, Record, Tool};
use crate::refusal::{Refusal, exit};
use crate::report::html::qualification::{Samples, judged_samples};

const MISSED: i32 = 1;
const NOT_DURABLE: i32 = 4;

/// The document of what `campaign` has come to.
///
/// # Errors
/// Where a saved record is gone or has changed.
pub fn document(
    campaign: &Campaign,
    machine: Machine,
    command: &[OsString],
) -> Result<Qualification, Refusal> {
    let spec = campaign.spec;
    let mut stopped: Option<&str> = None;
    let mut steps = Vec::new();
    for step in &spec.document.steps {
        steps.push(step_report(campaign, step, stopped)?);
        if campaign.state.stops_at(step) {
            stopped = Some(&step.name);
        }
    }
    let signal = campaign.waiting.signal();
    let health_after = super::health::ask(&campaign.state.target);
    let mut document = Qualification {
        schema: SCHEMA.to_owned(),
        tool: Tool::this(),
        command: command.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        started_at: campaign.state.started_at.clone(),
        ended_at: now_rfc3339(),
        status: if signal.is_some() { "interrupted" } else { "complete" }.to_owned(),
        error: None,
        spec: spec_report(spec),
        target: Some(campaign.state.target.clone()),
        machine: Some(machine),
        health_before: campaign.state.health_before.clone(),
        health_after,
        preconditioned_bytes: campaign.preconditioned_bytes,
        resumed: campaign.state.resumed,
        steps,
        verdict: QualificationVerdict {
            pass: false,
            exit_code: exit::CANNOT_TELL,
            sentence: String::new(),
            missed: Vec::new(),
        },
    };
    document.verdict = verdict(&document, signal);
    Ok(document)
}

/// The document of a qualification that could not begin, or not go on.
pub fn failed(spec: Option<&Spec>, refusal: &Refusal, command: &[OsString]) -> Qualification {
    let none = || SpecReport {
        name: String::new(),
        description: String::new(),
        sha256: String::new(),
        text: String::new(),
    };
    Qualification {
        schema: SCHEMA.to_owned(),
        tool: Tool::this(),
        command: command.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        started_at: now_rfc3339(),
        ended_at: now_rfc3339(),
        status: "failed".to_owned(),
        error: Some((*refusal.report).clone()),
        spec: spec.map_or_else(none, spec_report),
        target: None,
        machine: None,
        health_before: Vec::new(),
        health_after: Vec::new(),
        preconditioned_bytes: None,
        resumed: 0,
        steps: Vec::new(),
        verdict: QualificationVerdict {
            pass: false,
            exit_code: refusal.exit_code,
            sentence: "not qualified: it could not be done".to_owned(),
            missed: vec![refusal.report.message.clone()],
        },
    }
}

fn spec_report(spec: &Spec) -> SpecReport {
    SpecReport {
        name: spec.document.name.clone(),
        description: spec.document.description.clone(),
        sha256: spec.sha256.clone(),
        text: spec.text.clone(),
    }
}

fn step_report(
    campaign: &Campaign,
    step: &Step,
    stopped: Option<&str>,
) -> Result<StepReport, Refusal> {
    let mut variants = Vec::new();
    for load in step.variants() {
        variants.push(variant_report(campaign, step, load)?);
    }
    let finished = campaign.state.due(step).is_none();
    let not_measured = campaign.not_measured.get(&step.name);
    let holds = variants.iter().flat_map(|variant| &variant.limits).all(|limit| limit.holds);
    let (verdict, reason) = match (not_measured, finished, stopped) {
        (Some(why), false, _) => (StepVerdict::NotMeasured, Some(why.clone())),
        (_, false, Some(before)) => {
            (StepVerdict::Skipped, Some(format!("step {before:?} never became steady")))
        }
        (_, false, None) => (StepVerdict::Skipped, Some("not finished".to_owned())),
        (_, true, _) if holds => (StepVerdict::Pass, None),
        (_, true, _) => (StepVerdict::Fail, None),
    };
    let plan = step.plan.args().iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    Ok(StepReport { name: step.name.clone(), plan, verdict, reason, variants })
}

fn variant_report(
    campaign: &Campaign,
    step: &Step,
    load: Option<Mix>,
) -> Result<VariantReport, Refusal> {
    let rounds = campaign.state.rounds_of(step, load);
    let records: Result<Vec<Record>, Refusal> =
        rounds.iter().map(|round| record(campaign, round)).collect();
    let records = records?;
    let figures: Vec<Figures> = records.iter().map(Figures::of).collect();
    let skipped = way_there(step, rounds.len());
    let all = rounds.iter().zip(&records).zip(&figures);
    let judged: Vec<Judged> = all
        .map(|((round, record), figures)| Judged { number: round.number, record, figures })
        .skip(skipped)
        .collect();
    let asked = step.limits_of(load);
    let reference = asked.change.as_ref().map(|change| {
        let text = std::fs::read(campaign.spec.folder.join(&change.record)).ok()?;
        serde_json::from_slice::<Record>(&text).ok().as_ref().map(Figures::of)
    });
    let mut limits = judge(&asked, &judged, reference.flatten().as_ref());
    let steady = campaign.state.steadiness(step, load);
    if let Some(asked) = step.steady {
        let reached = steady.is_some_and(|steady| steady.reached);
        let excused = !reached && asked.otherwise == Otherwise::Continue;
        let excuse = if excused { "; not required" } else { "" };
        limits.push(Limit {
            figure: "steady state".to_owned(),
            of: steady.map(|steady| {
                let (range, slope) = (steady.range_percent, steady.slope_percent);
                format!("range {range:.1} %, slope {slope:.1} %{excuse}")
            }),
            bound: 1.0,
            found: steady.map(|_| f64::from(u8::from(reached))),
            unit: Unit::Holds,
            round: None,
            holds: reached || (excused && steady.is_some()),
        });
    }
    let judged_rounds = judged.iter().map(|round| round.number).collect();
    let report = |((round, record), figures): ((&&Round, &Record), &Figures)| RoundReport {
        round: round.number,
        file: round.file.clone(),
        sha256: round.sha256.clone(),
        exit_code: round.exit_code,
        figures: figures.clone(),
        load_report: record.load.clone(),
    };
    let rounds = rounds.iter().zip(&records).zip(&figures).map(report).collect();
    let load = load.map(|mix| mix.name().to_owned());
    Ok(VariantReport { load, rounds, judged_rounds, steady, limits })
}

/// The judged rounds' samples of each step, alone and beside its load.
///
/// # Errors
/// Where a saved record is gone or has changed.
pub fn samples(campaign: &Campaign) -> Result<Vec<Samples>, Refusal> {
    let of_load = |step: &Step, load: Option<Mix>| {
        let rounds = campaign.state.rounds_of(step, load);
        let skipped = way_there(step, rounds.len());
        let mut all = Vec::new();
        for round in &rounds[skipped..] {
            all.extend(judged_samples(&record(campaign, round)?));
        }
        all.sort_unstable();
        Ok((load.map_or("alone", Mix::name).to_owned(), all))
    };
    let steps = campaign.spec.document.steps.iter();
    steps
        .map(|step| step.variants().into_iter().map(|load| of_load(step, load)).collect())
        .collect()
}

/// Where rounds were to become steady, those before the window are the way there.
fn way_there(step: &Step, rounds: usize) -> usize {
    if step.steady.is_some() { rounds.saturating_sub(WINDOW) } else { 0 }
}

fn record(campaign: &Campaign, round: &Round) -> Result<Record, Refusal> {
    let bytes = campaign.store.read(&round.file, &round.sha256)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let text = format!("read {}: {error}", round.file);
        Refusal::cannot("output", "read", text, "begin anew with another --state")
    })
}

fn verdict(document: &Qualification, signal: Option<i32>) -> QualificationVerdict {
    let mut missed = Vec::new();
    for step in &document.steps {
        for variant in &step.variants {
            let beside =
                variant.load.as_ref().map_or(String::new(), |mix| format!(" beside {mix}"));
            let broken = variant.limits.iter().filter(|limit| !limit.holds);
            let finished = matches!(step.verdict, StepVerdict::Pass | StepVerdict::Fail);
            missed.extend(
                broken
                    .filter(|_| finished)
                    .map(|limit| format!("step {:?}{beside}: {}", step.name, limit.shown())),
            );
        }
        if let Some(reason) = &step.reason {
            let what = match step.verdict {
                StepVerdict::NotMeasured => "could not be measured",
                _ => "was not done",
            };
            missed.push(format!("step {:?} {what}: {reason}", step.name));
        }
    }
    let failing = document.health_after.iter().filter(|health| health.passed == Some(false));
    missed.extend(failing.map(|health| format!("{} says that it is failing", health.device)));
    let pass = missed.is_empty() && signal.is_none();
    let is = |verdict: StepVerdict| document.steps.iter().any(|step| step.verdict == verdict);
    let rounds = || document.steps.iter().flat_map(|s| &s.variants).flat_map(|v| &v.rounds);
    let refuted = rounds().any(|r| r.figures.durability == Some(Durability::NotDurable));
    let exit_code = match signal {
        Some(code) => code,
        None if is(StepVerdict::NotMeasured) => exit::CANNOT_TELL,
        None if refuted => NOT_DURABLE,
        None if !pass => MISSED,
        None => 0,
    };
    let sentence = match (pass, signal) {
        (true, _) => "qualified: every limit holds".to_owned(),
        (false, Some(_)) => "interrupted: --resume goes on".to_owned(),
        (false, None) if missed.len() == 1 => "not qualified: 1 reason".to_owned(),
        (false, None) => format!("not qualified: {} reasons", missed.len()),
    };
    QualificationVerdict { pass, exit_code, sentence, missed }
}
