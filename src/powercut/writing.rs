//! `powercut write`: what is typed, where it goes, and how it ended.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};
use synctail_bench::{Arm, Layout};

use super::client::Keeper;
use super::plan::{DIRECTORY_PREFIX, Plan, Worker};
use super::refusals::{apart, boot_id, keeper, storage_error, unreachable_keeper};
use super::report::Report;
use super::store::Store;
use super::wire::Request;
use super::write::{self, Failure, Progress, Written};
use crate::args::{LayoutArg, WriteArgs};
use crate::check::complain;
use crate::human;
use crate::outputs::say;
use crate::program::Waiting;
use crate::record::ErrorReport;
use crate::refusal::Refusal;

const WORKERS: u64 = 4;
const FILE_SIZE_BYTES: u64 = 8 << 20;
const BLOCK_SIZES_BYTES: [u64; 2] = [4 << 10, 16 << 10];
const LAYOUTS: [LayoutArg; 2] = [LayoutArg::Append, LayoutArg::Overwrite];

/// Writes until the power goes, a signal arrives or the time is over.
///
/// # Errors
/// Where it cannot begin.
pub fn write(args: &WriteArgs) -> Result<(Report, i32), Refusal> {
    let waiting = Waiting::start()?;
    let keeper = keeper(&args.keeper, Some(&waiting), Store::open)?;
    apart(&args.path, &args.keeper)?;
    let plan = plan_of(args);
    enough_space(&args.path, &plan)?;
    let mut line = keeper.open().map_err(|error| unreachable_keeper(&keeper, &error))?;
    let dir = write::make_directory(&args.path, &plan.directory)
        .map_err(|error| storage_error(&error, &args.path))?;
    let planned = line.store(&Request::Run(plan.clone()), || true);
    planned.map_err(|error| unreachable_keeper(&keeper, &error))?;
    if !args.quiet {
        say(&format!(
            "run {} in {}: cut the power while it writes",
            plan.run,
            dir.path().display()
        ));
    }
    let bar = Bar::new(args.quiet);
    let duration = args.duration.map(Duration::from_nanos);
    let written = write::write(&plan, &dir, &keeper, &waiting, duration, |p| bar.show(p));
    bar.finish();
    let ended = match written.failure {
        // Whoever was not reached for a while is not asked once more.
        Some(Failure::Keeper(_)) => Ok(()),
        // The witness may have been started again meanwhile, and the first way to it be gone.
        _ => {
            keeper.open().and_then(|mut line| line.store(&Request::End(plan.run.clone()), || false))
        }
    };
    Ok(outcome(&plan, &keeper, written, ended, &args.path))
}

fn outcome(
    plan: &Plan,
    keeper: &Keeper,
    written: Written,
    ended: io::Result<()>,
    path: &Path,
) -> (Report, i32) {
    let failure = written.failure.map(|failure| match failure {
        Failure::Storage(error) => storage_error(&error, path),
        Failure::Keeper(why) => unreachable_keeper(keeper, &io::Error::other(why)),
    });
    let failure = failure.or_else(|| ended.err().map(|error| unreachable_keeper(keeper, &error)));
    if let Some(refusal) = &failure {
        complain(&refusal.report);
    }
    let code = written.signal.unwrap_or(failure.as_ref().map_or(0, |refusal| refusal.exit_code));
    let error: Option<ErrorReport> = failure.map(|refusal| *refusal.report);
    (Report::written(plan, written.acknowledged, error), code)
}

fn plan_of(args: &WriteArgs) -> Plan {
    let or = |given: &[u64], default: &[u64]| {
        if given.is_empty() { default.to_vec() } else { given.to_vec() }
    };
    let arms = if args.arms.is_empty() { vec![Arm::DEFAULT] } else { args.arms.clone() };
    let layouts = if args.layouts.is_empty() { &LAYOUTS[..] } else { &args.layouts };
    let sizes = or(&args.block_sizes, &BLOCK_SIZES_BYTES);
    // Each in its own rhythm, so that every combination comes about with enough workers.
    let workers = (0..args.workers.unwrap_or(WORKERS) as usize).map(|number| {
        let layout = Layout::from(layouts[number % layouts.len()]);
        let slower = number / layouts.len();
        let block_size_bytes = sizes[slower % sizes.len()];
        let arm = arms[(slower / sizes.len() + number) % arms.len()];
        let file_size_bytes = args.file_size.unwrap_or(FILE_SIZE_BYTES).max(block_size_bytes);
        Worker { arm, layout, block_size_bytes, file_size_bytes }
    });
    let workers = workers.collect();
    let run = format!("{:032x}", fastrand::u128(..));
    let directory = format!("{DIRECTORY_PREFIX}{run}");
    Plan { run, boot_id: boot_id(), directory, workers }
}

fn enough_space(path: &Path, plan: &Plan) -> Result<(), Refusal> {
    let needed = plan.workers.iter().map(Worker::bytes_on_disk).fold(0, u64::saturating_add);
    #[cfg(target_os = "linux")]
    {
        let (_, free) =
            synctail_sys::filesystem_stats(path).map_err(|error| storage_error(&error, path))?;
        match free {
            Some(free) if needed > free / 2 => Err(Refusal::cannot(
                "prepare",
                "plan",
                format!(
                    "the files may hold {}, more than half of the {} that are free",
                    human::bytes(needed),
                    human::bytes(free)
                ),
                "give a smaller --file-size or fewer --workers",
            )),
            _ => Ok(()),
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (path, needed);
        Ok(())
    }
}

/// The count of records on a terminal.
struct Bar(ProgressBar);

impl Bar {
    fn new(quiet: bool) -> Bar {
        let watched = !quiet && io::stderr().is_terminal();
        let target =
            if watched { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Bar(ProgressBar::with_draw_target(None, target))
    }

    fn show(&self, progress: &Progress) {
        let acknowledged = progress.acknowledged.load(Ordering::Relaxed);
        self.0.set_message(format!("{} records acknowledged", human::count(acknowledged)));
        self.0.tick();
    }

    fn finish(&self) {
        self.0.finish_and_clear();
    }
}
