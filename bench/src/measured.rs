//! What was complete when a run ended, and in an open loop what was due by then.

use std::sync::atomic::Ordering;

use synctail_sys::Scale;

use crate::{Arm, Board, PairPart, Sample, Schedule};

/// The pairs that were complete at one moment. A worker that had to be left behind may go on: what it
/// completes later is not part of it, so that every figure is of the same pairs.
#[derive(Clone, Debug)]
pub struct Measured {
    board: Board,
    pairs: Vec<u64>,
    /// Starts of the pairs that were in flight, by worker.
    in_flight: Vec<Vec<u64>>,
    schedule: Option<Schedule>,
    tick: u64,
}

/// A worker of an open loop.
#[derive(Clone, Debug)]
pub struct Opened {
    worker: u64,
    schedule: Schedule,
    /// Starts of all pairs that began, ascending.
    begun: Vec<u64>,
    in_flight: Vec<u64>,
    /// When it ended, or when it was looked at.
    ended: u64,
}

impl Board {
    /// What is complete now, at `tick`.
    pub fn measured(&self, tick: u64) -> Measured {
        let workers = 0..self.size().workers;
        // First what is in flight: a pair that completes in between is then known twice, not lost.
        let in_flight = workers.clone().map(|worker| self.pairs_in_flight(worker)).collect();
        let pairs = workers.map(|w| self.control(w).pairs()).collect();
        Measured { board: *self, pairs, in_flight, schedule: self.schedule(), tick }
    }

    /// The completed pairs of `worker` at this moment, in order of completion.
    pub fn samples(&self, worker: u64) -> impl Iterator<Item = Sample> + use<> {
        self.first_samples(worker, self.control(worker).pairs())
    }

    fn first_samples(&self, worker: u64, pairs: u64) -> impl Iterator<Item = Sample> + use<> {
        self.lane(worker).chunks_exact(3).take(pairs as usize).map(|words| {
            let tick = |i: usize| words[i].load(Ordering::Relaxed);
            Sample { start: tick(0), middle: Some(tick(1)).filter(|&m| m != 0), end: tick(2) }
        })
    }
}

impl Measured {
    /// Pairs of all workers.
    pub fn pairs(&self) -> u64 {
        self.pairs.iter().sum()
    }

    /// The pairs of `worker`, in order of completion.
    pub fn samples(&self, worker: u64) -> impl Iterator<Item = Sample> + use<> {
        let pairs = self.pairs.get(worker as usize).copied().unwrap_or(0);
        self.board.first_samples(worker, pairs)
    }

    /// What an open loop knows of `worker`; nothing in a closed one.
    pub fn opened(&self, worker: u64) -> Option<Opened> {
        let schedule = self.schedule?;
        let (mut begun, mut last_end) = (Vec::new(), 0);
        for sample in self.samples(worker) {
            begun.push(sample.start);
            last_end = last_end.max(sample.end);
        }
        let in_flight = self.in_flight.get(worker as usize).cloned().unwrap_or_default();
        begun.sort_unstable();
        let completed = |tick: &u64| begun.binary_search(tick).is_ok();
        let in_flight: Vec<u64> = in_flight.into_iter().filter(|t| !completed(t)).collect();
        begun.extend(&in_flight);
        begun.sort_unstable();
        let ended = if in_flight.is_empty() { last_end } else { self.tick };
        Some(Opened { worker, schedule, begun, in_flight, ended })
    }

    /// Nanoseconds of one part of every pair of `worker`; nothing where it was not timed. In an open
    /// loop, total and lateness of the pairs that were due and had not begun come last, with what they
    /// had waited by then: the worst must not be the ones that are left out. `planned` is how many pairs
    /// it was to do; 0 leaves them out.
    pub fn part_ns(
        &self,
        worker: u64,
        part: PairPart,
        arm: Arm,
        scale: &Scale,
        planned: u64,
    ) -> Option<Vec<u64>> {
        let opened = self.opened(worker);
        let ticks = |sample: Sample| {
            let intended = opened.as_ref().map(|opened| opened.intended_tick(sample.start));
            sample.part_ticks(part, arm, intended)
        };
        let samples = self.samples(worker);
        let mut ns: Vec<u64> =
            samples.map(|sample| ticks(sample).map(|t| scale.ns(t))).collect::<Option<_>>()?;
        if let Some(opened) = opened.filter(|_| matches!(part, PairPart::Total | PairPart::Late)) {
            ns.extend(opened.not_started(planned).map(|waited| scale.ns(waited)));
        }
        Some(ns)
    }
}

impl Opened {
    /// When the pair that began at `start` was to begin.
    ///
    /// Pairs begin in the order of their intended starts, so the n-th that began is the n-th that was
    /// intended, in whatever order they complete.
    pub fn intended_tick(&self, start: u64) -> u64 {
        let number = self.begun.partition_point(|&other| other < start);
        self.schedule.intended_tick(self.worker, number as u64)
    }

    /// Ticks that each of `planned` pairs had waited that was due when the worker ended and had not begun.
    pub fn not_started(&self, planned: u64) -> impl Iterator<Item = u64> {
        let due = self.schedule.due_before(self.worker, self.ended).min(planned);
        (self.begun.len() as u64..due)
            .map(|n| self.ended - self.schedule.intended_tick(self.worker, n))
    }

