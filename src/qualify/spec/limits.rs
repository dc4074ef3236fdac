//! Limits of a step: each may be left out, each that is given must hold in every round.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer};

use super::{Percent, Span};
use crate::policy::parse_band;
use crate::quantity::parse_rate;
use crate::record::{Band, Durability};

/// A figure of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The median.
    P50,
    /// 90th percentile.
    P90,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P99_9,
    /// 99.99th percentile.
    P99_99,
    /// The longest.
    Max,
}

impl Figure {
    /// All of them, in order.
    pub const ALL: [Figure; 7] = [
        Figure::P50,
        Figure::P90,
        Figure::P95,
        Figure::P99,
        Figure::P99_9,
        Figure::P99_99,
        Figure::Max,
    ];

    /// The key in a spec.
    pub fn name(self) -> &'static str {
        match self {
            Figure::P50 => "p50",
            Figure::P90 => "p90",
            Figure::P95 => "p95",
            Figure::P99 => "p99",
            Figure::P99_9 => "p99_9",
            Figure::P99_99 => "p99_99",
            Figure::Max => "max",
        }
    }
}

/// What must hold; figures are the worst worker's, of the judged part of the pair.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// At most.
    pub p50: Option<Span>,
    /// At most.
    pub p90: Option<Span>,
    /// At most.
    pub p95: Option<Span>,
    /// At most.
    pub p99: Option<Span>,
    /// At most.
    pub p99_9: Option<Span>,
    /// At most.
    pub p99_99: Option<Span>,
    /// At most.
    pub max: Option<Span>,
    /// Pairs a second of all workers, at least.
    #[serde(default, deserialize_with = "rate")]
    pub rate: Option<f64>,
    /// Stalls of all workers, at most.
    pub stalls: Option<Stalls>,
    /// This band or a better one.
    #[serde(default, deserialize_with = "band")]
    pub band: Option<Band>,
    /// This or better.
    pub durability: Option<Durability>,
    /// Range of the rounds' p99 in percent of their mean, at most.
    pub spread: Option<Percent>,
    /// How much worse than a saved record it may be.
    pub change: Option<Change>,
}

/// Pairs that take too long.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stalls {
    /// From when on a pair is a stall.
    pub longer_than: Span,
    /// At most so many in a round.
    pub most: u64,
}

/// Limits against a reference.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// A saved record of `check`, relative to the spec.
    pub record: PathBuf,
    /// At most so much longer.
    pub p50: Option<Percent>,
    /// At most so much longer.
    pub p90: Option<Percent>,
    /// At most so much longer.
    pub p95: Option<Percent>,
    /// At most so much longer.
    pub p99: Option<Percent>,
    /// At most so much longer.
    pub p99_9: Option<Percent>,
    /// At most so much longer.
    pub p99_99: Option<Percent>,
    /// At most so much longer.
    pub max: Option<Percent>,
    /// At most so many fewer pairs a second.
    pub rate: Option<Percent>,
}

impl Limits {
    /// The limit of one figure.
    pub fn of(&self, figure: Figure) -> Option<Span> {
        match figure {
            Figure::P50 => self.p50,
            Figure::P90 => self.p90,
            Figure::P95 => self.p95,
            Figure::P99 => self.p99,
            Figure::P99_9 => self.p99_9,
            Figure::P99_99 => self.p99_99,
            Figure::Max => self.max,
        }
    }

    /// Whether they mean something for so many rounds.
    pub fn check(&self, rounds: u64) -> Result<(), String> {
        if self.spread.is_some() && rounds < 2 {
            return Err("limits.spread: needs at least two repeats".to_owned());
        }
        Ok(())
    }
}

impl Change {
    /// The limit of one figure.
    pub fn of(&self, figure: Figure) -> Option<Percent> {
        match figure {
            Figure::P50 => self.p50,
            Figure::P90 => self.p90,
            Figure::P95 => self.p95,
            Figure::P99 => self.p99,
            Figure::P99_9 => self.p99_9,
            Figure::P99_99 => self.p99_99,
            Figure::Max => self.max,
        }
    }
}

fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let text = String::deserialize(from)?;
    parse_rate(&text).map(|rate| Some(rate.per_s())).map_err(serde::de::Error::custom)
}

fn band<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Band>, D::Error> {
    let text = String::deserialize(from)?;
    parse_band(&text).map(Some).map_err(serde::de::Error::custom)
}
