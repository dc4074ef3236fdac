//! How far barriers moved the machine's counters.

use synctail_bench::{Barrier, Engine};

use crate::record::{Block, CounterKind, CounterMoved, Proof, Record, Substrate};

/// Share of a flush per barrier from which on the barriers count as the cause: flushes of one file may be
/// merged with those of others, down to 0.28 of one with eight workers.
const SHARE_LEAST: f64 = 0.5;
/// The probe's barriers come one after the other, and each needs a flush that began after it did, whoever
/// asked for that: no honest device completes fewer flushes than barriers. Below this share of them, those
/// of others included, the barriers did not get through.
const SHARE_OF_SILENCE: f64 = 0.25;

/// Who issued a barrier of the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// The C library, for the program.
    Libc,
    /// The program itself, past the library; what a ring does as well.
    Raw,
}

impl Issuer {
    /// Whose barriers stand for those of the measured arm.
    pub fn of(record: &Record) -> Issuer {
        let arm = record.plan.as_ref().map(|plan| plan.arm);
        let by_library = arm.is_some_and(|arm| {
            arm.engine == Engine::Syscall
                && matches!(arm.barrier, Barrier::Fdatasync | Barrier::Fsync)
        });
        if by_library { Issuer::Libc } else { Issuer::Raw }
    }

    /// Its barriers.
    pub fn barriers(self, proof: &Proof) -> u64 {
        match self {
            Issuer::Libc => proof.libc_barriers,
            Issuer::Raw => proof.raw_barriers,
        }
    }

    fn moved(self, counter: &CounterMoved) -> u64 {
        match self {
            Issuer::Libc => counter.libc,
            Issuer::Raw => counter.raw,
        }
    }

    /// Movement per barrier beyond what others caused, who had as long in the slices without barriers.
    pub fn per_barrier(self, proof: &Proof, counter: &CounterMoved) -> f64 {
        let barriers = self.barriers(proof);
        let moved = self.moved(counter) as f64 - counter.none as f64;
        if barriers == 0 { 0.0 } else { moved / barriers as f64 }
    }

    /// Whether its barriers moved the counter.
    pub fn moves(self, proof: &Proof, counter: &CounterMoved) -> bool {
        self.per_barrier(proof, counter) >= SHARE_LEAST
    }

    /// Whether the counter moved so little, whoever moved it, that its barriers did not get through.
    pub fn is_silent(self, proof: &Proof, counter: &CounterMoved) -> bool {
        (self.moved(counter) as f64) < SHARE_OF_SILENCE * self.barriers(proof) as f64
    }
}

/// Whether the run's own barriers moved the flush counter of a device at the bottom: what the probe's calls
/// met (a filter of system calls, which a ring does not pass) is then none of the run's.
pub fn by_the_run(record: &Record) -> bool {
    let pairs = record.counters.as_ref().map_or(0, |counters| counters.pairs) as f64;
    let (Some(under), Some(interval)) = (&record.substrate, &record.interval) else { return false };
    let is_leaf = |name: &str| leaves(under).iter().any(|leaf| leaf.name == name);
    let mut devices = interval.devices.iter().filter(|device| is_leaf(&device.node));
    pairs > 0.0 && devices.any(|device| device.flushes as f64 >= SHARE_OF_SILENCE * pairs)
}

/// Devices with nothing of the stack below them.
pub fn leaves(substrate: &Substrate) -> Vec<&Block> {
    substrate.block.iter().filter(|node| node.below.is_empty()).collect()
}

/// The counter of `node`.
pub fn counter<'a>(proof: &'a Proof, kind: CounterKind, node: &str) -> Option<&'a CounterMoved> {
    proof.counters.iter().find(|counter| counter.kind == kind && counter.node == node)
}

/// Whether the barriers moved any counter that only a flush on its way down moves.
pub fn any(issuer: Issuer, proof: &Proof) -> bool {
    let flushes =
        |c: &&CounterMoved| matches!(c.kind, CounterKind::Flushes | CounterKind::ZilCommits);
    proof.counters.iter().filter(flushes).any(|counter| issuer.moves(proof, counter))
}

/// Whether raw barriers move a flush counter that those of the C library leave where it is.
pub fn only_raw_moves(proof: &Proof, barriers_least: u64) -> bool {
    if proof.libc_barriers < barriers_least || proof.raw_barriers < barriers_least {
        return false;
    }
    let mut flushes = proof.counters.iter().filter(|c| c.kind == CounterKind::Flushes);
    flushes.any(|c| Issuer::Libc.is_silent(proof, c) && Issuer::Raw.moves(proof, c))
}
