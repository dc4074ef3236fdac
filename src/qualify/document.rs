//! The result: one document that says pass or fail, why, and on what.

use serde::{Deserialize, Serialize};

use super::figures::Figures;
use super::health::Health;
use super::steady::Steadiness;
use super::target::Target;
use crate::human;
use crate::policy::band_at;
use crate::record::{Durability, ErrorReport, LoadReport, Machine, Tool};

/// The value of `schema`.
pub const SCHEMA: &str = "synctail.qualification/1";

/// A qualification: finished, or as far as it came.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Qualification {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Who measured.
    pub tool: Tool,
    /// The last command line.
    pub command: Vec<String>,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC; of this document.
    pub ended_at: String,
    /// `complete`, `interrupted` or `failed`.
    pub status: String,
    /// Why it could not go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorReport>,
    /// What was to be done.
    pub spec: SpecReport,
    /// On what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// On which machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// What the devices said before the first step.
    pub health_before: Vec<Health>,
    /// What they said after the last.
    pub health_after: Vec<Health>,
    /// Bytes that the preconditioning left there during the steps; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preconditioned_bytes: Option<u64>,
    /// How often it was continued after an interruption.
    pub resumed: u64,
    /// Each step against its limits.
    pub steps: Vec<StepReport>,
    /// What follows.
    pub verdict: QualificationVerdict,
}

/// The spec as it was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SpecReport {
    /// Its name.
    pub name: String,
    /// One line.
    pub description: String,
    /// Of its text and what it refers to.
    pub sha256: String,
    /// TOML.
    pub text: String,
}

/// One step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepReport {
    /// Its name.
    pub name: String,
    /// Flags of `check`.
    pub plan: Vec<String>,
    /// What follows.
    pub verdict: StepVerdict,
    /// Why it was skipped or not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Without a load, and with it.
    pub variants: Vec<VariantReport>,
}

/// The rounds of a step under one load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VariantReport {
    /// The mix; absent where nothing worked beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<String>,
    /// Every round.
    pub rounds: Vec<RoundReport>,
    /// Numbers of the rounds that were held against the limits.
    pub judged_rounds: Vec<u64>,
    /// Whether they are steady, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<Steadiness>,
    /// Every limit.
    pub limits: Vec<Limit>,
}

/// One round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RoundReport {
    /// From 1.
    pub round: u64,
    /// The record, relative to the folder of this document.
    pub file: String,
    /// Of the record's bytes.
    pub sha256: String,
    /// Of `check`.
    pub exit_code: i32,
    /// What it says.
    #[serde(flatten)]
    pub figures: Figures,
    /// What worked beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_report: Option<LoadReport>,
}

/// What becomes of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepVerdict {
    /// Every limit holds.
    Pass,
    /// One does not.
    Fail,
    /// It could not be measured.
    NotMeasured,
    /// It was not begun, or not finished.
    Skipped,
}

/// One limit and what was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Such as `p99`.
    pub figure: String,
    /// What it is more closely, or why it does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// At most so much; of `rate` at least.
    pub bound: f64,
    /// In the worst round; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<f64>,
    /// Of both.
    pub unit: Unit,
    /// The worst round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u64>,
    /// Whether it holds; what is not known does not.
    pub holds: bool,
}

/// Of a limit. Bands count from 0 (IDEAL) to 4, durability from 0 (proved) to 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Pairs a second.
    PairsPerS,
    /// A number of them.
    Count,
    /// A share.
    Percent,
    /// A band.
    Band,
    /// A state.
    Durability,
    /// 1 or 0.
    Holds,
}

/// The judgement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QualificationVerdict {
    /// Whether every limit holds and nothing was skipped.
    pub pass: bool,
    /// The program's exit code.
    pub exit_code: i32,
    /// One sentence.
    pub sentence: String,
    /// Each limit that does not hold, each step that was not done: one sentence each.
    pub missed: Vec<String>,
}

impl Unit {
    /// A value for a person.
    pub fn shown(self, value: f64) -> String {
        match self {
            Unit::Ns => human::time(value as u64),
            Unit::PairsPerS => format!("{}/s", human::decimal(value)),
            Unit::Count => human::count(value as u64),
            Unit::Percent => human::share(value / 100.0),
            Unit::Band => band_at(value as usize).to_owned(),
            Unit::Durability => durability(value),
            Unit::Holds => if value > 0.0 { "met" } else { "not met" }.to_owned(),
        }
    }
}

fn durability(value: f64) -> String {
    let states = [Durability::Proved, Durability::Unproved, Durability::NotDurable];
    let state = states.into_iter().find(|state| f64::from(*state as u8) >= value);
    let name = match state {
        Some(Durability::Proved) => "proved",
        Some(Durability::Unproved) => "unproved",
        _ => "not durable",
    };
    name.to_owned()
}

impl Limit {
    /// `p99 at most 5.00ms: 7.21ms in round 2`; `policy: not met in round 2 (why)`.
    pub fn shown(&self) -> String {
        let of = self.of.as_ref().map_or(String::new(), |of| format!(" ({of})"));
        let side = match self.unit {
            Unit::PairsPerS => "at least ",
            Unit::Band | Unit::Durability => "no worse than ",
            _ => "at most ",
        };
        let found = self.found.map_or("not known".to_owned(), |found| self.unit.shown(found));
        if self.unit == Unit::Holds {
            let round = self.round.map_or(String::new(), |round| format!(" in round {round}"));
            return format!("{}: {found}{round}{of}", self.figure);
        }
        let round = self.round.map_or(String::new(), |round| format!(" in round {round}"));
        let bound = self.unit.shown(self.bound);
        format!("{}{of} {side}{bound}: {found}{round}", self.figure)
    }
}
