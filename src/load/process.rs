//! The life of the load's process.

use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use synctail_sys::{Arena, SysError, filesystem_stats};

use super::Mix;
use super::message::{Order, Said, Work};
use super::neighbour::{self, Kind, Place};
use super::precondition;
use super::tally::Tally;
use crate::child::{Directory, leftovers};

/// How long neighbours work before they count as being there.
const RAMP: Duration = Duration::from_millis(500);
/// Written at once by those who write much.
const CHUNK_BYTES: usize = 1 << 20;
/// The load may take so much of the free space: the measured files need their room as well.
const FREE_SHARE: u64 = 4;
/// A smaller file than this is no load.
const FILE_BYTES_MIN: u64 = 4 << 20;

/// Serves the owner at the other end of standard input until that is closed; then removes everything.
pub fn serve() -> i32 {
    // What the terminal sends is for the owner, whose end is ours.
    let _ = synctail_sys::ignore_signals();
    let mut stdin = std::io::stdin().lock();
    let mut line = String::new();
    let order: Option<Order> =
        stdin.read_line(&mut line).ok().and_then(|_| serde_json::from_str(&line).ok());
    drop(stdin);
    let Some(order) = order else { return crate::refusal::exit::USAGE };
    let tally = Arc::new(Tally::start());
    answer_in_background(&tally);
    if let Err(fault) = work(&order, &tally) {
        say(&Said::Failed { message: fault.to_string(), operation: fault.operation.to_owned() });
    }
    0
}

fn work(order: &Order, tally: &Tally) -> Result<(), SysError> {
    let path = PathBuf::from(OsString::from_vec(order.path.clone()));
    leftovers(&path, order.clean);
    let free = free_bytes(&path);
    let sized = match order.work {
        Work::Neighbours(mix) => sizes(mix, free, &path)?,
        Work::Precondition(_) => Default::default(),
    };
    let directory = Directory::create(&path).map_err(|fault| errno_of(&fault, &path))?;
    let arena = Arena::new(CHUNK_BYTES, order.seed);
    let place = |number: usize, file_bytes: u64| Place {
        dir: directory.handle(),
        number: number as u64,
        file_bytes,
        data: &arena[..CHUNK_BYTES],
        seed: order.seed.wrapping_add(number as u64),
        tally,
    };
    let worked = match order.work {
        Work::Precondition(wanted) => {
            let made = precondition::make(&place(0, 0), &wanted, free);
            made.map(|max_bytes| keep(max_bytes, tally))
        }
        Work::Neighbours(_) => {
            let (sizes, max_bytes) = sized;
            let sizes = sizes.into_iter().enumerate();
            let places: Vec<(Kind, Place)> =
                sizes.map(|(number, (kind, bytes))| (kind, place(number, bytes))).collect();
            let mut all = places.iter();
            let prepared = all.try_for_each(|(kind, place)| neighbour::prepare(*kind, place));
            prepared.map(|()| live_together(&places, tally, max_bytes))
        }
    };
    let left = directory.remove().err().map(|error| error.to_string());
    worked?;
    say(&Said::Ended { left });
    Ok(())
}

/// What was made stays until the owner has had enough.
fn keep(max_bytes: u64, tally: &Tally) {
    say(&Said::Ready { max_bytes });
    tally.rest_until_stopped();
}

/// Every neighbour on a thread of its own, until all have ended.
fn live_together(places: &[(Kind, Place)], tally: &Tally, max_bytes: u64) {
    thread::scope(|scope| {
        for (kind, place) in places {
            scope.spawn(move || {
                if let Err(error) = neighbour::live(*kind, place) {
                    tally.failed(format!("{}: {error}", kind.name()));
                }
            });
        }
        tally.rest(RAMP);
        say(&Said::Ready { max_bytes });
    });
}

/// Room of each neighbour, all together no more than a share of what is free. Small files take little, and
/// what they take cannot be less; the rest is divided as it was wanted.
fn sizes(mix: Mix, free: Option<u64>, path: &Path) -> Result<(Vec<(Kind, u64)>, u64), SysError> {
    let is_storm = |kind: &&Kind| **kind == Kind::FsyncStorm;
    let sum = |storms: bool| -> u64 {
        let kinds = mix.kinds().iter().filter(|kind| is_storm(kind) == storms);
        kinds.map(|kind| kind.wanted_bytes()).sum()
    };
    let (storms, large) = (sum(true), sum(false));
    let most = free.map_or(storms + large, |free| free / FREE_SHARE);
    let room = most.checked_sub(storms).map(|rest| rest.min(large));
    let share = |kind: &Kind, room: u64| match kind {
        Kind::FsyncStorm => Some(kind.wanted_bytes()),
        _ => {
            let share = u128::from(kind.wanted_bytes()) * u128::from(room) / u128::from(large);
            let whole = share as u64 / CHUNK_BYTES as u64 * CHUNK_BYTES as u64;
            (whole >= FILE_BYTES_MIN).then_some(whole)
        }
    };
    let sized: Option<Vec<(Kind, u64)>> = room.and_then(|room| {
        mix.kinds().iter().map(|kind| Some((*kind, share(kind, room)?))).collect()
    });
    let sized = sized.ok_or_else(|| {
        SysError::of("statfs", format!("the load's room in {}", path.display()), Errno::ENOSPC)
    })?;
    let max_bytes = sized.iter().map(|(_, bytes)| bytes).sum();
    Ok((sized, max_bytes))
}

/// Some filesystems refuse statfs; then a full one will be noticed by its errors.
fn free_bytes(path: &Path) -> Option<u64> {
    filesystem_stats(path).ok().and_then(|(_, free)| free)
}

fn errno_of(fault: &synctail_bench::Fault, path: &Path) -> SysError {
    let errno = match fault.cause {
        synctail_bench::Cause::Errno(errno) => Errno::from_raw(errno),
        _ => Errno::EIO,
    };
    SysError::of("mkdir", path.to_string_lossy(), errno)
}

/// A line is a question for the counters; the end of the lines is the end of the load.
fn answer_in_background(tally: &Arc<Tally>) {
    let tally = Arc::clone(tally);
    thread::spawn(move || {
        let lines = std::io::stdin().lock().lines();
        for _ in lines.map_while(Result::ok) {
            say(&Said::Counted(tally.report()));
        }
        tally.stop();
    });
}

/// An owner that is gone hears nothing.
fn say(said: &Said) {
    if let Ok(mut line) = serde_json::to_vec(said) {
        line.push(b'\n');
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_takes_a_share_of_what_is_free_and_refuses_to_be_none() {
        let path = Path::new("/x");
        let (sized, max_bytes) = sizes(Mix::Buffered, Some(1 << 40), path).unwrap();
        assert_eq!(max_bytes, 512 << 20);
        assert_eq!(sized, [(Kind::BufferedWriter, 256 << 20); 2]);
        assert_eq!(sizes(Mix::Buffered, None, path).unwrap().1, 512 << 20);
        assert_eq!(sizes(Mix::Buffered, Some(128 << 20), path).unwrap().1, 32 << 20);
        let refused = sizes(Mix::Buffered, Some(20 << 20), path).unwrap_err();
        assert_eq!(refused.errno, Errno::ENOSPC as i32);
        assert!(sizes(Mix::CiBurst, Some(1 << 30), path).is_ok());
        assert!(sizes(Mix::CiBurst, Some(1 << 20), path).is_err());
    }
}
