//! Is every acknowledged record still there?

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use nix::errno::Errno;
use synctail_bench::Layout;
use synctail_sys::DirHandle;

use super::block::{self, Found, Identity, is_mixture};
use super::plan::{Location, Plan, Worker};
use super::result::{Counts, Loss, LossKind, WorkerResult};

/// Of one worker: when each record was acknowledged, by sequence, in milliseconds after 1970.
pub type Acks = BTreeMap<u64, u64>;

/// Losses that are listed for a worker; all are counted.
const LISTED_MAX: usize = 20;

/// Looks for every record of every worker that must still be there. `dir` is absent where the run's own
/// directory is gone.
///
/// # Errors
/// Where a file that is there cannot be read: that is not the same as a record that is missing.
pub fn verify(
    plan: &Plan,
    dir: Option<&DirHandle>,
    acks: &[Acks],
) -> io::Result<Vec<WorkerResult>> {
    let newest_ms = acks.iter().flat_map(BTreeMap::values).copied().max().unwrap_or(0);
    let workers = plan.workers.iter().zip(acks).enumerate();
    let run = plan.run_number().unwrap_or_default();
    workers
        .map(|(number, (worker, acks))| {
            let of = Of { dir, run, number, worker, newest_ms };
            of.verify(acks)
        })
        .collect()
}

struct Of<'a> {
    dir: Option<&'a DirHandle>,
    run: u128,
    number: usize,
    worker: &'a Worker,
    newest_ms: u64,
}

impl Of<'_> {
    fn verify(&self, acks: &Acks) -> io::Result<WorkerResult> {
        let mut result = WorkerResult::new(self.number, self.worker);
        let Some(&newest) = acks.keys().next_back() else { return Ok(result) };
        result.acknowledged = newest + 1;
        let first = self.worker.first_kept(newest);
        result.superseded = first;
        let mut open: Option<(u64, Option<File>)> = None;
        for sequence in first..=newest {
            let Location { file, offset_bytes } = self.worker.location(sequence);
            if open.as_ref().is_none_or(|(number, _)| *number != file) {
                open = Some((file, self.open(file)?));
            }
            let opened = open.as_ref().and_then(|(_, opened)| opened.as_ref());
            let kind = match opened {
                None => Some(LossKind::FileMissing),
                Some(opened) => self.look(opened, offset_bytes, sequence, newest)?,
            };
            let age_ms = acks.get(&sequence).map(|at| self.newest_ms.saturating_sub(*at));
            self.count(&mut result, sequence, kind, age_ms);
        }
        Ok(result)
    }

    fn count(
        &self,
        result: &mut WorkerResult,
        sequence: u64,
        kind: Option<LossKind>,
        age_ms: Option<u64>,
    ) {
        let Some(kind) = kind else {
            result.survived += 1;
            return;
        };
        Counts::add(&mut result.counts, kind);
        if kind.is_loss() {
            result.ages.add(age_ms);
        }
        if result.losses.len() < LISTED_MAX {
            let file = Worker::file_name(self.number, self.worker.location(sequence).file);
            result.losses.push(Loss { sequence, kind, file, age_ms });
        }
    }

    fn open(&self, file: u64) -> io::Result<Option<File>> {
        let Some(dir) = self.dir else { return Ok(None) };
        match dir.read(OsStr::new(&Worker::file_name(self.number, file))) {
            Ok(file) => {
                forget_cached(&file);
                Ok(Some(file))
            }
            Err(error) if error.errno == Errno::ENOENT as i32 => Ok(None),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    /// What became of a record; nothing where it, or a newer one in its place, is whole.
    fn look(
        &self,
        file: &File,
        offset: u64,
        sequence: u64,
        newest: u64,
    ) -> io::Result<Option<LossKind>> {
        let mut bytes = vec![0; self.worker.block_size_bytes as usize];
        let read = read_as_far_as_possible(file, &mut bytes, offset)?;
        if read < bytes.len() {
            let beyond = read == 0;
            return Ok(Some(if beyond { LossKind::FileTooShort } else { LossKind::Torn }));
        }
        let identity = |sequence| Identity { run: self.run, worker: self.number as u32, sequence };
        let next_in_place = match self.worker.layout {
            Layout::Append => None,
            Layout::Overwrite | Layout::Unwritten => {
                Some(sequence + self.worker.records_per_file()).filter(|next| *next == newest + 1)
            }
        };
        let found = block::read(&bytes, identity(sequence));
        // The record after the last one may have been on its way to the place of an older one.
        let under_way = || {
            next_in_place.is_some_and(|next| is_mixture(&bytes, identity(sequence), identity(next)))
        };
        Ok(match found {
            Found::Whole(found) if found == identity(sequence) => None,
            Found::Whole(found) if next_in_place.map(identity) == Some(found) => None,
            Found::Whole(found) if self.is_older(found, sequence) => Some(LossKind::Stale),
            Found::Zeros => Some(LossKind::Zeros),
            _ if under_way() => Some(LossKind::TornUnderWay),
            Found::Torn { .. } => Some(LossKind::Torn),
            Found::Whole(_) | Found::Foreign => Some(LossKind::Foreign),
        })
    }

    fn is_older(&self, found: Identity, sequence: u64) -> bool {
        found.run == self.run && found.worker == self.number as u32 && found.sequence < sequence
    }
}

fn read_as_far_as_possible(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// What this kernel still has in memory says nothing of the device; after a real cut there is nothing.
#[cfg(target_os = "linux")]
fn forget_cached(file: &File) {
    use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
    // Where it is refused the cached bytes are read, which were read from the device at some time.
    let _ = posix_fadvise(file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
}

#[cfg(not(target_os = "linux"))]
fn forget_cached(_file: &File) {}

#[cfg(test)]
#[path = "verify/tests.rs"]
mod tests;
