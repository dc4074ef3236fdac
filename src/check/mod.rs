//! `synctail check`: measure a path and judge it.

mod assemble;
mod failure;
mod figures;
mod neighbours;
mod observe;
mod progress;
mod session;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use synctail_bench::{Arm, Fault};

use crate::args::{CheckArgs, FormatArg};
use crate::child::Aim;
use crate::outputs::{self, Outputs};
use crate::policy::Policy;
use crate::record::{ErrorReport, Record, Status};
use crate::refusal::{Refusal, exit};
use crate::report;
use crate::report::text::TextOptions;
use crate::resolve::Request;
use crate::supervise;
use crate::verdict::{JudgeOptions, judge};
pub use assemble::{empty_record, now_rfc3339};
use session::{End, Session};

/// Runs the command and returns its exit code.
pub fn run(args: &CheckArgs, command: &[OsString]) -> i32 {
    supervise::survive_file_size_limit();
    args.work.end_with.into_iter().for_each(crate::program::end_with);
    let fits = args.plot.fits(args.output.format == FormatArg::Text).map_err(Refusal::usage);
    let outputs = match fits.and_then(|()| Outputs::open(&args.output)) {
        Ok(outputs) => outputs,
        Err(refusal) => return refuse(args, command, &refusal, &Outputs::stdout()),
    };
    let policy = match load_policy(&args.judge.policy) {
        Ok(policy) => policy,
        Err(refusal) => return refuse(args, command, &refusal, &outputs),
    };
    let session = Request::new(&args.work, &args.device, &policy).and_then(|request| {
        let watching = progress::Watching::wanted(args.output.quiet);
        Session::run(aim(args), request, watching)
    });
    match session {
        Ok(mut session) => conclude(args, command, &policy, &mut session, &outputs),
        Err(refusal) => refuse(args, command, &refusal, &outputs),
    }
}

fn aim(args: &CheckArgs) -> Aim {
    let directory = || Aim::Directory { path: args.path.clone(), clean: args.work.clean };
    args.device.device.clone().map_or_else(directory, Aim::Device)
}

/// Judges what was measured, prints it and decides the exit code.
fn conclude(
    args: &CheckArgs,
    command: &[OsString],
    policy: &Policy,
    session: &mut Session,
    outputs: &Outputs,
) -> i32 {
    let mut record = assemble::record(session, args, policy, command);
    let options = JudgeOptions {
        metric: args.judge.metric.map(Into::into),
        fail_at: args.judge.fail_at,
        require_proof: args.judge.require_proof,
        deadline_ns: args.judge.deadline,
    };
    record.verdict = judge(&record, policy, &options);
    let mut code = exit_code(session.end, &record);
    if let Some(verdict) = &mut record.verdict {
        verdict.exit_code = code;
    } else if record.error.is_none() {
        record.error = Some(nothing_to_judge(record.status));
        if record.status == Status::Complete {
            record.status = Status::Failed;
        }
    }
    if let Some(error) = &record.error {
        complain(error);
    }
    if let Some(pid) = session.child_left {
        complain_of_child(pid, session);
    }
    let mut worsen = |refusal: Refusal| {
        complain(&refusal.report);
        // A signal still says how the run itself ended.
        if !matches!(code, exit::INTERRUPTED | exit::TERMINATED) {
            code = refusal.exit_code;
        }
        code
    };
    if let Err(refusal) = outputs.save(&record) {
        let code = worsen(refusal);
        if let Some(verdict) = &mut record.verdict {
            verdict.exit_code = code;
        }
    }
    if let Err(refusal) = outputs.draw(|| report::html::render(&record, policy)) {
        worsen(refusal);
    }
    if let Err(refusal) = outputs.write(&rendered(args, &record, policy, outputs)) {
        worsen(refusal);
    }
    code
}

fn exit_code(end: End, record: &Record) -> i32 {
    match (end, record.status, &record.verdict) {
        (End::Signal(code), ..) => code,
        (_, Status::Failed, _) => exit::CANNOT_TELL,
        (_, _, Some(verdict)) => verdict.exit_code,
        (_, Status::TimedOut, None) => 1,
        (_, _, None) => exit::CANNOT_TELL,
    }
}

fn nothing_to_judge(status: Status) -> ErrorReport {
    let why = match status {
        Status::Interrupted => "interrupted before a pair was complete: there is nothing to judge",
        _ => "no pair was complete: there is nothing to judge",
    };
    crate::refusal::error_report("measure", "judge", why)
}

