//! The real device on real files.

use std::collections::BTreeMap;
use std::path::Path;

use synctail_sys::{Arena, DirHandle, OsClock, Scale};

use super::*;
use crate::{Cause, Cursor, Engine, FileTarget, PairPart, Storage, WorkerReport};

const BLOCK: u64 = 4_096;
const SEED: u64 = 7;

fn plan(arm: Arm, layout: Layout, depth: u64) -> Plan {
    Plan {
        arm,
        block_size_bytes: BLOCK,
        writes_per_barrier: 1,
        sync_fd: SyncFd::Own,
        workers: 2,
        length: Length::Iterations(20),
        warmup: 1,
        layout,
        segment_bytes: 8 * BLOCK,
        segments_kept: if layout == Layout::Overwrite { 1 } else { 100 },
        depth,
        ring: RingOptions::default(),
        cpus: vec![None; 2],
        samples_per_worker: 20,
        rate: None,
        seed: SEED,
    }
}

/// Why this arm cannot be measured here, if it is the machine that cannot.
fn lack(report: &RunReport) -> Option<String> {
    let fault = report.fault.as_ref()?;
    let no_ring = fault.operation == "io_uring_setup"
        && matches!(fault.cause, Cause::Errno(1 | 12 | 13 | 38));
    let no_direct = fault.operation == "open"
        && matches!(fault.cause, Cause::DirectUnsupported | Cause::Errno(22));
    (no_ring || no_direct).then(|| format!("{}: {:?}", fault.operation, fault.cause))
}

fn run_on(dir: &Path, plan: &Plan, arena: Arena) -> (Board, RunReport) {
    let dir = Arc::new(DirHandle::open(dir).unwrap());
    let target = FileTarget {
        storage: Storage::Directory(dir),
        arena,
        plan: plan.clone(),
        allowed_cpus: Vec::new(),
    };
    let board = board_for(plan);
    plan.check().unwrap();
    (board, crate::run(plan, &OsClock, &target, board))
}

fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    entries
        .map(|e| (e.file_name().into_string().unwrap(), std::fs::read(e.path()).unwrap()))
        .collect()
}

/// The files that a worker leaves: 21 blocks of the arena in segments of 8.
fn written(arena: Arena, step: usize, report: &WorkerReport) -> BTreeMap<String, Vec<u8>> {
    let mut cursor = Cursor::new(BLOCK, u64::MAX >> 1, arena.span(), step);
    let blocks: Vec<&[u8]> =
        std::iter::from_fn(|| cursor.next_place()).take(21).map(|p| arena.block(p.data)).collect();
    let name = |segment| format!("w{:05}-{segment:06}", report.worker);
    blocks.chunks(8).enumerate().map(|(i, blocks)| (name(i), blocks.concat())).collect()
}

fn check_parts(board: Board, arm: Arm) {
    let scale = Scale::nominal(1e9);
    let part = |worker, part| board.measured(0).part_ns(worker, part, arm, &scale, u64::MAX);
    for worker in 0..2 {
        let total = part(worker, PairPart::Total).unwrap();
        assert_eq!(total.len(), 20, "{arm}");
        assert!(total.iter().all(|&ns| ns > 0), "{arm}: {total:?}");
        assert_eq!(part(worker, PairPart::Write).is_some(), arm.has_own_write(), "{arm}");
        assert_eq!(part(worker, PairPart::Barrier).is_some(), arm.has_own_barrier(), "{arm}");
    }
}

#[test]
fn every_arm_writes_the_arena_in_order_and_is_measured() {
    let arena = Arena::new(BLOCK as usize, SEED);
    let mut measured = Vec::new();
    for arm in Arm::all() {
        for depth in if arm.uses_ring() { vec![1, 4] } else { vec![1] } {
            let dir = tempfile::tempdir().unwrap();
            let (board, report) = run_on(dir.path(), &plan(arm, Layout::Append, depth), arena);
            if let Some(lack) = lack(&report) {
                eprintln!("not tested here: {arm}: {lack}");
                continue;
            }
            assert_eq!(report.fault, None, "{arm}, depth {depth}");
            check_parts(board, arm);
            let mut expected = BTreeMap::new();
            for worker in &report.workers {
                assert_eq!(worker.segments, 3, "{arm}");
                assert_eq!(worker.enters > 0, arm.uses_ring(), "{arm}");
                let known = worker.facts.direct_alignment_bytes;
                let aligned = known.map_or(Arena::ALIGNMENT, |bytes| (bytes as usize).max(512));
                expected.extend(written(arena, if arm.direct { aligned } else { 1 }, worker));
            }
            // Not assert_eq: a mebibyte of bytes tells nobody anything.
            assert!(contents(dir.path()) == expected, "{arm}, depth {depth}: other contents");
            measured.push(arm);
        }
    }
    let plain = |arm: &Arm| arm.engine == Engine::Syscall && !arm.direct;
    let plain: Vec<Arm> = Arm::all().into_iter().filter(plain).collect();
    assert!(plain.iter().all(|arm| measured.contains(arm)), "only {measured:?}");
}

