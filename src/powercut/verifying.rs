//! `powercut verify`: what the keeper knows against what is on the disk.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use nix::errno::Errno;
use synctail_sys::{DirHandle, SysError};

use super::client::{Keeper, Line};
use super::plan::Plan;
use super::refusals::{boot_id, keeper, no_run, storage_error, unreachable_keeper};
use super::report::{Circumstances, Report};
use super::store::Store;
use super::verify::{self, Acks};
use super::wire::{Entry, Request};
use crate::args::VerifyArgs;
use crate::refusal::{Refusal, exit};

/// Exit code where acknowledged records are missing.
const NOT_DURABLE: i32 = 4;

/// What the keeper knows of a run.
struct Known {
    plan: Plan,
    acks: Vec<Acks>,
    ended_by_itself: bool,
}

/// Looks for every acknowledged record of a run.
///
/// # Errors
/// Where the keeper or the storage cannot be read.
pub fn verify(args: &VerifyArgs) -> Result<(Report, i32), Refusal> {
    let keeper = keeper(&args.keeper, None, Store::read)?;
    let mut line = keeper.open().map_err(|error| unreachable_keeper(&keeper, &error))?;
    let run = args.run.clone().map_or_else(|| last_run(&mut line, &keeper), Ok)?;
    let known = known(&mut line, &keeper, &run)?;
    let parent = DirHandle::open(&args.path).map_err(|error| storage_error(&error, &args.path))?;
    let dir = open_if_there(&parent, &known.plan.directory)
        .map_err(|error| storage_error(&error, &args.path))?;
    let workers = verify::verify(&known.plan, dir.as_ref(), &known.acks)
        .map_err(|error| unreadable(&args.path, &error))?;
    let restarted = boot_id().zip(known.plan.boot_id.as_ref()).map(|(now, then)| now != *then);
    let around = Circumstances { restarted, ended_by_itself: known.ended_by_itself };
    let report = Report::verified(&known.plan, workers, around);
    let lost = report.lost() > 0;
    if let Some(dir) = dir.filter(|_| args.remove && !lost) {
        remove(&parent, &dir).map_err(|error| storage_error(&error, &args.path))?;
    }
    let code = match (lost, report.acknowledged()) {
        (true, _) => NOT_DURABLE,
        (false, 0) => exit::CANNOT_TELL,
        (false, _) => 0,
    };
    Ok((report, code))
}

fn last_run(line: &mut Line, keeper: &Keeper) -> Result<String, Refusal> {
    let mut last = None;
    line.read(&Request::List, |entry| last = Some(entry.run().to_owned()))
        .map_err(|error| unreachable_keeper(keeper, &error))?;
    last.ok_or_else(|| no_run(keeper, "any run"))
}

fn known(line: &mut Line, keeper: &Keeper, run: &str) -> Result<Known, Refusal> {
    let (mut plan, mut acks, mut ended_by_itself) = (None::<Plan>, Vec::<Acks>::new(), false);
    let read = line.read(&Request::Read(run.to_owned()), |entry| match entry {
        Entry::Run(found) => {
            acks.resize_with(found.workers.len(), Acks::new);
            plan = Some(found);
        }
        Entry::Ack { worker, sequence, at_ms, .. } => {
            if let Some(acks) = acks.get_mut(worker) {
                acks.entry(sequence).or_insert(at_ms);
            }
        }
        Entry::End { .. } => ended_by_itself = true,
    });
    read.map_err(|error| unreachable_keeper(keeper, &error))?;
    let plan = plan.filter(Plan::is_ours);
    let plan = plan.ok_or_else(|| no_run(keeper, &format!("run {run}")))?;
    Ok(Known { plan, acks, ended_by_itself })
}

fn open_if_there(parent: &DirHandle, name: &str) -> Result<Option<DirHandle>, SysError> {
    match parent.open_dir(OsStr::new(name)) {
        Ok(dir) => Ok(Some(dir)),
        Err(error) if error.errno == Errno::ENOENT as i32 => Ok(None),
        Err(error) => Err(error),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Refusal {
    let text = format!("verify {}: {error}", path.display());
    let remedy = "a record that cannot be read is neither there nor lost; repair the storage first";
    Refusal::cannot("verify", "read", text, remedy)
}

/// Removes the run's files, and no other.
fn remove(parent: &DirHandle, dir: &DirHandle) -> Result<(), SysError> {
    for name in dir.names()? {
        if name.to_str().is_some_and(|name| name.starts_with('w')) {
            dir.remove(&name)?;
        }
    }
    parent.remove_dir(dir)
}
