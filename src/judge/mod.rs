//! `synctail judge`: a verdict for what was measured before, by us or by another tool.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::args::{FormatArg, JudgeFilesArgs};
use crate::check::{complain, empty_record, load_policy};
use crate::import::{self, Measurement, Reading};
use crate::outputs::Outputs;
use crate::policy::Policy;
use crate::record::{Distributions, Parts, Record, Source, Status, Tool};
use crate::refusal::{Refusal, error_report, exit};
use crate::report;
use crate::report::text::TextOptions;
use crate::verdict::{JudgeOptions, import_refusal, judge};

const SCHEMA: &str = "synctail.judgement/1";
/// What is longer than this is no result that a person saved.
const BYTES_MAX: u64 = 4 << 30;

/// Several results in one document.
#[derive(Debug, Serialize)]
struct Judgement<'a> {
    schema: &'static str,
    tool: Tool,
    exit_code: i32,
    results: &'a [Record],
}

/// Runs the command and returns its exit code.
pub fn run(args: &JudgeFilesArgs, command: &[OsString]) -> i32 {
    let fits = args.plot.fits(args.format == FormatArg::Text).map_err(Refusal::usage);
    let opened = fits
        .and_then(|()| Outputs::open(&args.output()))
        .and_then(|outputs| Ok((load_policy(&args.judge.policy)?, outputs)));
    let (policy, outputs) = match opened {
        Ok(opened) => opened,
        Err(refusal) => return refuse(args, command, &refusal),
    };
    let options = JudgeOptions {
        metric: args.judge.metric.map(Into::into),
        fail_at: args.judge.fail_at,
        require_proof: args.judge.require_proof,
        deadline_ns: args.judge.deadline,
    };
    let mut results = Vec::new();
    for file in &args.files {
        for mut record in read(file, args, command) {
            conclude(&mut record, &policy, &options);
            results.push(record);
        }
    }
    let code = worst(results.iter().map(code_of));
    for error in results.iter().filter_map(|result| result.error.as_ref()) {
        complain(error);
    }
    let options = outputs.plot_options(&args.plot);
    let plot = |record: &Record| match args.plot.plot {
        true => report::plot::render(record, &policy, &options),
        false => String::new(),
    };
    match outputs.write(&rendered(args, &results, code, plot)) {
        Ok(()) => code,
        Err(refusal) => {
            complain(&refusal.report);
            worst([code, refusal.exit_code].into_iter())
        }
    }
}

fn refuse(args: &JudgeFilesArgs, command: &[OsString], refusal: &Refusal) -> i32 {
    complain(&refusal.report);
    if args.format == FormatArg::Json {
        let mut record = empty_record(command);
        record.status = Status::Failed;
        record.error = Some((*refusal.report).clone());
        // The exit code says it all where this cannot be written either.
        let _ = Outputs::stdout().write(&report::json::render(&record, false));
    }
    refusal.exit_code
}

/// The results in `file`, or one that says why there is none.
fn read(file: &Path, args: &JudgeFilesArgs, command: &[OsString]) -> Vec<Record> {
    let shown = file.to_string_lossy().into_owned();
    let read = text_of(file).and_then(|text| import::read(&text, args.unit));
    let import = match read {
        Ok(import) => import,
        Err(why) => {
            let mut record = empty_record(command);
            record.source = Some(Source { file: shown.clone(), ..Source::default() });
            fail(&mut record, &format!("{shown}: {why}"));
            return vec![record];
        }
    };
    let format = import.format;
    let source =
        |result| Source { file: shown.clone(), format: format.into(), result, ..Source::default() };
    let of = |reading| match reading {
        Reading::Own(record) => Record { source: Some(source(None)), ..*record },
        Reading::Foreign(mut measurement) => {
            let named = source(measurement.name.take());
            foreign(measurement, named, command)
        }
    };
    import.results.into_iter().map(of).collect()
}

fn text_of(file: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("read: {error}");
    let size = fs::metadata(file).map_err(failed)?.len();
    if size > BYTES_MAX {
        return Err("larger than 4 GiB, which no saved result is".to_owned());
    }
    Ok(String::from_utf8_lossy(&fs::read(file).map_err(failed)?).into_owned())
}

