//! The probe before the run, as it enters the record.

use std::path::Path;

use synctail_bench::{Board, Fault, FileTarget, Flush, ProbeReport};
use synctail_sys::{Clock, flush_refuses_bad_descriptor, flush_symbols};

use crate::evidence::{self, Counter};
use crate::record::{CounterMoved, Proof, SymbolRecord};

/// Everything about the machine is read below it.
const ROOT: &str = "/";

/// Probes `target`, with `counters` watched; nothing where no pair could be done.
///
/// # Errors
/// A barrier that fails.
pub fn prove<C: Clock>(
    clock: &C,
    target: &FileTarget,
    counters: &[Counter],
    board: Board,
) -> Result<Option<Proof>, Fault> {
    let root = Path::new(ROOT);
    let mut read = || evidence::read(root, counters);
    let probed =
        synctail_bench::probe(&target.storage, target.arena, clock, board.main(), &mut read)?;
    Ok(probed.map(|report| proof(&report, counters, &read())))
}

fn proof(report: &ProbeReport, counters: &[Counter], values: &[u64]) -> Proof {
    let pairs = |flush| sum(report, flush, |slice| slice.pairs);
    let moved = |(at, counter): (usize, &Counter)| {
        let of = |flush| sum(report, flush, |slice| slice.moved.get(at).copied().unwrap_or(0));
        CounterMoved {
            kind: counter.kind,
            node: counter.node.clone(),
            value: values.get(at).copied().unwrap_or(0),
            libc: of(Flush::Libc),
            raw: of(Flush::Raw),
            none: of(Flush::None),
        }
    };
    let symbols = flush_symbols().into_iter();
    Proof {
        libc_barriers: pairs(Flush::Libc),
        raw_barriers: pairs(Flush::Raw),
        bare_writes: pairs(Flush::None),
        first_barrier_ns: report.first_barrier_ns,
        write_p50_ns: report.write_p50_ns,
        libc_barrier_p50_ns: report.barrier_p50_ns,
        raw_barrier_p50_ns: report.raw_barrier_p50_ns,
        counters: counters.iter().enumerate().map(moved).collect(),
        symbols: symbols
            .map(|symbol| SymbolRecord { name: symbol.name.to_owned(), object: symbol.object })
            .collect(),
        refuses_bad_descriptor: flush_refuses_bad_descriptor(),
    }
}

fn sum(report: &ProbeReport, flush: Flush, of: impl Fn(&synctail_bench::Slice) -> u64) -> u64 {
    report.slices.iter().filter(|slice| slice.flush == flush).map(of).sum()
}
