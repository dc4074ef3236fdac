//! Stopping from outside.

use super::*;
use crate::fake::Hold;

#[test]
fn a_run_that_was_stopped_before_it_began_measures_nothing() {
    for shape in shapes() {
        let case = Case { workers: 3, ..Case::of(shape, 1_000) };
        let board = board_for(&case.plan());
        board.stop();
        let done = case.start_on(board, |_| Step::new(10, 10)).finish();
        assert_eq!(done.report, RunReport::default(), "{shape:?}");
        assert_eq!((board.pairs(), board.pending()), (0, Vec::new()), "{shape:?}");
        assert_eq!(done.target.counts(0).writes, 0, "{shape:?}");
    }
}

#[test]
fn a_stop_in_mid_run_ends_every_worker_and_keeps_what_was_measured() {
    for shape in shapes() {
        let running = Case::endless(shape, 3).start(|_| Step::new(30, 12));
        let board = running.board;
        until("some pairs of each", || (0..3).all(|w| board.control(w).pairs() > 100));
        board.stop();
        let done = running.finish();
        assert_eq!(done.report.fault, None, "{shape:?}");
        assert_eq!(done.report.workers.len(), 3, "{shape:?}");
        assert_eq!(board.pending(), [], "{shape:?}");
        for worker in 0..3 {
            let samples = done.samples(worker);
            assert!(samples.len() > 100, "{shape:?}");
            assert!(samples.iter().all(|s| (30..=42).contains(&(s.end - s.start))), "{shape:?}");
            // Every pair that was begun is there: the ones in flight at the stop too.
            assert_eq!(done.target.counts(worker).writes, samples.len() as u64 + 1, "{shape:?}");
            assert!(!done.report.workers[worker as usize].samples_full, "{shape:?}");
        }
    }
}

#[test]
fn a_stop_during_a_hang_ends_the_others() {
    let hold = Hold::default();
    let held = hold.clone();
    let running = Case::endless(Shape::Pair, 2).start(move |pair| {
        let is_held = pair.worker == 1 && pair.index == 3 && !pair.is_warmup;
        Step { hold: is_held.then(|| held.clone()), ..Step::new(30, 12) }
    });
    let board = running.board;
    hold.wait_until_reached();
    // A worker that a stop still finds at the gate has no report.
    until("the other worker measures", || board.control(0).pairs() > 0);
    board.stop();
    until("the other worker has ended", || board.control(0).stage() == crate::Stage::Idle);
    assert_eq!(board.samples(1).count(), 3);
    assert_eq!(board.pending().len(), 1);
    hold.release();
    let done = running.finish();
    // The pair that hung returned in the end, and counts.
    assert_eq!((done.samples(1).len(), done.report.workers.len()), (4, 2));
}

#[test]
fn a_stop_releases_those_at_the_gate() {
    let hold = Hold::default();
    let held = hold.clone();
    let case = Case { workers: 2, ..Case::of(Shape::Pair, 5) };
    let running = case.start(move |pair| {
        let is_held = pair.worker == 1 && pair.is_warmup;
        Step { hold: is_held.then(|| held.clone()), ..Step::new(9, 9) }
    });
    let board = running.board;
    hold.wait_until_reached();
    until("one at the gate", || board.control(0).stage() == crate::Stage::Gate);
    board.stop();
    until("it has left", || board.control(0).stage() == crate::Stage::Idle);
    hold.release();
    let done = running.finish();
    assert_eq!((done.report, done.board.pairs()), (RunReport::default(), 0));
}