/// A record of what another tool measured. Where the file has all that a distribution needs it stands
/// there too; the write was not timed, so that the total repeats the barrier, its least value.
fn foreign(measurement: Measurement, source: Source, command: &[OsString]) -> Record {
    let mut parts = measurement.parts;
    for part in &mut parts {
        part.flush = std::mem::take(&mut part.flush).carried();
    }
    let only = match &parts[..] {
        [one] => one.flush.distribution(),
        _ => None,
    };
    let pooled = only.map(|barrier| Parts {
        write: None,
        total: barrier.clone(),
        barrier: Some(barrier),
        service: None,
        late: None,
    });
    Record {
        distributions: pooled.map(|pooled| Distributions { pooled, workers: Vec::new() }),
        source: Some(Source { parts, unjudged: measurement.unjudged, ..source }),
        observations: measurement.findings,
        ..empty_record(command)
    }
}

/// Judges `record` anew, whatever verdict it came with.
fn conclude(record: &mut Record, policy: &Policy, options: &JudgeOptions) {
    record.verdict = judge(record, policy, options);
    if record.verdict.is_some() || record.error.is_some() {
        return;
    }
    let file = record.source.as_ref().map_or("", |source| source.file.as_str());
    let why = import_refusal(record, policy);
    let why = why.unwrap_or_else(|| "no pair was complete: there is nothing to judge".to_owned());
    let message = format!("{file}: {why}");
    fail(record, &message);
}

fn fail(record: &mut Record, message: &str) {
    record.error = Some(error_report("judge", "judge", message));
    record.status = Status::Failed;
}

fn code_of(record: &Record) -> i32 {
    match (&record.verdict, record.status) {
        (Some(verdict), _) => verdict.exit_code,
        (None, Status::TimedOut) => 1,
        (None, _) => exit::CANNOT_TELL,
    }
}

/// The first of 130, 143, 2, 3, 4, 1 and 0 that occurs.
fn worst(codes: impl Iterator<Item = i32>) -> i32 {
    let order = [exit::INTERRUPTED, exit::TERMINATED, exit::USAGE, exit::CANNOT_TELL, 4, 1, 0];
    let rank = |code: &i32| order.iter().position(|known| known == code).unwrap_or(order.len());
    codes.min_by_key(rank).unwrap_or(exit::CANNOT_TELL)
}

fn rendered(
    args: &JudgeFilesArgs,
    results: &[Record],
    code: i32,
    plot: impl Fn(&Record) -> String,
) -> String {
    if args.format == FormatArg::Json {
        return match results {
            [one] => report::json::render(one, false),
            _ => several(results, code),
        };
    }
    let options = TextOptions { verbose: args.verbose, recommend: args.judge.recommend };
    let texts = results.iter().filter_map(|record| {
        let text = headed(record, results.len() > 1, &options);
        (!text.is_empty()).then(|| text + &plot(record))
    });
    texts.collect::<Vec<String>>().join("\n")
}

/// A record of our own under the name of its file, where there are several.
fn headed(record: &Record, several: bool, options: &TextOptions) -> String {
    let text = report::text::render(record, options);
    match &record.source {
        Some(source) if several && source.parts.is_empty() && !text.is_empty() => {
            format!("{}:\n{text}", crate::human::escape_controls(&source.file))
        }
        _ => text,
    }
}

fn several(results: &[Record], exit_code: i32) -> String {
    let results: Vec<Record> = results.iter().map(report::json::without_samples).collect();
    let judgement = Judgement { schema: SCHEMA, tool: Tool::this(), exit_code, results: &results };
    // Writing to memory cannot fail, and every map has text as its keys.
    serde_json::to_string_pretty(&judgement).expect("a judgement is always JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use super::worst;

    #[test]
    fn the_worst_code_is_not_the_largest() {
        assert_eq!(worst([0, 1].into_iter()), 1);
        assert_eq!(worst([1, 4].into_iter()), 4);
        assert_eq!(worst([4, 3, 1].into_iter()), 3);
        assert_eq!(worst([3, 130, 2].into_iter()), 130);
        assert_eq!(worst(std::iter::empty()), 3);
    }
}
