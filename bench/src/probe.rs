//! A few bare pairs of system calls on a file of their own, before the run: what a flush costs here when
//! nothing stands between the call and the clock.
//!
//! An arm whose barrier is part of a larger operation cannot show that the barrier did nothing: a ring's
//! own cost of some microseconds, or the write, hides it.

use std::ffi::OsStr;

use serde::{Deserialize, Serialize};
use synctail_sys::{Arena, Clock, DirHandle, OpenMode, Place, Scale, SyscallFile};

use crate::board::Activity;
use crate::{Control, Fault, Percentile};

/// The file's name in the work directory.
pub const PROBE_FILE: &str = "probe";
const PAIRS_MAX: usize = 32;
/// No pair begins after so long.
const BUDGET_NS: u64 = 100_000_000;

/// Medians of the bare pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeReport {
    /// Pairs that were done; at least 2.
    pub pairs: u64,
    /// Of pwrite.
    pub write_p50_ns: u64,
    /// Of fdatasync (fsync where that does not exist).
    pub barrier_p50_ns: u64,
}

/// Writes blocks of `arena` to a file in `dir`, flushing each, and removes it. Nothing where not even two
/// pairs could be done for want of space, rights or time: the run itself will show why.
///
/// # Errors
/// A barrier that fails: a second one that succeeds would mean nothing.
pub fn probe<C: Clock>(
    dir: &DirHandle,
    arena: Arena,
    clock: &C,
    control: Control,
) -> Result<Option<ProbeReport>, Fault> {
    let name = OsStr::new(PROBE_FILE);
    let made =
        control.during(Activity::Create, clock.ticks(), || dir.create(name, OpenMode::default()));
    let Ok(file) = made else { return Ok(None) };
    let measured = pairs(&SyscallFile::new(file, arena), arena, clock, control);
    // What cannot be removed now is removed, or reported, with the directory.
    let _ = control.during(Activity::Remove, clock.ticks(), || dir.remove(name));
    let (mut writes, mut barriers) = measured?;
    Ok(median(&mut writes).zip(median(&mut barriers)).map(|(write_p50_ns, barrier_p50_ns)| {
        ProbeReport { pairs: writes.len() as u64, write_p50_ns, barrier_p50_ns }
    }))
}

fn pairs<C: Clock>(
    file: &SyscallFile,
    arena: Arena,
    clock: &C,
    control: Control,
) -> Result<(Vec<u64>, Vec<u64>), Fault> {
    let scale = Scale::nominal(clock.nominal_ticks_per_s());
    let block_bytes = arena.block(0).len() as u64;
    let (mut writes, mut barriers) = (Vec::new(), Vec::new());
    let began = clock.ticks();
    for number in 0..PAIRS_MAX as u64 {
        let start = clock.ticks();
        if scale.ns(start - began) > BUDGET_NS {
            break;
        }
        let place = Place { offset: number * block_bytes, data: 0 };
        let written = control.during(Activity::Fill, start, || file.pwrite(place));
        if !written.is_full(block_bytes as usize) {
            break;
        }
        let middle = clock.ticks();
        let flushed = control.during(Activity::FillSync, middle, || flush(file));
        let end = clock.ticks();
        if !flushed.is_success() {
            return Err(Fault::of_barrier(FLUSH, flushed));
        }
        writes.push(scale.ns(middle.saturating_sub(start)));
        barriers.push(scale.ns(end.saturating_sub(middle)));
    }
    Ok((writes, barriers))
}

fn median(samples: &mut [u64]) -> Option<u64> {
    samples.sort_unstable();
    Percentile::P50.of(samples)
}

#[cfg(target_os = "linux")]
const FLUSH: &str = "fdatasync";
#[cfg(not(target_os = "linux"))]
const FLUSH: &str = "fsync";

#[cfg(target_os = "linux")]
fn flush(file: &SyscallFile) -> synctail_sys::CallResult {
    file.fdatasync()
}

#[cfg(not(target_os = "linux"))]
fn flush(file: &SyscallFile) -> synctail_sys::CallResult {
    file.fsync()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Board, BoardSize};
    use synctail_sys::OsClock;

    #[test]
    fn the_probe_measures_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let handle = DirHandle::open(dir.path()).unwrap();
        let size = BoardSize { workers: 1, depth: 1, samples_per_worker: 1 };
        let words = synctail_sys::reserve_words(size.words() as usize).unwrap();
        let control = Board::new(words, size).main();
        let arena = Arena::new(4_096, 1);
        let report = probe(&handle, arena, &OsClock, control).unwrap().unwrap();
        assert!((2..=PAIRS_MAX as u64).contains(&report.pairs), "{report:?}");
        assert!(report.write_p50_ns > 0 && report.barrier_p50_ns > 0, "{report:?}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        // A name that is taken is left alone, and the run goes on without a probe.
        std::fs::write(dir.path().join(PROBE_FILE), "keep").unwrap();
        assert_eq!(probe(&handle, arena, &OsClock, control).unwrap(), None);
        assert_eq!(std::fs::read(dir.path().join(PROBE_FILE)).unwrap(), b"keep");
    }
}
