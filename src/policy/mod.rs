//! Policies: what a record is held against, and the plan that measures it.
//!
//! A policy names its band edges, what each band means for the service in question, and the line
//! that decides pass or fail. Two are built in; a user's own comes from a TOML file (docs/policy.md).

mod builtin;
mod file;
#[cfg(test)]
mod properties;
mod reader;

pub use reader::PolicyError;

use synctail_bench::{Arm, Layout};

use crate::record::{Band, Metric};

/// The five bands, best first, with the name used in files, on the command line and in text.
const BANDS: [(Band, &str); 5] = [
    (Band::Ideal, "IDEAL"),
    (Band::Good, "GOOD"),
    (Band::Workable, "WORKABLE"),
    (Band::Marginal, "MARGINAL"),
    (Band::Broken, "BROKEN"),
];

/// Limits, their meaning, and defaults of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Stands in the record; never empty.
    pub name: String,
    /// Preferred part of the pair; an arm without a barrier of its own is judged on the total.
    pub metric: Metric,
    /// Upper edges of the first four bands, ascending, at least 1. An edge belongs to the worse band.
    pub edges_ns: [u64; 4],
    /// What each band means for the service, best first; never empty.
    pub sentences: [String; 5],
    /// The judged figure must be below this line, whatever its band.
    pub pass_below_ns: Option<u64>,
    /// This band and every worse one do not pass.
    pub fail_at: Band,
    /// What to measure where the command line does not say.
    pub plan: PlanDefaults,
    /// Which settings can be recommended.
    pub kind: Kind,
}

/// The service a policy speaks for, as far as recommendations go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// NATS JetStream: a `sync_interval` is recommended.
    Jetstream,
    /// Nothing is recommended.
    Generic,
}

/// Defaults of the plan that belong to a policy; flags win.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanDefaults {
    /// What is measured.
    pub arm: Option<Arm>,
    /// Bytes per write; within the limits of a plan.
    pub block_size_bytes: Option<u64>,
    /// How the file grows.
    pub layout: Option<Layout>,
    /// Pairs per worker, at least 1.
    pub iterations: Option<u64>,
    /// Threads; within the limits of a plan.
    pub workers: Option<u64>,
}

impl Policy {
    /// Names of the built-in policies, the default first.
    pub const NAMES: [&'static str; 2] = ["jetstream", "etcd"];

    /// The built-in policy of this name.
    pub fn named(name: &str) -> Option<Policy> {
        match name {
            "jetstream" => Some(builtin::jetstream()),
            "etcd" => Some(builtin::etcd()),
            _ => None,
        }
    }

    /// Reads a policy from the text of a TOML file; `file_name` is used in messages only.
    ///
    /// # Errors
    /// Where the text is not TOML, a key is unknown, missing or of the wrong type, or a value is out
    /// of its range: file, key and reason.
    pub fn from_toml(text: &str, file_name: &str) -> Result<Policy, PolicyError> {
        file::parse(text, file_name)
    }

    /// Where `ns` falls; an edge belongs to the worse band.
    pub fn band(&self, ns: u64) -> Band {
        let reached = self.edges_ns.iter().filter(|&&edge| ns >= edge).count();
        BANDS[reached].0
    }

    /// What `band` means for the service.
    pub fn sentence(&self, band: Band) -> &str {
        &self.sentences[band as usize]
    }
}

impl Default for Policy {
    fn default() -> Policy {
        builtin::jetstream()
    }
}

/// The band's name in text: `IDEAL`, `GOOD`, `WORKABLE`, `MARGINAL`, `BROKEN`.
pub fn band_name(band: Band) -> &'static str {
    BANDS[band as usize].1
}

/// The name of the band that comes after so many better ones; the last for more.
pub fn band_at(better: usize) -> &'static str {
    BANDS[better.min(BANDS.len() - 1)].1
}

/// The band of this name, in upper or lower case.
///
/// # Errors
/// Names the five bands.
pub fn parse_band(text: &str) -> Result<Band, String> {
    let found = BANDS.iter().find(|(_, name)| name.eq_ignore_ascii_case(text.trim()));
    found.map(|&(band, _)| band).ok_or_else(|| {
        let names = BANDS.map(|(_, name)| name.to_ascii_lowercase()).join(", ");
        format!("no such band: {text:?}; one of {names}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_belongs_to_the_worse_band_and_one_nanosecond_less_to_the_better() {
        let policy = Policy::default();
        let edges = [1_000_000, 5_000_000, 50_000_000, 1_000_000_000];
        assert_eq!(policy.edges_ns, edges);
        for (i, edge) in edges.into_iter().enumerate() {
            assert_eq!(policy.band(edge - 1), BANDS[i].0, "{edge}");
            assert_eq!(policy.band(edge), BANDS[i + 1].0, "{edge}");
        }
        assert_eq!(policy.band(0), Band::Ideal);
        assert_eq!(policy.band(u64::MAX), Band::Broken);
    }

    #[test]
    fn every_band_parses_back_from_its_name() {
        for (i, (band, name)) in BANDS.into_iter().enumerate() {
            assert_eq!(band as usize, i, "the table is indexed by the band");
            assert_eq!(band_name(band), name);
            assert_eq!(parse_band(name), Ok(band));
            assert_eq!(parse_band(&name.to_lowercase()), Ok(band));
        }
        let why = parse_band("fine").unwrap_err();
        assert!(why.contains("\"fine\"") && why.contains("workable"), "{why}");
    }

    #[test]
    fn only_the_listed_names_are_built_in() {
        for name in Policy::NAMES {
            assert_eq!(Policy::named(name).map(|p| p.name).as_deref(), Some(name));
        }
        assert_eq!(Policy::named("Etcd"), None);
        assert_eq!(Policy::named(""), None);
    }
}
