//! Sample memory and the thread that touches it.

use super::*;
use crate::gate::Gate;
use crate::worker::Shared;
use crate::{Lane, MemoryPreparer, Sink};

fn board(workers: u64, samples_per_worker: u64) -> Board {
    let size = BoardSize { workers, depth: 1, samples_per_worker };
    Board::new(synctail_sys::reserve_words(size.words() as usize).unwrap(), size)
}

#[test]
fn lanes_are_kept_ahead_and_never_beyond_their_end() {
    // Enough for several rounds; the largest chunk is 65,536 samples, the smallest 512.
    for (workers, capacity) in [(1, 300_000), (3, 300_000), (6_000, 3_000)] {
        let board = board(workers, capacity);
        let preparer = MemoryPreparer::new(board);
        let control = board.control(workers - 1);
        let mut pairs = 0;
        let mut rounds = 0;
        loop {
            let more = preparer.advance();
            let ready = control.ready_samples();
            assert!(ready <= capacity, "{workers} workers: {ready} of {capacity}");
            assert!(ready == capacity || ready >= pairs + 512, "{workers} workers at {pairs}");
            // All lanes together: two chunks of 64 MiB at most, or the smallest chunk for each.
            let ahead_bytes = (ready - pairs) * 24 * workers;
            assert!(ahead_bytes <= (128 << 20).max(workers * 1_024 * 24), "{workers} workers");
            assert_eq!(more, (0..workers).any(|w| board.control(w).ready_samples() < capacity));
            if ready == capacity {
                break;
            }
            pairs = ready - (ready - pairs) / 3;
            control.publish_pairs(pairs);
            rounds += 1;
            assert!(rounds < 1_000, "{workers} workers: no progress at {ready}");
        }
        assert!(rounds > 1, "{workers} workers: all of it was touched at once");
        preparer.advance();
        assert_eq!(control.ready_samples(), capacity);
    }
}

#[test]
fn touching_does_not_change_a_sample() {
    let board = board(1, 200_000);
    let preparer = MemoryPreparer::new(board);
    preparer.advance();
    let mut lane = Lane::new(&board, 0);
    for i in 0..100_000 {
        assert!(lane.has_room());
        lane.begin(0, 1 + i);
        lane.commit(0, 1 + i, 2 + i, 3 + i).unwrap();
    }
    preparer.advance();
    assert_eq!(board.control(0).ready_samples(), 200_000);
    let expected = |i: u64| Sample { start: 1 + i, middle: Some(2 + i), end: 3 + i };
    assert!(board.samples(0).eq((0..100_000).map(expected)));
}

#[test]
fn a_lane_waits_for_memory_counts_it_and_goes_on() {
    let board = board(1, 10);
    let control = board.control(0);
    let waiting = std::thread::spawn(move || Lane::new(&board, 0).has_room());
    until("the worker waits", || control.memory_waits() == 1);
    control.set_ready_samples(10);
    until("the worker goes on", || waiting.is_finished());
    assert!(waiting.join().unwrap());
    // Memory that came while nobody looked is no wait.
    let mut lane = Lane::new(&board, 0);
    assert!(lane.has_room());
    assert_eq!(control.memory_waits(), 1);
}

#[test]
fn a_stop_while_memory_is_awaited_is_no_full_lane() {
    for shape in shapes() {
        let plan = Case::endless(shape, 1).plan();
        let board = board_for(&plan);
        // Nobody prepares more here.
        board.control(0).set_ready_samples(7);
        let worker = std::thread::spawn(move || {
            let target = FakeTarget::new(shape, 1, |_| Step::new(5, 5));
            let gate = Gate::new(1);
            let shared =
                Shared { plan: &plan, clock: &FakeClock, target: &target, board, gate: &gate };
            shared.work(0)
        });
        until("the worker waits", || board.control(0).memory_waits() > 0);
        board.stop();
        until("the worker has ended", || worker.is_finished());
        let report = worker.join().unwrap().unwrap().unwrap();
        assert_eq!((board.pairs(), report.samples_full), (7, false), "{shape:?}");
    }
}

#[test]
fn a_run_longer_than_the_prepared_memory_keeps_every_sample() {
    // The preparing thread's first advance covers 131,072 samples of a single worker.
    let pairs = 400_000;
    let done = Case::of(Shape::Single, pairs).run(|pair| Step::new(1 + pair.index % 7, 0));
    let totals = done.board.samples(0).map(|s| s.end - s.start);
    assert!(totals.eq((0..pairs).map(|i| 1 + i % 7)));
}

#[test]
fn a_thousand_workers_with_few_samples() {
    let case = Case { workers: 1_000, ..Case::of(Shape::Pair, 3) };
    let done = case.run(|pair| Step::new(1 + pair.worker, 2));
    assert_eq!(done.report.fault, None);
    assert_eq!(done.report.workers.len(), 1_000);
    for worker in 0..1_000 {
        assert_eq!(done.report.workers[worker as usize].worker, worker);
        let totals: Vec<u64> = done.samples(worker).iter().map(|s| s.end - s.start).collect();
        assert_eq!(totals, [worker + 3; 3]);
    }
}
