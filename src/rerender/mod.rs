//! `synctail report`: saved records in another form, or many of them as one table.

use std::fs;

use serde::Serialize;

use crate::args::{FormatArg, OutputArgs, ReportArgs, ReportFormat};
use crate::check::complain;
use crate::import::{self, Reading};
use crate::outputs::Outputs;
use crate::policy::Policy;
use crate::record::{Record, Tool};
use crate::refusal::Refusal;
use crate::report::fleet::{self, Fleet, Member};
use crate::report::plot::PlotOptions;
use crate::report::text::TextOptions;
use crate::report::{csv, hdr, html, json, plot, prometheus, text};

const SCHEMA: &str = "synctail.report/1";

/// Several records in one document, worst first.
#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    tool: Tool,
    fleet: Fleet,
    results: Vec<Record>,
}

/// Runs the command and returns its exit code: 0, whatever the records say.
pub fn run(args: &ReportArgs) -> i32 {
    match written(args) {
        Ok(()) => 0,
        Err(refusal) => {
            complain(&refusal.report);
            refusal.exit_code
        }
    }
}

fn written(args: &ReportArgs) -> Result<(), Refusal> {
    args.plot.fits(args.format == ReportFormat::Text).map_err(Refusal::usage)?;
    let outputs = Outputs::open(&OutputArgs {
        format: FormatArg::Text,
        output: args.output.clone(),
        save: None,
        report: None,
        verbose: args.verbose,
        quiet: false,
    })?;
    let mut members = Vec::new();
    for file in &args.records {
        let shown = file.to_string_lossy().into_owned();
        let refused = |why: String| {
            let message = format!("{shown}: {why}");
            Refusal::cannot(
                "report",
                "read",
                message,
                "give records of synctail; judge reads others",
            )
        };
        let bytes = fs::read(file).map_err(|error| refused(format!("read: {error}")))?;
        let import = import::read(&String::from_utf8_lossy(&bytes), None).map_err(refused)?;
        for reading in import.results {
            let Reading::Own(record) = reading else {
                return Err(refused(format!("a result of another tool ({})", import.format)));
            };
            members.push(Member { name: shown.clone(), named: false, record: *record });
        }
    }
    let several = members.len() > 1;
    members.iter_mut().for_each(|member| member.named = several);
    fleet::sort(&mut members);
    let plot = args.plot.plot.then(|| outputs.plot_options(&args.plot));
    outputs.write(&rendered(args, members, plot)?)
}

fn rendered(
    args: &ReportArgs,
    members: Vec<Member>,
    plot: Option<PlotOptions>,
) -> Result<String, Refusal> {
    let records: Vec<&Record> = members.iter().map(|member| &member.record).collect();
    let samples = |made: Option<String>| {
        let remedy = "measure again with --save, which keeps every sample";
        made.ok_or_else(|| {
            Refusal::cannot("report", "render", "a record was saved without its samples", remedy)
        })
    };
    match args.format {
        ReportFormat::Csv => Ok(csv::render(&members)),
        ReportFormat::Hdr => samples(hdr::log(&records)),
        ReportFormat::Hgrm => samples(hdr::hgrm(&records)),
        ReportFormat::Prometheus => Ok(prometheus::render(&members)),
        ReportFormat::Text => Ok(as_text(&members, args.verbose, plot)),
        ReportFormat::Html => match &records[..] {
            [one] => Ok(html::render(one, &policy_of(one))),
            _ => Err(Refusal::usage("--format html: one record at a time")),
        },
        ReportFormat::Json => Ok(match &records[..] {
            [one] => json::render(one, false),
            _ => several(members),
        }),
    }
}

/// One record as `check` shows it; of several the table.
fn as_text(members: &[Member], verbose: bool, plot: Option<PlotOptions>) -> String {
    if let [Member { record, .. }] = members {
        let text = text::render(record, &TextOptions { verbose, recommend: false });
        let draw = |plot| plot::render(record, &policy_of(record), &plot);
        return text + &plot.map_or(String::new(), draw);
    }
    let policy = members.first().map(|member| policy_of(&member.record)).unwrap_or_default();
    let fleet = fleet::summary(members);
    let merged = fleet.merged.as_ref().zip(plot);
    let draw = |(merged, plot)| plot::of_distribution("merged", merged, &policy, &plot);
    fleet::render(members, &fleet) + &merged.map_or(String::new(), draw)
}

/// The policy that the record was judged under, where it is built in; a user's own is not in the record.
fn policy_of(record: &Record) -> Policy {
    let named = record.verdict.as_ref().and_then(|verdict| Policy::named(&verdict.policy));
    named.unwrap_or_default()
}

fn several(members: Vec<Member>) -> String {
    let fleet = fleet::summary(&members);
    let results = members.iter().map(|member| json::without_samples(&member.record)).collect();
    let report = Report { schema: SCHEMA, tool: Tool::this(), fleet, results };
    // Writing to memory cannot fail, and every map has text as its keys.
    serde_json::to_string_pretty(&report).expect("a report is always JSON") + "\n"
}
