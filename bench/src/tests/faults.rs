//! What does not count, and what it does to the run.

use super::*;
use crate::{Cause, Fault, Stage};
use synctail_sys::{CallResult, Completion, Part};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const ECANCELED: i32 = 125;

fn is_ring(shape: Shape) -> bool {
    matches!(shape, Shape::Ring { .. })
}

fn has_barrier(shape: Shape) -> bool {
    !matches!(shape, Shape::Single | Shape::Ring { chain: Chain::Single { .. }, .. })
}

fn write_name(shape: Shape) -> &'static str {
    if is_ring(shape) { "io_uring write" } else { "fake write" }
}

fn barrier_name(shape: Shape) -> &'static str {
    if is_ring(shape) { "io_uring fsync" } else { "fake barrier" }
}

/// Runs three workers without end, the second of which meets `bad` at its sixth measured pair, or at
/// its sixth warm-up pair; checks what is the same for every fault.
fn meet(shape: Shape, stage: Stage, bad: Step) -> (Fault, Done) {
    let case = Case { warmup: 8, ..Case::endless(shape, 3) };
    let done = case.run(move |pair| {
        let is_bad = pair.worker == 1 && pair.index == 5;
        if is_bad && pair.is_warmup == (stage == Stage::Warmup) {
            bad.clone()
        } else {
            Step::new(100, 100)
        }
    });
    let fault = done.report.fault.clone().expect("the run has a fault");
    let context = format!("{shape:?}: {fault:?}");
    assert_eq!((fault.stage, fault.worker), (stage, Some(1)), "{context}");
    assert!(done.report.workers.iter().all(|w| w.worker != 1), "{context}");
    assert!(done.report.workers.iter().all(|w| !w.samples_full), "not stopped: {context}");
    assert_eq!(done.board.pending(), [], "{context}");
    let samples = done.samples(1);
    let exact = shape.depth() == 1 && stage == Stage::Measure;
    // Deeper, what was in flight with the fault may have completed before it, but nothing after it.
    assert!(if exact { samples.len() == 5 } else { samples.len() <= 5 }, "{context}");
    assert!(samples.iter().all(|s| s.end - s.start <= 200), "{context}");
    (fault, done)
}

fn fault(stage: Stage, operation: &str, cause: Cause) -> Fault {
    Fault::of(operation, cause).at(stage, 1)
}

#[test]
fn a_short_write_is_a_short_write_and_no_sample() {
    for shape in shapes() {
        for stage in [Stage::Warmup, Stage::Measure] {
            for written in [0, 2_048, 4_095] {
                let bad = Step { write: CallResult(written), ..Step::new(100, 100) };
                let (found, done) = meet(shape, stage, bad);
                let cause = Cause::ShortWrite { written: written as u64, wanted: BLOCK_BYTES };
                assert_eq!(found, fault(stage, write_name(shape), cause), "{shape:?}");
                if shape == Shape::Pair {
                    let counts = done.target.counts(1);
                    assert_eq!(counts.barriers + 1, counts.writes, "a barrier followed");
                }
            }
        }
    }
}

#[test]
fn a_failed_write_is_not_taken_for_its_cancelled_barrier() {
    for shape in shapes() {
        for stage in [Stage::Warmup, Stage::Measure] {
            let bad = Step { write: CallResult(-ENOSPC), ..Step::new(100, 100) };
            let (found, _) = meet(shape, stage, bad);
            assert_eq!(found, fault(stage, write_name(shape), Cause::Errno(ENOSPC)), "{shape:?}");
        }
    }
}

#[test]
fn the_first_barrier_error_ends_the_run_without_a_retry() {
    for shape in shapes().into_iter().filter(|&shape| has_barrier(shape)) {
        for stage in [Stage::Warmup, Stage::Measure] {
            let bad = Step { barrier: CallResult(-EIO), ..Step::new(100, 100) };
            let (found, done) = meet(shape, stage, bad);
            assert_eq!(found, fault(stage, barrier_name(shape), Cause::Errno(EIO)), "{shape:?}");
            let counts = done.target.counts(1);
            assert_eq!(counts.barriers, counts.writes, "one for each write: {shape:?}");
            if shape.depth() == 1 {
                let begun = if stage == Stage::Warmup { 6 } else { 8 + 6 };
                assert_eq!(counts.barriers, begun, "one more was called: {shape:?}");
            }
        }
    }
}

