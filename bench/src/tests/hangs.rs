//! Calls and workers that never return, or not in the usual way.

use super::*;
use crate::fake::Hold;
use crate::{Cause, Fault, Pending, Stage};
use synctail_sys::CallResult;

#[test]
fn a_hang_has_a_name_while_it_lasts_and_what_was_before_it_is_readable() {
    for shape in shapes() {
        let hold = Hold::default();
        let held = hold.clone();
        let case = Case { workers: 2, ..Case::of(shape, 40) };
        // The 21st: at depth 16 the second of the second round, alone in being held.
        let running = case.start(move |pair| {
            let is_held = pair.worker == 1 && pair.index == 20 && !pair.is_warmup;
            Step { hold: is_held.then(|| held.clone()), ..Step::new(100, 20 + pair.index) }
        });
        hold.wait_until_reached();
        let pending: Vec<Pending> =
            running.board.pending().into_iter().filter(|p| p.worker == 1).collect();
        let read: Vec<Sample> = running.board.samples(1).collect();
        hold.release();
        let done = running.finish();
        assert_eq!(done.report.fault, None, "{shape:?}");

        let samples = done.samples(1);
        assert_eq!(samples.len(), 40, "{shape:?}");
        assert_eq!(read, samples[..read.len()], "{shape:?}");
        assert!(pending.len() <= shape.depth() as usize, "{shape:?}: {pending:?}");
        assert!(pending.iter().all(|p| p.stage == Stage::Measure && p.operation == "pair"));
        // The held chain is the 21st of the script; its start is that of a sample taken later.
        let in_flight: Vec<u64> = pending.iter().map(|p| p.since_tick).collect();
        let later: Vec<u64> = samples[read.len()..].iter().map(|s| s.start).collect();
        assert!(!in_flight.is_empty(), "{shape:?}: nothing is pending");
        assert!(in_flight.iter().all(|tick| later.contains(tick)), "{shape:?}");
        if shape.depth() == 1 {
            assert_eq!((read.len(), in_flight), (20, vec![samples[20].start]), "{shape:?}");
        }
    }
}

#[test]
fn a_hang_in_the_warm_up_is_named_as_such() {
    let hold = Hold::default();
    let held = hold.clone();
    let running = Case::of(Shape::Pair, 5)
        .start(move |pair| Step { hold: pair.is_warmup.then(|| held.clone()), ..Step::new(9, 9) });
    hold.wait_until_reached();
    let pending = running.board.pending();
    hold.release();
    let since_tick = FakeClock::EPOCH;
    let expected = Pending { worker: 0, stage: Stage::Warmup, operation: "pair", since_tick };
    assert_eq!(pending, [expected]);
    assert_eq!(running.finish().board.pairs(), 5);
}

#[test]
fn nobody_measures_before_all_are_warm() {
    let hold = Hold::default();
    let held = hold.clone();
    let case = Case { workers: 3, ..Case::of(Shape::Pair, 5) };
    let running = case.start(move |pair| {
        let is_held = pair.worker == 2 && pair.is_warmup;
        Step { hold: is_held.then(|| held.clone()), ..Step::new(9, 9) }
    });
    hold.wait_until_reached();
    let board = running.board;
    let at_gate = |worker| board.control(worker).stage() == Stage::Gate;
    until("both others at the gate", || at_gate(0) && at_gate(1));
    assert_eq!((board.pairs(), board.start_tick()), (0, None));
    hold.release();
    assert_eq!(running.finish().board.pairs(), 15);
}

#[test]
fn a_fault_in_one_warm_up_releases_those_at_the_gate() {
    let hold = Hold::default();
    let held = hold.clone();
    let case = Case { workers: 3, ..Case::of(Shape::Pair, 5) };
    let running = case.start(move |pair| {
        let is_held = pair.worker == 2 && pair.is_warmup;
        let hold = is_held.then(|| held.clone());
        Step { hold, barrier: CallResult(if is_held { -5 } else { 0 }), ..Step::new(9, 9) }
    });
    let board = running.board;
    let at_gate = |worker| board.control(worker).stage() == Stage::Gate;
    until("both others at the gate", || at_gate(0) && at_gate(1));
    hold.release();
    let done = running.finish();
    let expected = Fault::of("fake barrier", Cause::Errno(5)).at(Stage::Warmup, 2);
    assert_eq!(done.report, RunReport { workers: Vec::new(), fault: Some(expected) });
    assert_eq!((done.board.pairs(), done.board.start_tick()), (0, None));
}

#[test]
fn a_panic_in_one_worker_ends_the_run() {
    for shape in shapes() {
        for stage in [Stage::Warmup, Stage::Measure] {
            let done = Case::endless(shape, 3).run(move |pair| {
                let here = pair.is_warmup == (stage == Stage::Warmup);
                assert!(!(here && pair.worker == 1 && pair.index == 0), "scripted panic");
                Step::new(10, 10)
            });
            let fault = done.report.fault.expect("the run has a fault");
            let place = (fault.stage, fault.worker, fault.operation.as_str());
            assert_eq!(place, (stage, Some(1), "worker"), "{shape:?}");
            assert_eq!(fault.cause, Cause::Panicked("scripted panic".to_owned()), "{shape:?}");
            assert_eq!(done.board.pending(), [], "{shape:?}");
            assert!(done.report.workers.iter().all(|w| !w.samples_full), "{shape:?}");
        }
    }
}

#[test]
fn a_wait_that_a_signal_ends_early_goes_on() {
    for shape in shapes().into_iter().filter(|shape| matches!(shape, Shape::Ring { .. })) {
        // Before the write's completion, right after it, and between the two.
        for interrupt_ns in [0, 5, 10, 15] {
            let length = |index| Step::new(10, 10 + index % 3);
            let usual = Case::of(shape, 60).run(move |pair| length(pair.index));
            let done = Case::of(shape, 60).run(move |pair| {
                let interrupt_ns = (pair.index % 2 == 0).then_some(interrupt_ns);
                Step { interrupt_ns, ..length(pair.index) }
            });
            assert_eq!(done.report.fault, None, "{shape:?}, {interrupt_ns}");
            let samples = done.samples(0);
            assert_eq!(samples, usual.samples(0), "{shape:?}, after {interrupt_ns} ns");
            assert!(done.report.workers[0].enters >= usual.report.workers[0].enters);
        }
    }
}
