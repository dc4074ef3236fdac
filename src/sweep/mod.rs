//! `synctail sweep`: a product of axes or a preset, each cell a `check` of its own, in rounds of random order.

mod campaign;
mod cells;
mod document;
mod knee;
mod pg;
mod remarks;
mod store;
mod text;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::args::{Cli, Command, FormatArg, Preset, SweepArgs};
use crate::check::{complain, empty_record, load_policy, now_rfc3339};
use crate::outputs::write_stdout;
use crate::program::Waiting;
use crate::record::{Status, Tool};
use crate::refusal::{Refusal, exit};
use crate::report;
use crate::resolve::Request;
use document::{Plan, SCHEMA, Sweep};

const ROUNDS: u64 = 3;
const ITERATIONS: u64 = 500;
/// Blocks of up to 8 MiB: the whole table writes 1.6 GiB a round.
const ITERATIONS_SLOG: u64 = 100;

/// Runs the command and returns its exit code.
pub fn run(args: &SweepArgs, command: &[OsString]) -> i32 {
    match measured(args, command) {
        Ok((sweep, code)) => finish(args, &sweep, code),
        Err(refusal) => {
            complain(&refusal.report);
            if args.format == FormatArg::Json {
                let mut record = empty_record(command);
                record.status = Status::Failed;
                record.error = Some((*refusal.report).clone());
                // Where it cannot be written the exit code says it all.
                let _ = write_stdout(&report::json::render(&record, false));
            }
            refusal.exit_code
        }
    }
}

fn measured(args: &SweepArgs, command: &[OsString]) -> Result<(Sweep, i32), Refusal> {
    let mut sweep = started(args, command)?;
    admit(&sweep, args)?;
    if let Some(path) = &args.save {
        store::save(path, &sweep)?;
    }
    let waiting = Waiting::start()?;
    campaign::run(&mut sweep, args, &waiting)?;
    let done = sweep.cells.iter().all(|cell| cell.rounds.len() as u64 == sweep.plan.rounds);
    let failed = |cell: &document::Cell| cell.rounds.iter().any(|r| r.status != Status::Complete);
    sweep.status = match (done, sweep.cells.iter().any(failed)) {
        (false, _) => Status::Interrupted,
        (true, true) => Status::Failed,
        (true, false) => Status::Complete,
    };
    sweep.knees = knee::knees(&sweep.cells);
    if let Some(path) = &args.save {
        store::save(path, &sweep)?;
    }
    let code = match sweep.status {
        Status::Complete => 0,
        Status::Interrupted => waiting.signal().unwrap_or(exit::INTERRUPTED),
        Status::Failed | Status::TimedOut => exit::CANNOT_TELL,
    };
    Ok((sweep, code))
}

/// A new sweep, or the saved one that is to go on.
fn started(args: &SweepArgs, command: &[OsString]) -> Result<Sweep, Refusal> {
    let sweep = planned(args, command);
    let saved = args.save.as_deref().map_or(Ok(None), store::load)?;
    let Some(saved) = saved else { return Ok(sweep) };
    let done = saved.status != Status::Interrupted;
    if !args.resume {
        return match done {
            true => Ok(sweep),
            false => Err(Refusal::usage(
                "--save: the file holds a sweep that is not finished; give --resume or another file",
            )),
        };
    }
    let order =
        (args.seed.is_none() || args.seed == Some(saved.plan.seed)).then(|| saved.plan.clone());
    let same = order.is_some_and(|plan| {
        let renamed = Plan { seed: plan.seed, order: plan.order.clone(), ..sweep.plan.clone() };
        renamed == plan
    });
    let axes = |sweep: &Sweep| sweep.cells.iter().map(|cell| cell.axes.clone()).collect::<Vec<_>>();
    if !same || axes(&saved) != axes(&sweep) {
        return Err(Refusal::usage(format!(
            "--resume: the file holds another sweep, begun with: {}",
            saved.command.join(" ")
        )));
    }
    Ok(saved)
}

fn planned(args: &SweepArgs, command: &[OsString]) -> Sweep {
    let (cells, left_out) = cells::cells(args);
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    let rounds = args.rounds.unwrap_or(ROUNDS);
    let slog = args.preset == Some(Preset::Slog);
    let iters = args.iters.unwrap_or(if slog { ITERATIONS_SLOG } else { ITERATIONS });
    let etcd = args.preset == Some(Preset::Etcd);
    let policy = args.policy.clone();
    let policy = policy.unwrap_or_else(|| PathBuf::from(if etcd { "etcd" } else { "jetstream" }));
    let mut random = fastrand::Rng::with_seed(seed);
    let order = (0..rounds).map(|_| {
        let mut order: Vec<usize> = (0..cells.len()).collect();
        random.shuffle(&mut order);
        order
    });
    let preset = args.preset.and_then(|preset| preset.to_possible_value());
    let path = args.device.device.as_ref().unwrap_or(&args.path);
    let plan = Plan {
        path: path.to_string_lossy().into_owned(),
        preset: preset.map(|value| value.get_name().to_owned()),
        rounds,
        seed,
        flags: campaign::shared_flags(args, iters, &policy),
        order: order.collect(),
        left_out,
    };
    Sweep {
        schema: SCHEMA.to_owned(),
        tool: Tool::this(),
        started_at: now_rfc3339(),
        command: command.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        status: Status::Interrupted,
        plan,
        cells,
        knees: Vec::new(),
    }
}

/// Every cell must be a plan of `check`, before the first one is measured.
fn admit(sweep: &Sweep, args: &SweepArgs) -> Result<(), Refusal> {
    if sweep.cells.is_empty() {
        let why = sweep.plan.left_out.join("; ");
        return Err(Refusal::usage(format!("no cell is left to measure: {why}")));
    }
    for cell in &sweep.cells {
        let mut line = vec![OsString::from("synctail")];
        line.extend(campaign::check_args(sweep, cell, args, false));
        let refused = |why: &str| Refusal::usage(format!("{}: {why}", campaign::name(cell)));
        let cli = Cli::try_parse_from(line).map_err(|error| {
            let text = error.render().to_string();
            refused(text.lines().next().unwrap_or_default().trim_start_matches("error: "))
        })?;
        let Command::Check(check) = cli.command else { continue };
        let policy = load_policy(&check.judge.policy)?;
        Request::new(&check.work, &check.device, &policy)
            .map_err(|refusal| refused(&refusal.report.message))?;
    }
    Ok(())
}

fn finish(args: &SweepArgs, sweep: &Sweep, code: i32) -> i32 {
    let text = match args.format {
        FormatArg::Text => text::render(sweep),
        FormatArg::Json => {
            let mut text = serde_json::to_string_pretty(sweep).unwrap_or_default();
            text.push('\n');
            text
        }
    };
    match write_stdout(&text) {
        Ok(()) => code,
        Err(refusal) => {
            complain(&refusal.report);
            refusal.exit_code
        }
    }
}
