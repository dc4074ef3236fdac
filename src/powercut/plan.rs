//! What a run writes and where: known to the writer, kept by the witness, needed to verify.

use serde::{Deserialize, Serialize};
use synctail_bench::{Arm, Layout};

use super::block::HEADER_BYTES;

/// What the name of a run's directory begins with.
pub const DIRECTORY_PREFIX: &str = "synctail-powercut-";
/// The largest record; more would not fit into memory a worker at a time.
const BLOCK_SIZE_BYTES_MAX: u64 = synctail_bench::Plan::BLOCK_SIZE_BYTES_MAX;

/// Files of a segment size that an appending worker keeps; older ones are removed.
pub const SEGMENTS_KEPT: u64 = 4;

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Random, in hexadecimal.
    pub run: String,
    /// The kernel's id of the boot in which it was written; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// Directory of the run below the path.
    pub directory: String,
    /// One worker each.
    pub workers: Vec<Worker>,
}

/// What one worker does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// How each record is made durable.
    pub arm: Arm,
    /// How the files grow.
    pub layout: Layout,
    /// Bytes of each record.
    pub block_size_bytes: u64,
    /// Bytes of each file.
    pub file_size_bytes: u64,
}

/// Where a record lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Its file's number, from 0.
    pub file: u64,
    /// Where in it.
    pub offset_bytes: u64,
}

impl Plan {
    /// Whether this could be a plan of ours: it comes over a network, or out of a file.
    pub fn is_ours(&self) -> bool {
        let sizes = HEADER_BYTES as u64..=BLOCK_SIZE_BYTES_MAX;
        let fits = |worker: &Worker| {
            sizes.contains(&worker.block_size_bytes) && worker.file_size_bytes <= 1 << 62
        };
        let named = self.directory.strip_prefix(DIRECTORY_PREFIX) == Some(self.run.as_str());
        named && self.run_number().is_some() && self.workers.iter().all(fits)
    }

    /// The run's id as a number; nothing where it is none.
    pub fn run_number(&self) -> Option<u128> {
        u128::from_str_radix(&self.run, 16).ok()
    }
}

impl Worker {
    /// Records that fit into one file; at least one.
    pub fn records_per_file(&self) -> u64 {
        (self.file_size_bytes / self.block_size_bytes.max(1)).max(1)
    }

    /// Where record `sequence` lies.
    pub fn location(&self, sequence: u64) -> Location {
        let (file, slot) = match self.layout {
            Layout::Append => {
                (sequence / self.records_per_file(), sequence % self.records_per_file())
            }
            Layout::Overwrite | Layout::Unwritten => (0, sequence % self.records_per_file()),
        };
        Location { file, offset_bytes: slot * self.block_size_bytes }
    }

    /// The first record that must still be there when `newest` is the last one acknowledged: older ones have
    /// been written over, or their files were removed, or may have been on behalf of the next record.
    pub fn first_kept(&self, newest: u64) -> u64 {
        let records = self.records_per_file();
        match self.layout {
            Layout::Append => {
                ((newest + 1) / records).saturating_sub(SEGMENTS_KEPT - 1).saturating_mul(records)
            }
            Layout::Overwrite | Layout::Unwritten => (newest + 1).saturating_sub(records),
        }
    }

    /// The file that is removed once `file` exists; nothing where all are kept.
    pub fn retired(&self, file: u64) -> Option<u64> {
        file.checked_sub(SEGMENTS_KEPT)
    }

    /// Name of a file in the run's directory.
    pub fn file_name(worker: usize, file: u64) -> String {
        format!("w{worker:05}-{file:06}")
    }

    /// Bytes that its files hold at most.
    pub fn bytes_on_disk(&self) -> u64 {
        let files = if self.layout == Layout::Append { SEGMENTS_KEPT + 1 } else { 1 };
        files.saturating_mul(self.file_size_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(layout: Layout) -> Worker {
        Worker { arm: Arm::DEFAULT, layout, block_size_bytes: 100, file_size_bytes: 1_050 }
    }

    #[test]
    fn records_follow_each_other_without_a_gap() {
        let append = worker(Layout::Append);
        assert_eq!(append.location(9), Location { file: 0, offset_bytes: 900 });
        assert_eq!(append.location(10), Location { file: 1, offset_bytes: 0 });
        let overwrite = worker(Layout::Overwrite);
        assert_eq!(overwrite.location(23), Location { file: 0, offset_bytes: 300 });
    }

    #[test]
    fn a_plan_that_points_elsewhere_is_not_ours() {
        let run = "000000000000000000000000000000ff".to_owned();
        let directory = format!("{DIRECTORY_PREFIX}{run}");
        let plan = Plan { run, boot_id: None, directory, workers: vec![worker(Layout::Append)] };
        assert!(plan.is_ours());
        assert!(!Plan { directory: "../etc".into(), ..plan.clone() }.is_ours());
        let mut huge = plan;
        huge.workers[0].block_size_bytes = 1 << 60;
        assert!(!huge.is_ours());
    }

    #[test]
    fn what_may_be_gone_is_not_asked_for() {
        let append = worker(Layout::Append);
        // Record 49 is the last of file 4; for record 50 file 5 is made and file 1 removed.
        assert_eq!((append.first_kept(48), append.first_kept(49)), (10, 20));
        assert_eq!(append.retired(5), Some(1));
        assert_eq!((append.first_kept(0), append.first_kept(29)), (0, 0));
        let overwrite = worker(Layout::Overwrite);
        assert_eq!((overwrite.first_kept(9), overwrite.first_kept(10)), (0, 1));
    }
}
