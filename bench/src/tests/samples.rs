//! The ticks on the board are the script's.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::*;

/// What a pair of `step` takes from its submission on.
fn total_ns(shape: Shape, step: &Step) -> u64 {
    let is_one_write =
        matches!(shape, Shape::Single | Shape::Ring { chain: Chain::Single { .. }, .. });
    step.write_ns + if is_one_write { 0 } else { step.barrier_ns }
}

/// The samples of chains in parallel service: each starts when the earliest of those before ends.
fn expected(shape: Shape, first_start: u64, steps: &[Step]) -> Vec<Sample> {
    let mut ends = BinaryHeap::new();
    let mut samples = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let starts_at_once = index < shape.depth() as usize;
        let start =
            if starts_at_once { first_start } else { ends.pop().map_or(0, |Reverse(end)| end) };
        let end = start + total_ns(shape, step);
        let middle = shape.barrier_follows().then(|| start + step.write_ns);
        ends.push(Reverse(end));
        samples.push(Sample { start, middle, end });
    }
    samples.sort_by_key(|sample| (sample.end, sample.start, sample.middle));
    samples
}

fn random_step(seed: u64, pair: Pair) -> Step {
    let mut random = fastrand::Rng::with_seed(seed ^ (pair.worker << 40) ^ (pair.index << 20));
    // Up to a second, some of them equal, so that completions fall together.
    let longest = [4, 1_000_000_000][random.usize(..2)];
    Step::new(random.u64(1..=longest), random.u64(1..=longest))
}

#[test]
fn samples_are_the_script_to_the_nanosecond() {
    for shape in shapes() {
        for seed in 0..4 {
            let context = format!("{shape:?}, seed {seed}");
            let case = Case { workers: 3, warmup: 2, ..Case::of(shape, 300) };
            let warm = Step::new(30, 12);
            let done =
                case.run(
                    move |pair| {
                        if pair.is_warmup { Step::new(30, 12) } else { random_step(seed, pair) }
                    },
                );
            assert_eq!(done.report.fault, None, "{context}");
            // Two warm-up chains run side by side where the depth allows it.
            let rounds = if shape.depth() == 1 { 2 } else { 1 };
            let first_start = FakeClock::EPOCH + rounds * total_ns(shape, &warm);
            assert_eq!(done.board.start_tick(), Some(first_start), "{context}");
            for worker in 0..3 {
                let pair = |index| Pair { worker, index, is_warmup: false };
                let steps: Vec<Step> = (0..300).map(|i| random_step(seed, pair(i))).collect();
                let mut samples = done.samples(worker);
                let in_order = samples.windows(2).all(|two| two[0].end <= two[1].end);
                assert!(in_order, "not in order of completion: {context}");
                samples.sort_by_key(|sample| (sample.end, sample.start, sample.middle));
                assert_eq!(samples.len(), 300, "{context}");
                let expected = expected(shape, first_start, &steps);
                let differs = samples.iter().zip(&expected).find(|(got, wanted)| got != wanted);
                assert_eq!(differs, None, "{context}, worker {worker}");
            }
        }
    }
}

#[test]
fn at_depth_1_the_order_is_the_scripts() {
    for shape in shapes().into_iter().filter(|shape| shape.depth() == 1) {
        let done = Case::of(shape, 50).run(|pair| Step::new(100 + pair.index, 1_000));
        let totals: Vec<u64> = done.samples(0).iter().map(|s| s.end - s.start).collect();
        let step = |index: u64| total_ns(shape, &Step::new(100 + index, 1_000));
        assert_eq!(totals, (0..50).map(step).collect::<Vec<_>>(), "{shape:?}");
    }
}

