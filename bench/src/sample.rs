//! One pair's ticks, and what its parts are.

use crate::Arm;

/// Ticks of one completed pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Right before the write.
    pub start: u64,
    /// Between write and barrier; nothing where the arm has no such moment.
    pub middle: Option<u64>,
    /// Right after the barrier.
    pub end: u64,
}

/// A part of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairPart {
    /// The write alone.
    Write,
    /// The barrier alone.
    Barrier,
    /// The pair: from its start, in an open loop from its intended start.
    Total,
    /// The pair from its actual start, where that is not the intended one.
    Service,
    /// From the intended start to the actual one.
    Late,
}

impl Sample {
    /// Ticks of a part of a pair that was to begin at `intended`, if the loop is open; nothing where it
    /// was not timed.
    pub(crate) fn part_ticks(
        &self,
        part: PairPart,
        arm: Arm,
        intended: Option<u64>,
    ) -> Option<u64> {
        Some(match part {
            PairPart::Total => self.end - intended.unwrap_or(self.start).min(self.start),
            PairPart::Service => intended.map(|_| self.end - self.start)?,
            PairPart::Late => self.start.saturating_sub(intended?),
            PairPart::Barrier => self.end - self.middle?,
            // Without any barrier the write is the whole pair.
            PairPart::Write if arm.has_own_write() => self.middle.unwrap_or(self.end) - self.start,
            PairPart::Write => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMED: Sample = Sample { start: 100, middle: Some(130), end: 200 };
    const WHOLE: Sample = Sample { start: 100, middle: None, end: 200 };

    /// Write, barrier and total of a sample.
    fn parts(sample: Sample, arm: &str) -> [Option<u64>; 3] {
        let arm = arm.parse().unwrap();
        [PairPart::Write, PairPart::Barrier, PairPart::Total]
            .map(|part| sample.part_ticks(part, arm, None))
    }

    #[test]
    fn two_calls_have_two_parts() {
        for arm in ["syscall/fsync", "syscall/fdatasync+direct", "uring/fdatasync"] {
            assert_eq!(parts(TIMED, arm), [Some(30), Some(70), Some(100)], "{arm}");
        }
    }

    #[test]
    fn one_submission_has_only_a_total() {
        for arm in ["uring-linked/fdatasync", "syscall/dsync", "syscall/o_sync", "uring/dsync"] {
            assert_eq!(parts(WHOLE, arm), [None, None, Some(100)], "{arm}");
        }
    }

    #[test]
    fn without_a_barrier_the_write_is_all() {
        for arm in ["syscall/none", "uring/none", "syscall/none+direct"] {
            assert_eq!(parts(WHOLE, arm), [Some(100), None, Some(100)], "{arm}");
        }
    }
}
