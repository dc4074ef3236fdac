//! The probe before the run: bare pairs of system calls on a file of its own, in slices with and without
//! barriers.
//!
//! What counters of the machine move more in slices with barriers than in those without, the barriers
//! moved: other load on the disk moves both alike. And an arm whose barrier is part of a larger operation
//! cannot show that the barrier did nothing: a ring's own cost of some microseconds, or the write, hides
//! it, where a bare call does not.

use std::ffi::OsStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use synctail_sys::{Arena, CallResult, Clock, OpenMode, Place, Scale, SyscallFile};

use crate::board::Activity;
use crate::{Control, Fault, Percentile, Storage};

/// The file's name in the work directory.
pub const PROBE_FILE: &str = "probe";
/// A slice ends after so many pairs.
const SLICE_PAIRS_MAX: u64 = 8;
/// A slice begins no pair after so long.
const SLICE_NS: u64 = 12_000_000;
/// No round begins after so long; one more round and the last pair come on top.
const BUDGET_NS: u64 = 300_000_000;
const ROUNDS_MAX: u64 = 4;
/// A file that is written again from its start stays small.
const FILE_BLOCKS: u64 = 256;

/// What a slice does after each write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flush {
    /// Nothing.
    None,
    /// The C library's fdatasync, which a preloaded library can replace (fsync on macOS).
    Libc,
    /// The same system call past the library.
    Raw,
}

/// One slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// What followed each write.
    pub flush: Flush,
    /// Writes.
    pub pairs: u64,
    /// How far each counter moved, in the order of the counters.
    pub moved: Vec<u64>,
}

/// What the probe saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeReport {
    /// Pairs with a barrier, the first one left out.
    pub pairs: u64,
    /// The very first barrier: a fresh filesystem may make it wait for a transaction.
    pub first_barrier_ns: u64,
    /// Median of pwrite.
    pub write_p50_ns: u64,
    /// Median of the C library's barrier.
    pub barrier_p50_ns: u64,
    /// Median of the same call past the library; nothing on macOS.
    pub raw_barrier_p50_ns: Option<u64>,
    /// In order.
    pub slices: Vec<Slice>,
}

/// Probes in `storage` with blocks of `arena` and removes its file. `counters` is read before and after each
/// slice. Nothing where no slice could be done for want of space or rights: the run itself will show why.
///
/// # Errors
/// A barrier that fails: a second one that succeeds would mean nothing.
pub fn probe<C: Clock>(
    storage: &Storage,
    arena: Arena,
    clock: &C,
    control: Control,
    counters: &mut impl FnMut() -> Vec<u64>,
) -> Result<Option<ProbeReport>, Fault> {
    let name = OsStr::new(PROBE_FILE);
    let create = || storage.open(name, OpenMode::default());
    let Ok(file) = control.during(Activity::Create, clock.ticks(), create) else {
        return Ok(None);
    };
    let scale = Scale::nominal(clock.nominal_ticks_per_s());
    let file = SyscallFile::new(file, arena);
    let blocks = storage.probe_bytes_max() / arena.block(0).len() as u64;
    let blocks = blocks.clamp(1, FILE_BLOCKS);
    let times = Times::default();
    let mut prober = Prober { file, arena, clock, control, scale, blocks, number: 0, times };
    let report = prober.run(counters);
    // What cannot be removed now is removed, or reported, with the directory.
    let _ = control.during(Activity::Remove, clock.ticks(), || storage.remove(name));
    report
}

#[derive(Default)]
struct Times {
    write: Vec<u64>,
    libc: Vec<u64>,
    raw: Vec<u64>,
}

struct Prober<'a, C> {
    file: SyscallFile,
    arena: Arena,
    clock: &'a C,
    control: Control,
    scale: Scale,
    blocks: u64,
    number: u64,
    times: Times,
}

/// A write that was not full ends the probe, and is no fault of its own.
enum Done {
    Pair,
    NoSpace,
}

