//! When a worker ends by itself: counts, deadline, full memory, new segments.

use super::*;

#[test]
fn the_number_of_pairs_is_exact_at_every_depth() {
    for shape in shapes() {
        // Neither a multiple of a depth nor more than the largest one.
        for pairs in [1, 3, 15, 37] {
            let case = Case { workers: 2, ..Case::of(shape, pairs) };
            let done = case.run(|pair| Step::new(10 + pair.index % 3, 20));
            let context = format!("{shape:?}, {pairs} pairs");
            for worker in 0..2 {
                assert_eq!(done.samples(worker).len() as u64, pairs, "{context}");
                assert_eq!(done.target.counts(worker).writes, pairs + 1, "{context}");
                // The memory holds as many as were asked for: nothing is missing.
                assert!(!done.report.workers[worker as usize].samples_full, "{context}");
            }
            assert_eq!(done.board.pending(), [], "{context}");
        }
    }
}

#[test]
fn warm_up_pairs_are_counted_and_are_no_samples() {
    for shape in shapes() {
        let case = Case { warmup: 7, workers: 2, ..Case::of(shape, 20) };
        let slow = |pair: Pair| if pair.is_warmup { 1_000_000 } else { 10 };
        let done = case.run(move |pair| Step::new(slow(pair), 5));
        for worker in 0..2 {
            assert_eq!(done.board.control(worker).warmed(), 7, "{shape:?}");
            assert_eq!(done.target.counts(worker).writes, 27, "{shape:?}");
            assert!(done.samples(worker).iter().all(|s| s.end - s.start <= 15), "{shape:?}");
        }
    }
}

#[test]
fn all_workers_start_at_one_tick() {
    for shape in shapes() {
        let done = Case { workers: 5, warmup: 2, ..Case::of(shape, 10) }
            .run(|pair| Step::new(100 + pair.worker * u64::from(!pair.is_warmup), 50));
        let start = done.board.start_tick().unwrap();
        assert!(start >= FakeClock::EPOCH + 100, "{shape:?}");
        for worker in 0..5 {
            assert_eq!(done.samples(worker)[0].start, start, "{shape:?}, worker {worker}");
        }
    }
}

#[test]
fn no_pair_begins_at_or_after_the_deadline() {
    for shape in shapes() {
        // Pairs of 30 ns (of 20 where the write is all): one would begin exactly at the deadline.
        let length = Length::DurationNs(600);
        let case = Case { length, workers: 3, samples: 10_000, ..Case::of(shape, 1) };
        let done = case.run(|_| Step::new(20, 10));
        let deadline = done.board.start_tick().unwrap() + 600;
        for worker in 0..3 {
            let samples = done.samples(worker);
            let last = samples.last().unwrap();
            assert!(samples.iter().all(|s| s.start < deadline), "{shape:?}: {last:?}");
            assert_eq!(last.end, deadline, "{shape:?}");
            assert!(!done.report.workers[worker as usize].samples_full, "{shape:?}");
        }
    }
}

#[test]
fn a_pair_under_way_at_the_deadline_counts() {
    let case = Case { length: Length::DurationNs(100), samples: 100, ..Case::of(Shape::Pair, 1) };
    let done = case.run(|pair| Step::new(20, if pair.index == 1 { 1_000_000 } else { 30 }));
    let totals: Vec<u64> = done.samples(0).iter().map(|s| s.end - s.start).collect();
    assert_eq!(totals, [50, 1_000_020]);
}

#[test]
fn segments_are_made_when_they_are_full_and_outside_every_sample() {
    for shape in shapes() {
        let case =
            Case { blocks_per_segment: 5, segment_ns: 1_000_000, warmup: 3, ..Case::of(shape, 22) };
        let done = case.run(|_| Step::new(20, 10));
        assert_eq!(done.report.fault, None, "{shape:?}");
        assert_eq!(done.report.workers[0].segments, 5, "{shape:?}");
        let samples = done.samples(0);
        assert_eq!(samples.len(), 22, "{shape:?}");
        assert!(samples.iter().all(|s| s.end - s.start <= 30), "{shape:?}");
    }
}

#[test]
fn a_segment_that_takes_past_the_deadline_begins_no_pair() {
    for shape in shapes() {
        let case = Case {
            blocks_per_segment: 6,
            segment_ns: 1_000_000,
            length: Length::DurationNs(500_000),
            samples: 100,
            ..Case::of(shape, 1)
        };
        let done = case.run(|_| Step::new(20, 10));
        // One of the six blocks went to the warm-up.
        assert_eq!(done.samples(0).len(), 5, "{shape:?}");
    }
}

#[test]
fn full_sample_memory_ends_the_worker_and_is_said() {
    for shape in shapes() {
        for length in [Length::Iterations(26), Length::DurationNs(1_000_000)] {
            let case = Case { samples: 25, length, workers: 2, ..Case::of(shape, 1) };
            let done = case.run(|pair| Step::new(10 + pair.index % 2, 20));
            assert_eq!(done.report.fault, None, "{shape:?}");
            for worker in 0..2 {
                assert!(done.report.workers[worker as usize].samples_full, "{shape:?}");
                assert_eq!(done.samples(worker).len(), 25, "{shape:?}");
                // Nothing was begun that could not be kept.
                assert_eq!(done.target.counts(worker).writes, 26, "{shape:?}");
            }
        }
    }
}