fn rendered(args: &CheckArgs, record: &Record, policy: &Policy, outputs: &Outputs) -> String {
    let options = TextOptions { verbose: args.output.verbose, recommend: args.judge.recommend };
    match args.output.format {
        FormatArg::Text => {
            let text = report::text::render(record, &options);
            let drawn = args.plot.plot && !text.is_empty();
            let draw = || report::plot::render(record, policy, &outputs.plot_options(&args.plot));
            if drawn { text + &draw() } else { text }
        }
        FormatArg::Json => report::json::render(record, false),
    }
}

/// Says why nothing was measured: a sentence, and in JSON a document as well.
fn refuse(args: &CheckArgs, command: &[OsString], refusal: &Refusal, outputs: &Outputs) -> i32 {
    complain(&refusal.report);
    let mut record = empty_record(command);
    record.status = Status::Failed;
    record.error = Some((*refusal.report).clone());
    if args.output.format == FormatArg::Json {
        let text = report::json::render(&record, false);
        for second in
            [outputs.save(&record), outputs.write(&text)].into_iter().filter_map(Result::err)
        {
            complain(&second.report);
        }
    }
    refusal.exit_code
}

/// Answers a command line that could not be parsed, or a request for help or the version.
pub fn refuse_usage(error: &clap::Error, command: &[OsString]) -> i32 {
    if !error.use_stderr() {
        return match outputs::write_stdout(&error.render().to_string()) {
            Ok(()) => 0,
            Err(refusal) => {
                complain(&refusal.report);
                refusal.exit_code
            }
        };
    }
    // The parser quotes what was typed as it is; its own line breaks stay.
    let text = error.render().to_string();
    text.trim_end().lines().for_each(|line| outputs::say(&crate::human::escape_controls(line)));
    if wants_json(command) {
        let text = error.render().to_string();
        let why = text.lines().next().unwrap_or("usage").trim_start_matches("error: ").to_owned();
        let mut record = empty_record(command);
        record.status = Status::Failed;
        record.error = Some(*Refusal::usage(why).report);
        // Where it cannot be written the exit code says it all.
        let _ = outputs::write_stdout(&report::json::render(&record, false));
    }
    exit::USAGE
}

/// Whether a program reads standard output, as far as an unparsed command line tells.
fn wants_json(command: &[OsString]) -> bool {
    let is = |arg: &OsString, text: &str| arg == text;
    command.iter().any(|arg| is(arg, "--format=json"))
        || command.windows(2).any(|pair| is(&pair[0], "--format") && is(&pair[1], "json"))
}

/// What failed before anything was planned.
pub fn failure_without_plan(fault: &Fault) -> Refusal {
    let circumstances = failure::Circumstances {
        arm: Arm::DEFAULT,
        block_size_bytes: 0,
        filesystem: None,
        root: Path::new("/"),
        pairs: 0,
    };
    let report = Box::new(failure::report(fault, &circumstances));
    Refusal { report, exit_code: exit::CANNOT_TELL }
}

/// One line on standard error.
pub fn complain(error: &ErrorReport) {
    let remedy = error.remedy.as_deref().map_or(String::new(), |text| format!("; {text}"));
    let text = crate::human::escape_controls(&format!("{}{remedy}", error.message));
    outputs::say(&format!("synctail: {text}"));
}

fn complain_of_child(pid: i32, session: &Session) {
    let what = session.pending.first().map_or("its clean-up", |pending| pending.operation);
    let then = session.after_return();
    let text = format!("synctail: left child process {pid}, still waiting in {what}; {then}");
    outputs::say(&crate::human::escape_controls(&text));
}

/// A policy is a page of text; what is longer, such as /dev/zero, is a slip and not read to its end.
fn read_bounded(name: &Path) -> io::Result<String> {
    const BYTES_MAX: u64 = 1 << 20;
    let mut text = String::new();
    let read = File::open(name)?.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    if read as u64 > BYTES_MAX {
        return Err(io::Error::other("longer than 1 MiB, which no policy is"));
    }
    Ok(text)
}

/// The built-in policy of this name, or the one in this file.
///
/// # Errors
/// Where there is neither.
pub fn load_policy(name: &Path) -> Result<Policy, Refusal> {
    if let Some(policy) = name.to_str().and_then(Policy::named) {
        return Ok(policy);
    }
    let shown = name.display().to_string();
    let text = read_bounded(name).map_err(|error| {
        let names = Policy::NAMES.join(", ");
        Refusal::usage(format!("--policy: read {shown}: {error}; give {names} or a TOML file"))
    })?;
    Policy::from_toml(&text, &shown).map_err(|error| Refusal::usage(format!("--policy: {error}")))
}
