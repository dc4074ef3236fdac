//! What the machine itself counts while barriers are issued.
//!
//! Text in, numbers out; everything is read below a root folder, as in `substrate`. A counter that is
//! not there is left out: nothing here stops a run.

mod diskstats;
pub mod interval;
mod journal;
mod zil;

#[cfg(test)]
pub use diskstats::flushes;
#[cfg(test)]
pub use zil::value as zil_value;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::record::{CounterKind, Substrate};

/// One number that flushes move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// What it counts.
    pub kind: CounterKind,
    /// Of which node, filesystem or pool.
    pub node: String,
    /// Where it is read, below the root.
    path: String,
}

/// The counters that tell of flushes on `substrate` and can be read now.
pub fn counters(root: &Path, substrate: &Substrate) -> Vec<Counter> {
    let mut all = diskstats::counters(substrate);
    all.extend(journal::counters(root, substrate));
    all.extend(zil::counters(substrate));
    all.retain(|counter| read_one(root, counter).is_some());
    all
}

/// Their values now; one that has gone meanwhile reads as 0.
pub fn read(root: &Path, counters: &[Counter]) -> Vec<u64> {
    counters.iter().map(|counter| read_one(root, counter).unwrap_or(0)).collect()
}

fn read_one(root: &Path, counter: &Counter) -> Option<u64> {
    let text = std::fs::read_to_string(root.join(&counter.path)).ok()?;
    match counter.kind {
        CounterKind::Flushes => diskstats::flushes(&text, &counter.node),
        CounterKind::Jbd2Commits => journal::jbd2_transactions(&text),
        CounterKind::XfsLogForces => journal::xfs_log_forces(&text),
        CounterKind::BtrfsCommits => journal::btrfs_commits(&text),
        kind => zil::value(&text, kind),
    }
}
