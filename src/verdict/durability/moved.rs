//! How far barriers moved the machine's counters.

use crate::record::{Block, CounterKind, CounterMoved, Proof, Substrate};

/// Share of a flush per barrier from which on the barriers count as the cause: flushes of one file may be
/// merged with those of others, down to 0.28 of one with eight workers.
const SHARE_LEAST: f64 = 0.5;

/// Devices with nothing of the stack below them.
pub fn leaves(substrate: &Substrate) -> Vec<&Block> {
    substrate.block.iter().filter(|node| node.below.is_empty()).collect()
}

/// The counter of `node`.
pub fn counter<'a>(proof: &'a Proof, kind: CounterKind, node: &str) -> Option<&'a CounterMoved> {
    proof.counters.iter().find(|counter| counter.kind == kind && counter.node == node)
}

/// Movement per barrier beyond what others caused. Slices without barriers last as long as each kind of
/// slice with them, so that their movement stands in each.
pub fn per_barrier(proof: &Proof, counter: &CounterMoved) -> f64 {
    let barriers = proof.libc_barriers + proof.raw_barriers;
    let moved = (counter.libc + counter.raw) as f64 - 2.0 * counter.none as f64;
    if barriers == 0 { 0.0 } else { moved / barriers as f64 }
}

/// Whether the barriers moved it.
pub fn by_barriers(proof: &Proof, counter: &CounterMoved) -> bool {
    per_barrier(proof, counter) >= SHARE_LEAST
}

/// Whether the barriers moved any counter that only a flush on its way down moves.
pub fn any(proof: &Proof) -> bool {
    let flushes =
        |c: &&CounterMoved| matches!(c.kind, CounterKind::Flushes | CounterKind::ZilCommits);
    proof.counters.iter().filter(flushes).any(|counter| by_barriers(proof, counter))
}

/// Whether raw barriers move a flush counter that those of the C library leave where it is.
pub fn only_raw_moves(proof: &Proof, barriers_least: u64) -> bool {
    if proof.libc_barriers < barriers_least || proof.raw_barriers < barriers_least {
        return false;
    }
    proof.counters.iter().filter(|counter| counter.kind == CounterKind::Flushes).any(|counter| {
        let raw = counter.raw as f64 - counter.none as f64;
        counter.libc == 0 && raw >= SHARE_LEAST * proof.raw_barriers as f64
    })
}
