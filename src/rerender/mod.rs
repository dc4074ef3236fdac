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
use crate::report::text::TextOptions;
use crate::report::{csv, hdr, html, json, prometheus, text};

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
    outputs.write(&rendered(args, members)?)
}

fn rendered(args: &ReportArgs, members: Vec<Member>) -> Result<String, Refusal> {
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
        ReportFormat::Text => Ok(match &records[..] {
            [one] => text::render(one, &TextOptions { verbose: args.verbose, recommend: false }),
            _ => fleet::render(&members),
        }),
        ReportFormat::Html => match &records[..] {
            [one] => Ok(html::render(one, &Policy::default())),
            _ => Err(Refusal::usage("--format html: one record at a time")),
        },
        ReportFormat::Json => Ok(match &records[..] {
            [one] => json::render(one, false),
            _ => several(members),
        }),
    }
}

fn several(members: Vec<Member>) -> String {
    let fleet = fleet::summary(&members);
    let results = members.iter().map(|member| json::without_samples(&member.record)).collect();
    let report = Report { schema: SCHEMA, tool: Tool::this(), fleet, results };
    // Writing to memory cannot fail, and every map has text as its keys.
    serde_json::to_string_pretty(&report).expect("a report is always JSON") + "\n"
}
