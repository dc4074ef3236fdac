//! `synctail qualify`: the same written-down procedure every time, with limits, interruptible, ending in one
//! document that says pass or fail and why.

mod bundle;
mod campaign;
pub mod document;
mod estimate;
mod explain;
mod figures;
mod health;
mod judge;
mod spec;
mod state;
mod steady;
mod store;
mod target;
mod text;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::args::{FormatArg, QualifyArgs};
use crate::check::{complain, now_rfc3339};
use crate::outputs::{self, write_stdout};
use crate::program::Waiting;
use crate::refusal::Refusal;
use crate::report::html::qualification;

use campaign::Campaign;
use document::Qualification;
use spec::Spec;
use state::State;
use store::Store;

const DOCUMENT: &str = "qualification.json";
const TEXT: &str = "qualification.txt";
const PAGE: &str = "qualification.html";

/// Runs the command and returns its exit code.
pub fn run(args: &QualifyArgs, command: &[OsString]) -> i32 {
    crate::supervise::survive_file_size_limit();
    let spec = match Spec::load(&args.spec) {
        Ok(spec) => spec,
        Err(refusal) => return refuse(None, args, command, &refusal),
    };
    let path = target_of(args, &spec);
    if args.explain {
        return print(&explain::text(&spec, &path), 0);
    }
    match qualify(args, &spec, &path, command) {
        Ok(document) => {
            let code = document.verdict.exit_code;
            print(&rendered(args, &document), code)
        }
        Err(refusal) => refuse(Some(&spec), args, command, &refusal),
    }
}

/// What is typed wins; a path of the spec is relative to the spec.
fn target_of(args: &QualifyArgs, spec: &Spec) -> PathBuf {
    let of_spec = spec.document.target.path.as_ref().map(|path| spec.folder.join(path));
    args.path.clone().or(of_spec).unwrap_or_else(|| PathBuf::from("."))
}

fn qualify(
    args: &QualifyArgs,
    spec: &Spec,
    path: &Path,
    command: &[OsString],
) -> Result<Qualification, Refusal> {
    let waiting = Waiting::start()?;
    let named = || PathBuf::from(format!("qualification-{}", spec.document.name));
    let folder = args.state.clone().unwrap_or_else(named);
    let store = Store::open(&folder)?;
    let saved: Option<State> = store.state()?;
    if saved.is_some() && !args.resume {
        let shown = folder.display();
        let text = format!("{shown} holds a qualification; give --resume, or another --state");
        return Err(Refusal::usage(text));
    }
    let (target, machine) = target::look(path, &waiting)?;
    let state = match saved {
        Some(state) => {
            state.may_continue(spec, &target)?;
            state.resumed()
        }
        None => {
            let health = health::ask(&target);
            State::new(spec, target, now_rfc3339(), health)
        }
    };
    store.save_state(&state)?;
    let mut campaign = Campaign {
        spec,
        path: path.to_owned(),
        store: &store,
        state,
        waiting: &waiting,
        quiet: args.quiet,
        not_measured: BTreeMap::new(),
        preconditioned_bytes: None,
    };
    campaign.run()?;
    let document = bundle::document(&campaign, machine, command)?;
    store.save(DOCUMENT, &json(&document))?;
    let text = text::render(&document);
    store.save(TEXT, &text)?;
    let page = qualification::render(&document, &bundle::samples(&campaign)?, &text);
    store.save(PAGE, &page)?;
    if let Some(file) = &args.report {
        outputs::write_file("--report", file, &page)?;
    }
    Ok(document)
}

fn json(document: &Qualification) -> String {
    // Writing to memory cannot fail, and every map has text as its keys.
    serde_json::to_string_pretty(document).expect("a qualification is always JSON") + "\n"
}

fn rendered(args: &QualifyArgs, document: &Qualification) -> String {
    match args.format {
        FormatArg::Json => json(document),
        FormatArg::Text => text::render(document),
    }
}

fn refuse(spec: Option<&Spec>, args: &QualifyArgs, command: &[OsString], refusal: &Refusal) -> i32 {
    complain(&refusal.report);
    match args.format {
        FormatArg::Text => refusal.exit_code,
        FormatArg::Json => print(&json(&bundle::failed(spec, refusal, command)), refusal.exit_code),
    }
}

fn print(text: &str, code: i32) -> i32 {
    match write_stdout(text) {
        Ok(()) => code,
        Err(refusal) => {
            complain(&refusal.report);
            refusal.exit_code
        }
    }
}
