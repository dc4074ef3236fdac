//! How many bytes of files a run needs, and how they are divided.

use synctail_bench::Layout;

use crate::human;
use crate::refusal::Refusal;

/// What was asked.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// At least 1.
    pub pair_bytes: u64,
    /// At least 1.
    pub workers: u64,
    /// How files grow.
    pub layout: Layout,
    /// `--file-size`.
    pub file_size_bytes: Option<u64>,
    /// What it is where it was not given and fits.
    pub default_file_size_bytes: u64,
    /// Bound of all files together.
    pub max_bytes: u64,
    /// Warm-up included; absent for a run by time.
    pub pairs_per_worker: Option<u64>,
}

/// The division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Of one file or segment.
    pub segment_bytes: u64,
    /// Segments per worker.
    pub segments_kept: u64,
    /// Most bytes that all files hold at once.
    pub bytes_on_disk: u64,
    /// Bytes that will be written, preparation included; absent for a run by time.
    pub bytes_written: Option<u64>,
}

impl Space {
    /// Divides the budget evenly; a default size shrinks to fit, a given one is refused if it does not.
    pub fn divide(wanted: &Wanted) -> Result<Space, Refusal> {
        let budget = wanted.max_bytes / wanted.workers;
        let block = wanted.pair_bytes;
        let too_small = |flag: &str, bytes: u64| {
            let need = human::bytes(block);
            Refusal::usage(format!("{flag}: {} hold no block of {need}", human::bytes(bytes)))
        };
        if let Some(bytes) = wanted.file_size_bytes {
            if bytes < block {
                return Err(too_small("--file-size", bytes));
            }
            if bytes > budget {
                return Err(Refusal::usage(format!(
                    "--file-size: {} files of {} are more than --max-bytes {}",
                    wanted.workers,
                    human::bytes(bytes),
                    human::bytes(wanted.max_bytes),
                )));
            }
        }
        if budget < block {
            let need = human::bytes(block);
            return Err(Refusal::usage(format!(
                "--max-bytes: {} for each of {} workers hold no block of {need}",
                human::bytes(budget),
                wanted.workers,
            )));
        }
        let default = wanted.default_file_size_bytes.max(block).min(budget);
        let file_size = wanted.file_size_bytes.unwrap_or(default);
        Ok(Self::count(wanted, budget, file_size / block))
    }

    /// Whole pairs only: the rest of a size would never be measured, and O_DIRECT could not write it.
    fn count(wanted: &Wanted, budget: u64, pairs_per_segment: u64) -> Space {
        let segment_bytes = pairs_per_segment * wanted.pair_bytes;
        let segments_needed = wanted.pairs_per_worker.map(|n| n.div_ceil(pairs_per_segment));
        let (segments_kept, per_worker) = match wanted.layout {
            Layout::Overwrite => (1, segment_bytes),
            Layout::Append | Layout::Unwritten => {
                let kept = (budget / segment_bytes).max(1);
                let used = segments_needed.map_or(kept, |needed| needed.min(kept));
                (kept, used * segment_bytes)
            }
        };
        let written = wanted.pairs_per_worker.map(|n| n.saturating_mul(wanted.pair_bytes));
        let per_worker = match (wanted.layout, written) {
            // A segment that is only appended to is as long as what was written to it.
            (Layout::Append, Some(written)) => per_worker.min(written),
            _ => per_worker,
        };
        let prepared = if wanted.layout == Layout::Overwrite { segment_bytes } else { 0 };
        Space {
            segment_bytes,
            segments_kept,
            bytes_on_disk: per_worker.saturating_mul(wanted.workers),
            bytes_written: written
                .map(|bytes| bytes.saturating_add(prepared).saturating_mul(wanted.workers)),
        }
    }
}
