//! Run after run in the planned order, the state saved after each.

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use super::document::{Cell, Round, Sweep};
use super::store;
use crate::args::SweepArgs;
use crate::human;
use crate::outputs::say;
use crate::program::{Program, Waiting};
use crate::record::{ErrorReport, Record};
use crate::refusal::{Refusal, exit};

/// Does what is still to be done.
///
/// # Errors
/// Where no process can be had, the device is refused, or the state cannot be saved. A signal is none.
pub fn run(sweep: &mut Sweep, args: &SweepArgs, waiting: &Waiting) -> Result<(), Refusal> {
    let mut due = due(sweep);
    let all: usize = sweep.plan.order.iter().map(Vec::len).sum();
    while let Some((round, index)) = due.pop() {
        if waiting.signal().is_some() {
            return Ok(());
        }
        if !args.quiet {
            announce(sweep, (all - due.len(), all), (round, index), &due);
        }
        let began = Instant::now();
        // The first run on a device asks on a terminal; what it wrote is no reason to refuse the next.
        let first = due.len() + 1 == all;
        let line = check_args(sweep, &sweep.cells[index], args, !first);
        let program = match first && args.device.device.is_some() {
            true => Program::start_asking(&line)?,
            false => Program::start(&line, true)?,
        };
        let ended = program.wait(waiting);
        if waiting.signal().is_some() || interrupted(ended.code) {
            return Ok(());
        }
        let record = serde_json::from_slice::<Record>(&ended.output).map_err(|error| {
            let text = format!(
                "the run of {} said nothing that can be read: {error}",
                name(&sweep.cells[index])
            );
            Refusal::cannot("internal", "read", text, "")
        })?;
        if let Some(error) = record.error.as_ref().filter(|error| first && is_of_the_place(error)) {
            return Err(Refusal { report: Box::new(error.clone()), exit_code: exit::CANNOT_TELL });
        }
        let took_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let rounds = sweep.plan.rounds;
        let figures = figures(&record, took_ns);
        sweep.cells[index].add(record, figures, rounds);
        if let Some(path) = &args.save {
            store::save(path, sweep)?;
        }
    }
    Ok(())
}

/// Runs that are not done, the next one last, as round and cell.
fn due(sweep: &Sweep) -> Vec<(usize, usize)> {
    let rounds = sweep.plan.order.iter().enumerate();
    let mut due: Vec<(usize, usize)> = rounds
        .flat_map(|(round, order)| order.iter().map(move |&cell| (round, cell)))
        .filter(|&(round, cell)| sweep.cells[cell].rounds.len() <= round)
        .collect();
    due.reverse();
    due
}

/// What refuses one cell for its place refuses all.
fn is_of_the_place(error: &ErrorReport) -> bool {
    const OPERATIONS: [&str; 6] = ["open", "mkdir", "statfs", "claim", "confirm", "open O_EXCL"];
    error.stage == "prepare" && OPERATIONS.contains(&error.operation.as_str())
}

fn interrupted(code: Option<i32>) -> bool {
    matches!(code, Some(exit::INTERRUPTED | exit::TERMINATED))
}

fn announce(
    sweep: &Sweep,
    (number, all): (usize, usize),
    (round, index): (usize, usize),
    later: &[(usize, usize)],
) {
    let left = left_ns(sweep, index, later).map(|ns| format!("; about {} left", human::time(ns)));
    say(&human::escape_controls(&format!(
        "run {number} of {all}: {}, round {}{}",
        name(&sweep.cells[index]),
        round + 1,
        left.unwrap_or_default(),
    )));
}

/// A cell takes what it took before, or, before its first run, what all took on average.
fn left_ns(sweep: &Sweep, now: usize, later: &[(usize, usize)]) -> Option<u64> {
    let took = |cell: &Cell| cell.rounds.last().map(|round| round.took_ns);
    let known: Vec<u64> = sweep.cells.iter().filter_map(took).collect();
    let mean = known.iter().sum::<u64>().checked_div(known.len() as u64)?;
    let left = later.iter().map(|&(_, cell)| cell).chain([now]);
    Some(left.map(|cell| took(&sweep.cells[cell]).unwrap_or(mean)).sum())
}

/// A cell in words.
pub fn name(cell: &Cell) -> String {
    let axes = &cell.axes;
    let label = cell.label.as_ref().map_or(String::new(), |label| format!("{label}: "));
    format!(
        "{label}{} {} {} w={} d={}",
        axes.arm,
        axes.layout.name(),
        human::bytes(axes.block_size_bytes),
        axes.workers,
        axes.depth
    )
}

/// The command line of `check` for one run of `cell`.
pub fn check_args(sweep: &Sweep, cell: &Cell, args: &SweepArgs, ours: bool) -> Vec<OsString> {
    let axes = &cell.axes;
    let mut line: Vec<OsString> = vec!["check".into()];
    match &args.device.device {
        None => line.extend(["--".into(), args.path.clone().into_os_string()]),
        Some(device) => {
            line.extend(["--destroy-data".into(), "--device".into(), device.into()]);
            line.extend((ours || args.device.force_signature).then(|| "--force-signature".into()));
        }
    }
    let mut flags = sweep.plan.flags.clone();
    flags.extend([
        format!("--arm={}", axes.arm),
        format!("--block-size={}", axes.block_size_bytes),
        format!("--writes-per-barrier={}", axes.writes_per_barrier),
        format!("--sync-fd={}", axes.sync_fd.name()),
        format!("--workers={}", axes.workers),
        format!("--depth={}", axes.depth),
        format!("--layout={}", axes.layout.name()),
        format!("--seed={}", sweep.plan.seed),
        "--format=json".to_owned(),
        "--quiet".to_owned(),
        format!("--end-with={}", std::process::id()),
    ]);
    // Flags first: what follows the two dashes is the path, whatever it looks like.
    line.splice(1..1, flags.into_iter().map(OsString::from));
    line
}

fn figures(record: &Record, took_ns: u64) -> Round {
    let total = record.distributions.as_ref().map(|all| &all.pooled.total);
    Round {
        status: record.status,
        error: record.error.as_ref().map(|error| error.message.clone()),
        mean_ns: total.map(|total| total.mean_ns),
        p50_ns: total.and_then(|total| total.p50_ns),
        p99_ns: total.and_then(|total| total.p99_ns),
        max_ns: total.map(|total| total.max_ns),
        pairs_per_s: record.pairs_per_s,
        took_ns,
    }
}

/// Flags of `check` that all cells share.
pub fn shared_flags(args: &SweepArgs, iters: u64, policy: &Path) -> Vec<String> {
    let mut flags = vec![format!("--policy={}", policy.display())];
    flags.push(match args.duration {
        Some(ns) => format!("--duration={ns}ns"),
        None => format!("--iters={iters}"),
    });
    flags.extend(args.file_size.map(|bytes| format!("--file-size={bytes}")));
    flags.extend(args.max_bytes.map(|bytes| format!("--max-bytes={bytes}")));
    flags.extend(args.timeout.map(|ns| format!("--timeout={ns}ns")));
    flags
}
