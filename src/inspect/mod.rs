//! `synctail inspect`: what lies under a path, and whether a flush there can be trusted. Writes nothing.

mod look;
mod text;

use std::ffi::OsString;
use std::path::Path;

use serde::Serialize;

use crate::args::{FormatArg, InspectArgs};
use crate::check::{complain, empty_record};
use crate::outputs::write_stdout;
use crate::record::{
    Basis, Durability, ErrorReport, Facts, Finding, PowerLossProtection, Record, Substrate, Tool,
};
use crate::refusal::Refusal;
use crate::substrate;
use crate::verdict::{basis, durability, power_loss_protection};

const ROOT: &str = "/";
const SCHEMA: &str = "synctail.inspection/1";
const NOT_DURABLE: i32 = 4;

/// What `inspect` prints as JSON.
#[derive(Debug, Serialize)]
pub struct Inspection {
    schema: &'static str,
    tool: Tool,
    /// Resolved; lossy where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// The path's bytes; only where `path` is lossy.
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes_hex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    substrate: Option<Substrate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    durability: Option<Durability>,
    #[serde(skip_serializing_if = "Option::is_none")]
    durability_evidence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    durability_basis: Option<Basis>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    power_loss_protection: Vec<PowerLossProtection>,
    findings: Vec<Finding>,
}

/// Runs the command and returns its exit code.
pub fn run(args: &InspectArgs, command: &[OsString]) -> i32 {
    crate::supervise::survive_file_size_limit();
    let (inspection, code) = match look::facts(&args.path, args.timeout) {
        Ok(facts) => inspected(&facts, args, command),
        Err(refusal) => refused(&refusal),
    };
    let text = match args.format {
        FormatArg::Text => text::render(&inspection),
        FormatArg::Json => json(&inspection),
    };
    match write_stdout(&text) {
        Ok(()) => code,
        Err(refusal) => {
            complain(&refusal.report);
            refusal.exit_code
        }
    }
}

fn inspected(facts: &Facts, args: &InspectArgs, command: &[OsString]) -> (Inspection, i32) {
    let mut under = substrate::discover(Path::new(ROOT), facts);
    if args.show_serials {
        substrate::add_serials(Path::new(ROOT), &mut under);
    }
    let record = Record { substrate: Some(under.clone()), ..empty_record(command) };
    let (state, evidence, findings) = durability(&record);
    let path = String::from_utf8(facts.path.clone());
    let hex = || facts.path.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let inspection = Inspection {
        path_bytes_hex: path.is_err().then(hex),
        path: Some(path.unwrap_or_else(|_| String::from_utf8_lossy(&facts.path).into_owned())),
        substrate: Some(under),
        durability: Some(state),
        durability_evidence: Some(evidence),
        durability_basis: basis(&record, state),
        power_loss_protection: power_loss_protection(&record),
        findings,
        ..empty()
    };
    (inspection, if state == Durability::NotDurable { NOT_DURABLE } else { 0 })
}

fn refused(refusal: &Refusal) -> (Inspection, i32) {
    complain(&refusal.report);
    (Inspection { error: Some((*refusal.report).clone()), ..empty() }, refusal.exit_code)
}

fn empty() -> Inspection {
    Inspection {
        schema: SCHEMA,
        tool: Tool::this(),
        path: None,
        path_bytes_hex: None,
        error: None,
        substrate: None,
        durability: None,
        durability_evidence: None,
        durability_basis: None,
        power_loss_protection: Vec::new(),
        findings: Vec::new(),
    }
}

fn json(inspection: &Inspection) -> String {
    // Writing to memory cannot fail, and every map has text as its keys.
    let text = serde_json::to_string_pretty(inspection).expect("an inspection is always JSON");
    text + "\n"
}