#[test]
fn a_barrier_that_returns_more_than_nothing_is_no_success() {
    for shape in shapes().into_iter().filter(|&shape| has_barrier(shape)) {
        let bad = Step { barrier: CallResult(1), ..Step::new(100, 100) };
        let (found, _) = meet(shape, Stage::Measure, bad);
        assert_eq!(found.operation, barrier_name(shape));
        assert_eq!(found.cause, Cause::Errno(EIO), "{shape:?}");
    }
}

#[test]
fn a_barrier_cancelled_after_a_full_write_is_the_barriers_error() {
    for (depth, quiet) in [(1, false), (1, true), (4, false), (4, true), (16, true)] {
        let shape = ring(LINKED, depth, quiet);
        let bad = Step { barrier: CallResult(-ECANCELED), ..Step::new(100, 100) };
        let (found, _) = meet(shape, Stage::Measure, bad);
        let expected = fault(Stage::Measure, "io_uring fsync", Cause::Errno(ECANCELED));
        assert_eq!(found, expected, "{shape:?}");
    }
}

#[test]
fn a_clock_that_runs_backwards_within_a_pair_fails_the_run() {
    for shape in shapes() {
        // The whole pair would end before it began.
        let bad = Step { clock_back_ns: 500, ..Step::new(100, 100) };
        let (found, _) = meet(shape, Stage::Measure, bad);
        assert_eq!(found.operation, "clock", "{shape:?}");
        assert!(matches!(found.cause, Cause::ClockBackwards(1..=400)), "{shape:?}: {found:?}");
    }
    // Backwards in the write only, while the pair as a whole takes time.
    for shape in [Shape::Pair, ring(TWO_TRIPS, 1, false)] {
        let bad = Step { clock_back_ns: 150, ..Step::new(100, 100) };
        let (found, _) = meet(shape, Stage::Measure, bad);
        assert_eq!(found.cause, Cause::ClockBackwards(50), "{shape:?}");
    }
}

#[test]
fn a_completion_of_no_request_fails_the_run() {
    let stray = |slot, part| Completion { slot, part, result: CallResult(0) };
    for shape in shapes().into_iter().filter(|&shape| is_ring(shape)) {
        let depth = shape.depth();
        let mut strays = vec![stray(depth, Part::Write), stray(u32::MAX, Part::Barrier)];
        if depth == 1 {
            // A barrier before its write: the link did not hold. Deeper, slot 0 is another chain's.
            strays.push(stray(0, Part::Barrier));
        }
        for stray in strays {
            let bad = Step { stray: Some(stray), ..Step::new(100, 100) };
            let (found, _) = meet(shape, Stage::Measure, bad);
            let expected = fault(Stage::Measure, "io_uring_enter", Cause::UnknownCompletion);
            assert_eq!(found, expected, "{shape:?}, {stray:?}");
        }
    }
}

#[test]
fn a_completion_that_comes_twice_fails_the_run() {
    let result = CallResult(BLOCK_BYTES as i32);
    let twice = Completion { slot: 0, part: Part::Write, result };
    let done = Case::of(ring(ONE_WRITE, 1, false), 20).run(move |pair| {
        let stray = (pair.index == 5 && !pair.is_warmup).then_some(twice);
        Step { stray, ..Step::new(100, 0) }
    });
    let expected = Fault::of("io_uring_enter", Cause::UnknownCompletion).at(Stage::Measure, 0);
    assert_eq!(done.report.fault, Some(expected));
    // The first of the two cannot be told from the right one.
    assert_eq!(done.samples(0).len(), 6);
}

#[test]
fn a_refused_enter_carries_its_errno() {
    for shape in shapes().into_iter().filter(|&shape| is_ring(shape)) {
        let bad = Step { enter: CallResult(-9), ..Step::new(100, 100) };
        let (found, _) = meet(shape, Stage::Measure, bad);
        let expected = fault(Stage::Measure, "io_uring_enter", Cause::Errno(9));
        assert_eq!(found, expected, "{shape:?}");
    }
}
