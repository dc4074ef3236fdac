//! The loops allocate nothing: a run of ten times as many pairs allocates as often as a short one.
//!
//! The counter is the process's allocator, so this is a program of its own with one test.
#![allow(clippy::unwrap_used, reason = "a test's helpers stand outside of any test function")]

use std::alloc::System;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use synctail_bench::{
    Arm, Board, BoardSize, Bounds, Closed, DeviceFacts, Ended, FileTarget, Iowq, Lane, Layout,
    Length, MeasureLoop, MemoryPreparer, Plan, RingOptions, Storage, SyncFd, Target, Visitor,
    WarmUp,
};
use synctail_sys::{Arena, DirHandle, OsClock, reserve_words};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

static NO_STOP: AtomicU64 = AtomicU64::new(0);

const BLOCK: u64 = 512;
const SHORT: u64 = 1_000;
const LONG: u64 = 10_000;

/// Writes, and the descriptor of the barrier.
type Pair = (u64, SyncFd);

const ONE: Pair = (1, SyncFd::Own);

fn plan(arm: Arm, depth: u64, (writes_per_barrier, sync_fd): Pair) -> Plan {
    Plan {
        arm,
        block_size_bytes: BLOCK,
        writes_per_barrier,
        sync_fd,
        workers: 1,
        length: Length::Iterations(LONG),
        warmup: 50,
        layout: Layout::Append,
        // All of it in one segment: making a file allocates, and may.
        segment_bytes: (50 + SHORT + LONG) * BLOCK * writes_per_barrier,
        segments_kept: 1,
        depth,
        ring: RingOptions { iowq: Some(Iowq::Any), ..RingOptions::default() },
        cpus: vec![None],
        samples_per_worker: LONG,
        rate: None,
        seed: 1,
    }
}

/// Allocations of all kinds during a short and a long run of one loop.
struct Count(Board);

impl Visitor for Count {
    type Output = [usize; 2];

    fn visit<L: MeasureLoop>(self, mut measure: L, _: DeviceFacts) -> [usize; 2] {
        let bounds = |pairs| Bounds { pairs, deadline_tick: u64::MAX, stop: &NO_STOP };
        let warm_up = &mut WarmUp::new(&self.0, 0);
        assert_eq!(measure.run(&OsClock, warm_up, &bounds(50), &mut Closed).unwrap(), Ended::Pairs);
        [SHORT, LONG].map(|pairs| {
            let mut lane = Lane::new(&self.0, 0);
            let region = Region::new(ALLOCATOR);
            let ended = measure.run(&OsClock, &mut lane, &bounds(pairs), &mut Closed).unwrap();
            let change = region.change();
            assert_eq!((ended, self.0.pairs()), (Ended::Pairs, pairs));
            change.allocations + change.reallocations + change.deallocations
        })
    }
}

fn count(dir: &Path, arm: Arm, depth: u64, pair: Pair) -> [usize; 2] {
    let plan = plan(arm, depth, pair);
    plan.check().unwrap();
    let size = BoardSize { workers: 1, depth, samples_per_worker: LONG };
    let board = Board::new(reserve_words(size.words() as usize).unwrap(), size);
    MemoryPreparer::new(board).advance();
    let arena = Arena::new(BLOCK as usize, plan.seed);
    let dir = Arc::new(DirHandle::open(dir).unwrap());
    let target =
        FileTarget { storage: Storage::Directory(dir), arena, plan, allowed_cpus: Vec::new() };
    target.open(0, board, &OsClock, Count(board)).unwrap()
}

/// Memory where there is some: ten thousand flushes of a slow disk would take a minute.
fn directory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap()
}

#[test]
fn no_loop_allocates_for_a_pair() {
    let mut cases = vec![("syscall/fsync", 1, ONE), ("syscall/none", 1, (3, SyncFd::Own))];
    let others = [SyncFd::Other, SyncFd::AfterClose, SyncFd::BeforeClose];
    cases.extend(others.map(|sync_fd| ("syscall/fsync", 1, (1, sync_fd))));
    if cfg!(target_os = "linux") {
        cases.extend([("syscall/dsync", 1, ONE), ("syscall/fdatasync", 1, (3, SyncFd::Own))]);
        for depth in [1, 4] {
            cases.extend([("uring/fdatasync", depth, ONE), ("uring/dsync", depth, ONE)]);
            cases.push(("uring-linked/fdatasync", depth, ONE));
        }
    }
    for (arm, depth, pair) in cases {
        let runs = || count(directory().path(), arm.parse().unwrap(), depth, pair);
        // The test harness's own thread may allocate meanwhile, but it does not do so three times.
        let counts = [runs(), runs(), runs()];
        let least = |run: usize| counts.iter().map(|runs| runs[run]).min();
        assert_eq!(least(0), least(1), "{arm}, depth {depth}, {pair:?}: {counts:?}");
        assert_eq!(least(1), Some(0), "{arm}, depth {depth}, {pair:?}: {counts:?}");
    }
}