    /// Ticks since the intended start of the pair that has been in flight for the longest.
    pub fn longest_in_flight(&self) -> Option<u64> {
        let first = self.in_flight.iter().min()?;
        Some(self.ended.saturating_sub(self.intended_tick(*first)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    fn board(workers: u64, depth: u64) -> Board {
        let size = crate::BoardSize { workers, depth, samples_per_worker: 8 };
        Board::new(synctail_sys::reserve_words(size.words() as usize).unwrap(), size)
    }

    fn complete(board: &Board, worker: u64, words: &[u64]) {
        let store = |(word, &tick): (&AtomicU64, &u64)| word.store(tick, Ordering::Relaxed);
        board.lane(worker).iter().zip(words).for_each(store);
        board.control(worker).publish_pairs(words.len() as u64 / 3);
    }

    fn part(measured: &Measured, worker: u64, part: PairPart, planned: u64) -> Option<Vec<u64>> {
        measured.part_ns(
            worker,
            part,
            "syscall/fsync".parse().unwrap(),
            &Scale::nominal(1e9),
            planned,
        )
    }

    #[test]
    fn only_published_pairs_are_read() {
        let board = board(2, 1);
        complete(&board, 1, &[100, 130, 200, 100, 0, 200, 7, 8, 9]);
        board.control(1).publish_pairs(2);
        assert_eq!(board.samples(1).count(), 2);
        assert_eq!(board.samples(0).count(), 0);
        let measured = board.measured(900);
        assert_eq!(part(&measured, 1, PairPart::Total, u64::MAX), Some(vec![100, 100]));
        // One pair without the part, and the part is absent: half a list would be a wrong one.
        assert_eq!(part(&measured, 1, PairPart::Barrier, u64::MAX), None);
        assert_eq!(part(&measured, 0, PairPart::Total, u64::MAX), Some(Vec::new()));
        assert_eq!(part(&measured, 1, PairPart::Service, u64::MAX), None, "a closed loop");
    }

    #[test]
    fn what_is_complete_later_is_not_part_of_what_was_measured() {
        let board = board(1, 1);
        complete(&board, 0, &[1, 2, 3, 4, 5, 6]);
        let measured = board.measured(10);
        board.control(0).publish_pairs(3);
        assert_eq!((measured.pairs(), measured.samples(0).count()), (2, 2));
        assert_eq!(board.samples(0).count(), 3);
    }

    /// One worker, a pair every 100 ticks from 1,000 on.
    fn open_board(depth: u64) -> Board {
        let board = board(1, depth);
        board.set_start_tick(1_000);
        board.set_schedule_step(100 * Schedule::STEP_UNIT);
        board
    }

    #[test]
    fn a_stall_delays_all_that_was_due_behind_it() {
        let board = open_board(1);
        // The second pair takes 250; the third and fourth begin as soon as they can.
        complete(
            &board,
            0,
            &[1_000, 1_001, 1_010, 1_100, 1_101, 1_350, 1_350, 1_351, 1_360, 1_360, 1_361, 1_370],
        );
        let measured = board.measured(9_999);
        let of = |which| part(&measured, 0, which, 4).unwrap();
        assert_eq!(of(PairPart::Total), [10, 250, 160, 70]);
        assert_eq!(of(PairPart::Service), [10, 250, 10, 10]);
        assert_eq!(of(PairPart::Late), [0, 0, 150, 60]);
        assert_eq!(of(PairPart::Barrier), [9, 249, 9, 9]);
    }

    #[test]
    fn what_was_due_and_never_began_counts_with_what_it_had_waited() {
        let board = open_board(1);
        complete(&board, 0, &[1_000, 1_001, 1_010, 1_100, 1_101, 1_650]);
        let measured = board.measured(9_999);
        // Due at 1,200 to 1,600 when the worker ended at 1,650; the plan ends before 1,500.
        let planned = 5;
        assert_eq!(
            part(&measured, 0, PairPart::Total, planned),
            Some(vec![10, 550, 450, 350, 250])
        );
        assert_eq!(part(&measured, 0, PairPart::Late, planned), Some(vec![0, 0, 450, 350, 250]));
        assert_eq!(part(&measured, 0, PairPart::Service, planned), Some(vec![10, 550]));
        assert_eq!(part(&measured, 0, PairPart::Total, 0), Some(vec![10, 550]));
        let opened = measured.opened(0).unwrap();
        assert_eq!(opened.not_started(planned).count(), 3);
        assert_eq!(opened.longest_in_flight(), None);
    }

    #[test]
    fn chains_that_complete_out_of_order_keep_their_own_moments() {
        let board = open_board(2);
        board.slots(0)[1].store(1_210, Ordering::Relaxed);
        complete(&board, 0, &[1_100, 0, 1_120, 1_000, 0, 1_140, 1_300, 0, 1_400]);
        let measured = board.measured(1_900);
        let planned = 4;
        assert_eq!(part(&measured, 0, PairPart::Total, planned), Some(vec![20, 140, 100]));
        let opened = measured.opened(0).unwrap();
        // Intended at 1,200, ten ticks before it began.
        assert_eq!(opened.longest_in_flight(), Some(700));
        assert_eq!(opened.not_started(planned).count(), 0);
    }
}