#[test]
fn pairs_of_several_writes_and_of_two_descriptors_write_the_same_files() {
    let arena = Arena::new(BLOCK as usize, SEED);
    let single = ["syscall/dsync", "syscall/o_dsync", "syscall/none"];
    let names = ["syscall/fsync"].into_iter().chain(single.iter().copied());
    let arms: Vec<Arm> = names.filter_map(|name| name.parse().ok()).collect();
    let of = |arm: Arm, writes_per_barrier: u64, sync_fd: SyncFd| {
        let dir = tempfile::tempdir().unwrap();
        // Of 8 blocks three do not make whole pairs: the rest of the segment stays empty.
        let pairs = Length::Iterations(6);
        let plan = plan(arm, Layout::Append, 1);
        let plan = Plan { length: pairs, writes_per_barrier, sync_fd, ..plan };
        let (board, report) = run_on(dir.path(), &plan, arena);
        assert_eq!(report.fault, None, "{arm}, {writes_per_barrier}, {sync_fd:?}");
        assert_eq!(board.pairs(), 12, "{arm}");
        let sizes: Vec<usize> = contents(dir.path()).values().map(Vec::len).collect();
        let blocks = sizes.iter().map(|bytes| bytes / BLOCK as usize).collect::<Vec<_>>();
        (blocks, contents(dir.path()))
    };
    for &arm in &arms {
        assert_eq!(of(arm, 1, SyncFd::Own).0, [7, 7], "{arm}");
        assert_eq!(of(arm, 2, SyncFd::Own).0, [8, 6, 8, 6], "{arm}");
        assert_eq!(of(arm, 3, SyncFd::Own).0, [6, 6, 6, 3, 6, 6, 6, 3], "{arm}");
    }
    let own = of(arms[0], 1, SyncFd::Own).1;
    for sync_fd in [SyncFd::Other, SyncFd::AfterClose, SyncFd::BeforeClose] {
        assert!(of(arms[0], 1, sync_fd).1 == own, "{sync_fd:?}: other contents");
    }
}

#[test]
fn layouts_leave_the_files_they_promise() {
    let arena = Arena::new(BLOCK as usize, SEED);
    let arms = ["syscall/fdatasync", "uring-linked/fdatasync"];
    for arm in arms.map(|name| name.parse::<Arm>().unwrap()) {
        for (layout, segments) in [(Layout::Overwrite, 1), (Layout::Unwritten, 3)] {
            let dir = tempfile::tempdir().unwrap();
            let (board, report) = run_on(dir.path(), &plan(arm, layout, 1), arena);
            if let Some(lack) = lack(&report) {
                eprintln!("not tested here: {arm}: {lack}");
                continue;
            }
            assert_eq!(report.fault, None, "{arm}, {layout:?}");
            assert_eq!(board.pairs(), 40);
            let files = contents(dir.path());
            assert_eq!(files.len(), 2 * segments, "{arm}, {layout:?}");
            assert!(files.values().all(|bytes| bytes.len() as u64 == 8 * BLOCK));
            let made: Vec<u64> = report.workers.iter().map(|w| w.segments).collect();
            assert_eq!(made, [segments as u64; 2], "{arm}, {layout:?}");
        }
    }
}

#[test]
fn a_directory_that_is_gone_is_a_fault_of_the_preparation() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gone");
    std::fs::create_dir(&path).unwrap();
    let handle = Arc::new(DirHandle::open(&path).unwrap());
    std::fs::remove_dir(&path).unwrap();
    let plan = plan(Arm::DEFAULT, Layout::Append, 1);
    let arena = Arena::new(BLOCK as usize, SEED);
    let target = FileTarget {
        storage: Storage::Directory(handle),
        arena,
        plan: plan.clone(),
        allowed_cpus: Vec::new(),
    };
    let board = board_for(&plan);
    let report = crate::run(&plan, &OsClock, &target, board);
    let fault = report.fault.unwrap();
    assert_eq!((fault.stage, fault.operation.as_str()), (crate::Stage::Prepare, "open"));
    assert_eq!(fault.cause, Cause::Errno(2));
    assert!(fault.object.unwrap().contains("gone/w0000"));
    assert_eq!((report.workers, board.pairs()), (Vec::new(), 0));
}
