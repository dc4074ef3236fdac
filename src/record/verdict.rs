//! The judgement as recorded.

use serde::{Deserialize, Serialize};

use super::Prediction;

/// A record judged under a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Name of the policy.
    pub policy: String,
    /// Which part of the pair was judged.
    pub metric: Metric,
    /// Whose figure it is.
    pub judged: Judged,
    /// Which figure it is.
    pub judged_on: JudgedOn,
    /// The worst worker's p99; absent where it was judged on the maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// The figure that was held against the band edges, whatever it is.
    pub judged_ns: u64,
    /// Where the figure falls; an edge belongs to the worse band.
    pub band: Band,
    /// Whether the flush reached stable storage.
    pub durability: Durability,
    /// What shows it, in a sentence.
    pub durability_evidence: String,
    /// What a proof rests on; only where it is proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability_basis: Option<Basis>,
    /// For each device at the bottom of the stack, what may be inferred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub power_loss_protection: Vec<PowerLossProtection>,
    /// Whether the samples carry the band.
    pub confidence: Confidence,
    /// Whether the policy is met.
    pub pass: bool,
    /// The program's exit code.
    pub exit_code: i32,
    /// One sentence for a person.
    pub sentence: String,
    /// What to configure; absent where the policy has no such setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<Recommendation>,
    /// What a JetStream server would do here; only under a policy for JetStream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prediction: Option<Prediction>,
    /// What else was found.
    pub findings: Vec<Finding>,
}

/// The judged part of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// From the write's return to the barrier's.
    Barrier,
    /// From the start of the write to the barrier's return.
    Total,
}

/// Whose figure is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judged {
    /// The largest per-worker figure.
    WorstWorker,
    /// All samples merged.
    Pooled,
}

/// Which figure is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgedOn {
    /// The 99th percentile.
    P99,
    /// The largest sample: too few for a percentile, or the run timed out.
    Max,
}

/// The five bands, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Band {
    /// Below 1 ms by default.
    Ideal,
    /// Below 5 ms by default.
    Good,
    /// Below 50 ms by default.
    Workable,
    /// Below 1 s by default.
    Marginal,
    /// All else.
    Broken,
}

/// Whether the flush reached stable storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Shown by evidence.
    Proved,
    /// Neither shown nor refuted.
    Unproved,
    /// Refuted: a power cut loses what was acknowledged.
    NotDurable,
}

/// What a proof rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// A device says itself that it has no volatile cache, so that no flush is sent to it.
    DeviceDeclaresNoCache,
    /// Writes with forced unit access were seen to reach the devices.
    FuaTraced,
    /// The filesystem flushes within the write (ZFS with sync=always).
    FlushedInWrite,
    /// The flush counters of the devices moved with the barriers.
    FlushesMoved,
}

/// Whether a device keeps what is in its cache when the power goes: inferred, never claimed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerLossProtection {
    /// The device's name.
    pub node: String,
    /// What follows.
    pub inferred: Inferred,
    /// From what.
    pub from: String,
}

/// A conclusion that may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inferred {
    /// Probably.
    Yes,
    /// Probably not.
    No,
    /// Nothing points either way.
    Unknown,
}

/// Whether the samples carry the band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Enough samples, and no edge within the interval.
    Clear,
    /// The interval crosses a band edge.
    Borderline,
    /// Fewer than 100 samples in a worker that decides.
    TooFewSamples,
}

/// What to write into the service's configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recommendation {
    /// In the form that the server's config takes: `always`, `500ms`, `2m`; absent where only the
    /// storage can be fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_interval: Option<String>,
    /// Share of acks that still wait behind the background flush, f/(interval+f); 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall_share: Option<f64>,
    /// The smallest step that keeps that share under 1 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clean_interval: Option<String>,
    /// Why, and what it costs.
    pub reason: String,
}

/// One thing that was found, with what shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable identifier, such as `cost_in_write`.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// One sentence.
    pub text: String,
    /// The figures or sources behind it.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub evidence: String,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Changes how the figures are to be read.
    Warning,
    /// The figures do not mean what they seem to.
    Error,
}
