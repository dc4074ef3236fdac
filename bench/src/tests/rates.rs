//! Open loops: what a stall does to those who were due behind it.

use super::*;
use crate::PairPart;
use synctail_sys::Scale;

const MS: u64 = 1_000_000;
/// A hundred pairs a second.
const RATE: Rate = Rate(100_000);

/// Ten seconds in which the 300th pair takes two.
fn stalled(shape: Shape) -> Case {
    Case {
        length: Length::DurationNs(10_000 * MS),
        samples: 1_000,
        rate: Some(RATE),
        ..Case::of(shape, 1)
    }
}

fn step(pair: Pair) -> Step {
    let stall = if pair.index == 300 && !pair.is_warmup { 2_000 * MS } else { 0 };
    Step::new(MS / 4 + stall, MS / 4)
}

fn part(done: &Done, part: PairPart) -> Vec<u64> {
    let measured = done.board.measured(FakeClock::now());
    let (arm, scale) = ("syscall/fsync".parse().unwrap(), Scale::nominal(1e9));
    measured.part_ns(0, part, arm, &scale, u64::MAX).unwrap()
}

#[test]
fn a_stall_is_a_queue_in_the_total_and_one_pair_in_the_service() {
    for shape in shapes().into_iter().filter(|shape| shape.depth() == 1) {
        let done = stalled(shape).run(step);
        assert_eq!(done.report.fault, None, "{shape:?}");
        let (total, service) = (part(&done, PairPart::Total), part(&done, PairPart::Service));
        let late = part(&done, PairPart::Late);
        assert_eq!((total.len(), service.len(), late.len()), (1_000, 1_000, 1_000), "{shape:?}");
        assert!(
            total.iter().zip(&service).zip(&late).all(|((t, s), l)| t == &(s + l)),
            "{shape:?}"
        );
        let slow = service.iter().filter(|&&ns| ns > 2 * MS).count();
        assert_eq!(slow, 1, "{shape:?}");
        // Each pair is due 10 ms after the one before and takes well below one: the queue shrinks by
        // nearly ten with each.
        let behind: Vec<u64> = late.iter().copied().filter(|&ns| ns > 0).collect();
        let own = service[0];
        let expected = (2_000 * MS + own - 10 * MS).div_ceil(10 * MS - own);
        assert_eq!(behind.len() as u64, expected, "{shape:?}");
        assert!(behind.windows(2).all(|two| two[0] - two[1] == 10 * MS - own), "{shape:?}");
    }
}

#[test]
fn pairs_begin_when_they_are_due_and_not_before() {
    for shape in shapes() {
        let case = Case { workers: 3, samples: 50, rate: Some(RATE), ..Case::of(shape, 50) };
        let done = case.run(|_| Step::new(MS, MS));
        assert_eq!(done.report.fault, None, "{shape:?}");
        let schedule = done.board.schedule().unwrap();
        for worker in 0..3 {
            let mut starts: Vec<u64> = done.samples(worker).iter().map(|s| s.start).collect();
            starts.sort_unstable();
            assert_eq!(starts.len(), 50, "{shape:?}");
            for (pair, start) in starts.into_iter().enumerate() {
                // Clocks of fake workers stand still at the gate, so that one may be ahead of the start.
                let due = schedule.intended_tick(worker, pair as u64);
                assert!(start >= due, "{shape:?}: {pair}: {start} {due}");
                assert!(start <= due + 30 * MS, "{shape:?}: {pair}: {start} {due}");
            }
        }
    }
}

#[test]
fn several_chains_let_those_behind_a_stall_pass() {
    let parallel = |shape: &Shape| {
        matches!(shape, Shape::Ring { service: crate::fake::Service::Parallel, depth: 2.., .. })
    };
    for shape in shapes().into_iter().filter(parallel) {
        let done = stalled(shape).run(step);
        let late = part(&done, PairPart::Late);
        assert_eq!(late.len(), 1_000, "{shape:?}");
        assert!(late.iter().all(|&ns| ns < MS), "{shape:?}: {:?}", late.iter().max());
        let total = part(&done, PairPart::Total);
        assert_eq!(total.iter().filter(|&&ns| ns > 2 * MS).count(), 1, "{shape:?}");
    }
}

#[test]
fn a_rate_that_cannot_be_kept_leaves_none_out() {
    for shape in shapes().into_iter().filter(|shape| shape.depth() == 1) {
        // A hundred a second are asked, each takes 40 ms: 25 a second.
        let case = stalled(shape);
        let done = case.run(|_| Step::new(20 * MS, 20 * MS));
        let measured = done.board.measured(FakeClock::now());
        let (arm, scale) = ("syscall/fsync".parse().unwrap(), Scale::nominal(1e9));
        let planned = case.plan().pairs_of(0).unwrap();
        let total = measured.part_ns(0, PairPart::Total, arm, &scale, planned).unwrap();
        assert_eq!(total.len(), 1_000, "{shape:?}");
        assert!(done.samples(0).len() < 600, "{shape:?}");
        assert!(*total.iter().max().unwrap() > 5_000 * MS, "{shape:?}");
    }
}
