//! The sweep as a value: what is to be measured, in which order, and what came of it.

use serde::{Deserialize, Serialize};
use synctail_bench::{Arm, Layout, SyncFd};

use crate::record::{Band, Record, Status, Tool};

/// Version of the document.
pub const SCHEMA: &str = "synctail.sweep/1";

/// The document: state while it runs, result at its end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sweep {
    /// [`SCHEMA`].
    pub schema: String,
    /// Who measured.
    pub tool: Tool,
    /// RFC 3339.
    pub started_at: String,
    /// The command line.
    pub command: Vec<String>,
    /// `interrupted` until every run is done; `failed` where a cell could not be measured.
    pub status: Status,
    /// What is done.
    pub plan: Plan,
    /// In the order of the table.
    pub cells: Vec<Cell>,
    /// Where p99 leaves the band as workers are added.
    #[serde(default)]
    pub knees: Vec<Knee>,
}

/// What is to be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Directory or device, as typed.
    pub path: String,
    /// Of the preset, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Each cell is measured so often.
    pub rounds: u64,
    /// Of the order and the data.
    pub seed: u64,
    /// Flags of `check` that all cells share.
    pub flags: Vec<String>,
    /// Indices of cells in the order of their runs, for each round.
    pub order: Vec<Vec<usize>>,
    /// Combinations that mean nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// One point of the product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axes {
    /// What is measured.
    pub arm: Arm,
    /// Bytes per write.
    pub block_size_bytes: u64,
    /// Writes of a pair.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub writes_per_barrier: u64,
    /// By which descriptor the barrier is called.
    #[serde(default, skip_serializing_if = "SyncFd::is_own")]
    pub sync_fd: SyncFd,
    /// Threads.
    pub workers: u64,
    /// Chains in flight.
    pub depth: u64,
    /// How files grow.
    pub layout: Layout,
}

fn one() -> u64 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_one(count: &u64) -> bool {
    *count == 1
}

impl Axes {
    /// One write of `block_size_bytes` by one worker, one at a time.
    pub fn single(arm: Arm, block_size_bytes: u64, layout: Layout) -> Axes {
        let (writes_per_barrier, sync_fd) = (1, SyncFd::Own);
        Axes { arm, block_size_bytes, writes_per_barrier, sync_fd, workers: 1, depth: 1, layout }
    }

    /// Bytes of a pair.
    pub fn pair_bytes(&self) -> u64 {
        self.block_size_bytes * self.writes_per_barrier
    }
}

/// A point and its results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// Which.
    pub axes: Axes,
    /// Its name in a preset's table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What each round measured, in the order of the rounds.
    pub rounds: Vec<Round>,
    /// The record of the round with the median p99, without samples; absent until there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Box<Record>>,
    /// The records until the median is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<Record>,
}

/// One run of a cell. The times are the total of the pair: what all arms have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// How it ended.
    pub status: Status,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
    /// Median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// 99th percentile, of all workers together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// Largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<u64>,
    /// Rate of all workers together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs_per_s: Option<f64>,
    /// How long the run took, preparation included.
    pub took_ns: u64,
}

/// Where adding workers takes p99 out of the band that it had with the fewest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knee {
    /// What is measured.
    pub arm: Arm,
    /// Bytes per write.
    pub block_size_bytes: u64,
    /// Chains in flight.
    pub depth: u64,
    /// How files grow.
    pub layout: Layout,
    /// With the fewest workers.
    pub band: Band,
    /// The most workers up to which every step stays in that band, or a better one.
    pub stays_until_workers: u64,
    /// The next step, which does not; absent where none leaves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves_at_workers: Option<u64>,
}

impl Cell {
    /// Adds a run; the record of the median p99 is kept once all rounds are there.
    pub fn add(&mut self, record: Record, round: Round, rounds: u64) {
        self.rounds.push(round);
        self.pending.push(record);
        if (self.rounds.len() as u64) < rounds {
            return;
        }
        let chosen = median_round(&self.rounds).unwrap_or(0);
        let mut records = std::mem::take(&mut self.pending);
        self.record = Some(Box::new(records.swap_remove(chosen)));
    }

    /// The round whose figures stand for the cell.
    pub fn median(&self) -> Option<&Round> {
        self.rounds.get(median_round(&self.rounds)?)
    }
}

/// The round with the median p99, or maximum where there is none; the lower of two in the middle. A
/// percentile is picked, never averaged.
fn median_round(rounds: &[Round]) -> Option<usize> {
    let figure = |round: &Round| round.p99_ns.or(round.max_ns);
    let mut ranked: Vec<(u64, usize)> =
        rounds.iter().enumerate().filter_map(|(i, round)| Some((figure(round)?, i))).collect();
    ranked.sort_unstable();
    ranked.get(ranked.len().checked_sub(1)? / 2).map(|&(_, i)| i)
}
