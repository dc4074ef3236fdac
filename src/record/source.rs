//! Where a record was read from, and the figures of a result that another tool measured.

use serde::{Deserialize, Serialize};
use synctail_bench::{Distribution, Percentile};

/// The file that a judged record came from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// As typed; lossy where it is not UTF-8.
    pub file: String,
    /// Such as `fio-json`; the schema's name for a record of our own.
    pub format: String,
    /// Which of several results in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What was read: one entry for each job, series or row that was measured at the same time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<SourcePart>,
    /// Why the figures do not allow a verdict, as far as the file itself shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<String>,
}

/// One job, series or row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourcePart {
    /// Its name in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The latencies of its flushes.
    pub flush: Figures,
}

/// What a file says of a distribution; what it does not say is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Smallest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_ns: Option<u64>,
    /// Arithmetic mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
    /// Median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// 90th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90_ns: Option<u64>,
    /// 95th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_ns: Option<u64>,
    /// 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<u64>,
    /// 99.9th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_9_ns: Option<u64>,
    /// 99.99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_99_ns: Option<u64>,
    /// Largest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<u64>,
    /// Where the file has buckets only: p99 is above the first and at most the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_within_ns: Option<[u64; 2]>,
}

impl Figures {
    /// The figures of exact samples.
    pub fn of(d: &Distribution) -> Figures {
        Figures {
            count: Some(d.count),
            min_ns: Some(d.min_ns),
            mean_ns: Some(d.mean_ns),
            p50_ns: d.p50_ns,
            p90_ns: d.p90_ns,
            p95_ns: d.p95_ns,
            p99_ns: d.p99_ns,
            p99_9_ns: d.p99_9_ns,
            p99_99_ns: d.p99_99_ns,
            max_ns: Some(d.max_ns),
            p99_within_ns: None,
        }
    }

    /// Sets the percentile `percent` (such as 99.9) where a record has one of that rank.
    pub fn set_percentile(&mut self, percent: f64, ns: u64) {
        if let Some((_, slot)) =
            self.percentiles().into_iter().find(|(p, _)| (as_percent(*p) - percent).abs() < 1e-6)
        {
            *slot = Some(ns);
        }
    }

    /// No percentile above the maximum (bucketed histograms print a bucket's upper end), none that the
    /// samples do not carry.
    #[must_use]
    pub fn carried(mut self) -> Figures {
        let (count, max) = (self.count, self.max_ns);
        for (percentile, slot) in self.percentiles() {
            let carried = count.is_none_or(|count| count >= percentile.samples_needed());
            *slot = slot.filter(|_| carried).map(|ns| max.map_or(ns, |max| ns.min(max)));
        }
        self
    }

    /// As a record's distribution; nothing where the file leaves out what every one of these has.
    pub fn distribution(&self) -> Option<Distribution> {
        let mut all = self.clone();
        let absent = all.percentiles().into_iter().filter(|(_, slot)| slot.is_none());
        let too_few_samples = absent.map(|(percentile, _)| percentile.key.to_owned()).collect();
        Some(Distribution {
            count: self.count?,
            min_ns: self.min_ns?,
            mean_ns: self.mean_ns?,
            p50_ns: self.p50_ns,
            p90_ns: self.p90_ns,
            p95_ns: self.p95_ns,
            p99_ns: self.p99_ns,
            p99_9_ns: self.p99_9_ns,
            p99_99_ns: self.p99_99_ns,
            max_ns: self.max_ns?,
            p99_interval_ns: None,
            too_few_samples,
        })
    }

    /// Each percentile of a record with its place here.
    fn percentiles(&mut self) -> [(Percentile, &mut Option<u64>); 6] {
        [
            (Percentile::P50, &mut self.p50_ns),
            (Percentile::P90, &mut self.p90_ns),
            (Percentile::P95, &mut self.p95_ns),
            (Percentile::P99, &mut self.p99_ns),
            (Percentile::P99_9, &mut self.p99_9_ns),
            (Percentile::P99_99, &mut self.p99_99_ns),
        ]
    }
}

fn as_percent(percentile: Percentile) -> f64 {
    percentile.numerator as f64 * 100.0 / percentile.denominator as f64
}
