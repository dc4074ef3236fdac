//! What became of the acknowledged records.

use serde::Serialize;

use super::plan::Worker;

/// How a record is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// The file's name, or its directory's, is gone.
    FileMissing,
    /// The file ends before it.
    FileTooShort,
    /// The place holds zeros.
    Zeros,
    /// The place holds an older record of the run.
    Stale,
    /// Some sectors are its own and others are not.
    Torn,
    /// The place holds something else.
    Foreign,
    /// It was whole, and a later record that was on its way to the same place, not yet acknowledged, has
    /// overwritten a part of it. No promise was broken, but a block of this size is not written in one piece.
    TornUnderWay,
}

impl LossKind {
    /// Whether something that was promised is not there.
    pub fn is_loss(self) -> bool {
        self != LossKind::TornUnderWay
    }
}

/// Records by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// See [`LossKind`].
    pub file_missing: u64,
    /// See [`LossKind`].
    pub file_too_short: u64,
    /// See [`LossKind`].
    pub zeros: u64,
    /// See [`LossKind`].
    pub stale: u64,
    /// See [`LossKind`].
    pub torn: u64,
    /// See [`LossKind`].
    pub foreign: u64,
    /// See [`LossKind`].
    pub torn_under_way: u64,
}

impl Counts {
    /// Counts one.
    pub fn add(&mut self, kind: LossKind) {
        *match kind {
            LossKind::FileMissing => &mut self.file_missing,
            LossKind::FileTooShort => &mut self.file_too_short,
            LossKind::Zeros => &mut self.zeros,
            LossKind::Stale => &mut self.stale,
            LossKind::Torn => &mut self.torn,
            LossKind::Foreign => &mut self.foreign,
            LossKind::TornUnderWay => &mut self.torn_under_way,
        } += 1;
    }

    /// Records whose file or length is gone.
    pub fn metadata(&self) -> u64 {
        self.file_missing + self.file_too_short
    }

    /// Records whose file is there and whose bytes are not.
    pub fn data(&self) -> u64 {
        self.zeros + self.stale + self.foreign
    }

    /// Records that were promised and are not there.
    pub fn lost(&self) -> u64 {
        self.metadata() + self.data() + self.torn
    }

    /// The sum of two.
    pub fn plus(self, other: Counts) -> Counts {
        Counts {
            file_missing: self.file_missing + other.file_missing,
            file_too_short: self.file_too_short + other.file_too_short,
            zeros: self.zeros + other.zeros,
            stale: self.stale + other.stale,
            torn: self.torn + other.torn,
            foreign: self.foreign + other.foreign,
            torn_under_way: self.torn_under_way + other.torn_under_way,
        }
    }
}

/// Lost records by how long before the last acknowledgement of the run theirs was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ages {
    /// Below 100 ms.
    pub below_100ms: u64,
    /// From there to below 1 s.
    pub below_1s: u64,
    /// From there to below 5 s.
    pub below_5s: u64,
    /// From there to below 30 s.
    pub below_30s: u64,
    /// 30 s and more.
    pub older: u64,
    /// The greatest age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_ms: Option<u64>,
}

impl Ages {
    /// Counts one; an age that is not known is in no class.
    pub fn add(&mut self, age_ms: Option<u64>) {
        let Some(age_ms) = age_ms else { return };
        *match age_ms {
            0..100 => &mut self.below_100ms,
            100..1_000 => &mut self.below_1s,
            1_000..5_000 => &mut self.below_5s,
            5_000..30_000 => &mut self.below_30s,
            _ => &mut self.older,
        } += 1;
        self.oldest_ms = self.oldest_ms.max(Some(age_ms));
    }

    /// The sum of two.
    pub fn plus(self, other: Ages) -> Ages {
        Ages {
            below_100ms: self.below_100ms + other.below_100ms,
            below_1s: self.below_1s + other.below_1s,
            below_5s: self.below_5s + other.below_5s,
            below_30s: self.below_30s + other.below_30s,
            older: self.older + other.older,
            oldest_ms: self.oldest_ms.max(other.oldest_ms),
        }
    }
}

/// One record that is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// Its number.
    pub sequence: u64,
    /// What is found instead.
    pub kind: LossKind,
    /// Its file in the run's directory.
    pub file: String,
    /// How long before the last acknowledgement of the run its own was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
}

/// What became of one worker's records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkerResult {
    /// From 0.
    pub worker: usize,
    /// How it wrote.
    #[serde(flatten)]
    pub how: Worker,
    /// Records that were acknowledged.
    pub acknowledged: u64,
    /// Of these, older ones in whose place newer ones were written, or whose files were removed.
    pub superseded: u64,
    /// Of the others, those that are there.
    pub survived: u64,
    /// The rest, by what was found.
    pub counts: Counts,
    /// The lost ones by age.
    pub ages: Ages,
    /// The first ones.
    pub losses: Vec<Loss>,
}

impl WorkerResult {
    /// Nothing acknowledged yet.
    pub fn new(worker: usize, how: &Worker) -> WorkerResult {
        WorkerResult {
            worker,
            how: how.clone(),
            acknowledged: 0,
            superseded: 0,
            survived: 0,
            counts: Counts::default(),
            ages: Ages::default(),
            losses: Vec::new(),
        }
    }
}