#[test]
fn a_chain_in_a_queue_is_timed_from_its_own_submission() {
    for quiet in [false, true] {
        let shape = Shape::Ring { chain: LINKED, depth: 4, quiet, service: Service::Queue };
        let case = Case { warmup: 1, ..Case::of(shape, 40) };
        let done = case.run(|_| Step::new(10, 90));
        let totals: Vec<u64> = done.samples(0).iter().map(|s| s.end - s.start).collect();
        // The first four were submitted together, each later one when a place came free.
        assert_eq!(totals[..4], [100, 200, 300, 400], "quiet {quiet}");
        assert!(totals[4..].iter().all(|&total| total == 400), "quiet {quiet}: {totals:?}");
    }
}

#[test]
fn the_middle_of_two_trips_is_when_the_write_was_seen() {
    let done = Case::of(ring(TWO_TRIPS, 1, false), 3).run(|_| Step::new(7, 11));
    let start = FakeClock::EPOCH + 18;
    let sample = |i: u64| Sample {
        start: start + 18 * i,
        middle: Some(start + 18 * i + 7),
        end: start + 18 * (i + 1),
    };
    assert_eq!(done.samples(0), [sample(0), sample(1), sample(2)]);
}

fn enters(shape: Shape, pairs: u64) -> u64 {
    let done = Case { warmup: 3, ..Case::of(shape, pairs) }.run(|_| Step::new(10, 20));
    assert_eq!(done.board.pairs(), pairs);
    done.report.workers[0].enters
}

#[test]
fn enters_per_pair_are_as_few_as_the_arm_allows() {
    assert_eq!(enters(ring(LINKED, 1, true), 500), 500);
    assert_eq!(enters(ring(LINKED, 1, false), 500), 500);
    assert_eq!(enters(ring(ONE_WRITE, 1, false), 500), 500);
    assert_eq!(enters(ring(TWO_TRIPS, 1, false), 500), 1_000);
    assert_eq!(enters(Shape::Pair, 500), 0);
    // Sixteen that end at the same moment are taken by one call.
    assert_eq!(enters(ring(LINKED, 16, true), 16 * 20), 20);
    assert_eq!(enters(ring(ONE_WRITE, 16, false), 16 * 20), 20);
    assert_eq!(enters(ring(TWO_TRIPS, 16, false), 16 * 20), 40);
}

#[test]
fn a_chain_asks_the_ring_for_what_its_arm_says() {
    for flag in [false, true] {
        let chains = [
            (Chain::Linked { datasync: flag }, 10, 0),
            (Chain::TwoTrips { datasync: flag }, 10, 0),
            (Chain::Single { dsync: flag }, 0, 10),
        ];
        for (chain, barriers, whole_writes) in chains {
            let done = Case::of(ring(chain, 4, true), 9).run(|_| Step::new(1, 1));
            let counts = done.target.counts(0);
            assert_eq!((counts.writes, counts.barriers), (10, barriers), "{chain:?}");
            let asked = (counts.datasyncs, counts.dsyncs);
            assert_eq!(asked, if flag { (barriers, whole_writes) } else { (0, 0) }, "{chain:?}");
        }
    }
}

#[test]
fn minutes_are_neither_clamped_nor_put_into_buckets() {
    const S: u64 = 1_000_000_000;
    for shape in shapes().into_iter().filter(|shape| shape.depth() == 1) {
        // The last six of 500 lie beyond index 494, one of them a minute and a half long.
        let script = |pair: Pair| match pair.index {
            _ if pair.is_warmup => Step::new(1, 1),
            100 => Step::new(90 * S + 1, 0),
            200..206 => Step::new(16_600_000_007, 0),
            _ => Step::new(1_000 + pair.index, 0),
        };
        let done = Case::of(shape, 500).run(script);
        let mut total: Vec<u64> = done.samples(0).iter().map(|s| s.end - s.start).collect();
        let ranked = crate::Distribution::of(&mut total).unwrap();
        assert_eq!(ranked.p99_ns, Some(16_600_000_007), "{shape:?}");
        assert_eq!(ranked.max_ns, 90 * S + 1, "{shape:?}");
    }
}