impl<C: Clock> Prober<'_, C> {
    fn run(
        &mut self,
        counters: &mut impl FnMut() -> Vec<u64>,
    ) -> Result<Option<ProbeReport>, Fault> {
        let began = self.clock.ticks();
        if let Done::NoSpace = self.pair(Flush::Libc)? {
            return Ok(None);
        }
        let first_barrier_ns = self.times.libc.first().copied().unwrap_or(0);
        self.times = Times::default();
        let mut slices = Vec::new();
        for _ in 0..ROUNDS_MAX {
            // There and back, so that a load that grows or fades weighs on all alike.
            let mut lasted_ns = SLICE_NS;
            for flush in
                [Flush::Libc, Flush::Raw, Flush::None, Flush::None, Flush::Raw, Flush::Libc]
            {
                let Some((slice, ns)) = self.slice(flush, lasted_ns, counters)? else {
                    return Ok(self.report(first_barrier_ns, slices));
                };
                lasted_ns = ns;
                slices.push(slice);
            }
            if self.scale.ns(self.clock.ticks().saturating_sub(began)) > BUDGET_NS {
                break;
            }
        }
        Ok(self.report(first_barrier_ns, slices))
    }

    /// One slice and how long it lasted; a slice without barriers takes as long as the one before, so
    /// that the counters have the same time to be moved by others.
    fn slice(
        &mut self,
        flush: Flush,
        before_ns: u64,
        counters: &mut impl FnMut() -> Vec<u64>,
    ) -> Result<Option<(Slice, u64)>, Fault> {
        let before = counters();
        let began = self.clock.ticks();
        let elapsed_ns =
            |prober: &Self| prober.scale.ns(prober.clock.ticks().saturating_sub(began));
        let mut pairs = 0;
        while pairs < SLICE_PAIRS_MAX && (pairs == 0 || elapsed_ns(self) < SLICE_NS) {
            if let Done::NoSpace = self.pair(flush)? {
                return Ok(None);
            }
            pairs += 1;
        }
        if flush == Flush::None {
            std::thread::sleep(Duration::from_nanos(before_ns.saturating_sub(elapsed_ns(self))));
        }
        let lasted_ns = elapsed_ns(self);
        let moved =
            before.iter().zip(counters()).map(|(before, after)| after.saturating_sub(*before));
        Ok(Some((Slice { flush, pairs, moved: moved.collect() }, lasted_ns)))
    }

    fn pair(&mut self, flush: Flush) -> Result<Done, Fault> {
        let block_bytes = self.arena.block(0).len();
        let offset = self.number % self.blocks * block_bytes as u64;
        let place = Place { offset, data: 0 };
        self.number += 1;
        let start = self.clock.ticks();
        let written = self.control.during(Activity::Fill, start, || self.file.pwrite(place));
        if !written.is_full(block_bytes) {
            return Ok(Done::NoSpace);
        }
        let middle = self.clock.ticks();
        self.times.write.push(self.scale.ns(middle.saturating_sub(start)));
        if flush == Flush::None {
            return Ok(Done::Pair);
        }
        let call = || self.flush(flush);
        let flushed = self.control.during(Activity::FillSync, middle, call);
        let end = self.clock.ticks();
        if !flushed.is_success() {
            return Err(Fault::of_barrier(FLUSH, flushed));
        }
        let times = if flush == Flush::Raw { &mut self.times.raw } else { &mut self.times.libc };
        times.push(self.scale.ns(end.saturating_sub(middle)));
        Ok(Done::Pair)
    }

    fn report(&mut self, first_barrier_ns: u64, slices: Vec<Slice>) -> Option<ProbeReport> {
        let pairs = (self.times.libc.len() + self.times.raw.len()) as u64;
        Some(ProbeReport {
            pairs,
            first_barrier_ns,
            write_p50_ns: median(&mut self.times.write)?,
            barrier_p50_ns: median(&mut self.times.libc)?,
            raw_barrier_p50_ns: median(&mut self.times.raw),
            slices,
        })
    }

    #[cfg(target_os = "linux")]
    fn flush(&self, flush: Flush) -> CallResult {
        if flush == Flush::Raw { self.file.fdatasync_raw() } else { self.file.fdatasync() }
    }

    #[cfg(not(target_os = "linux"))]
    fn flush(&self, _flush: Flush) -> CallResult {
        self.file.fsync()
    }
}

/// One sample stands for itself.
fn median(samples: &mut [u64]) -> Option<u64> {
    samples.sort_unstable();
    Percentile::P50.of(samples).or(samples.first().copied())
}

#[cfg(target_os = "linux")]
const FLUSH: &str = "fdatasync";
#[cfg(not(target_os = "linux"))]
const FLUSH: &str = "fsync";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Board, BoardSize};
    use synctail_sys::{DirHandle, OsClock};

    #[test]
    fn the_probe_measures_in_slices_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let handle = DirHandle::open(dir.path()).unwrap();
        let handle = Storage::Directory(std::sync::Arc::new(handle));
        let size = BoardSize { workers: 1, depth: 1, samples_per_worker: 1 };
        let words = synctail_sys::reserve_words(size.words() as usize).unwrap();
        let control = Board::new(words, size).main();
        let arena = Arena::new(4_096, 1);
        let mut reads = 0;
        let mut counters = || {
            reads += 1;
            vec![7, reads]
        };
        let report = probe(&handle, arena, &OsClock, control, &mut counters).unwrap().unwrap();
        assert!(report.write_p50_ns > 0 && report.barrier_p50_ns > 0, "{report:?}");
        assert!(report.slices.len() >= 6 && report.slices.len() % 6 == 0, "{report:?}");
        let of = |flush| report.slices.iter().filter(move |slice| slice.flush == flush);
        let pairs: u64 = of(Flush::Libc).chain(of(Flush::Raw)).map(|slice| slice.pairs).sum();
        assert_eq!(pairs, report.pairs);
        assert_eq!(of(Flush::None).count(), of(Flush::Libc).count());
        assert!(report.slices.iter().all(|slice| slice.moved == [0, 1]), "{report:?}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        // A name that is taken is left alone, and the run goes on without a probe.
        std::fs::write(dir.path().join(PROBE_FILE), "keep").unwrap();
        let second = probe(&handle, arena, &OsClock, control, &mut || Vec::new()).unwrap();
        assert_eq!(second, None);
        assert_eq!(std::fs::read(dir.path().join(PROBE_FILE)).unwrap(), b"keep");
    }
}
