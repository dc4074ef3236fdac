//! fio's text for people: the block `fsync/fdatasync/sync_file_range`, units on each line; also as mail
//! quotes and wiki pages leave it.

use super::fio_json::is_async;
use super::{Import, Measurement, single};
use crate::quantity::TimeUnit;
use crate::record::{Figures, SourcePart};

/// Nothing where there is no such block.
pub fn read(text: &str) -> Option<Result<Import, String>> {
    if !text.contains("sync percentiles (") && !text.contains("fsync/fdatasync/sync_file_range:") {
        return None;
    }
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.line(line.trim_start_matches(['>', ' ', '\t']));
    }
    Some(reader.finish())
}

#[derive(Default)]
struct Reader {
    measurement: Measurement,
    name: Option<String>,
    part: Option<Figures>,
    /// Unit of the percentiles that follow; nothing outside of a flush's block.
    percentiles: Option<TimeUnit>,
    /// The slowest completion of a write, which submits behind the flush of an asynchronous engine.
    queued: bool,
    failed: Option<String>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if let Some((name, rest)) = line.split_once(": (groupid=") {
            self.end_part();
            self.name = Some(name.to_owned());
            let error = rest.split_once("err=").map(|(_, rest)| rest.trim_start());
            let code = error.and_then(|rest| rest.split([':', ' ', '(']).next());
            if code.is_some_and(|code| code != "0") {
                self.failed =
                    Some(format!("fio's job {name} failed: err={}", error.unwrap_or("?")));
            }
        }
        let engine = line.split_once("ioengine=").map(|(_, rest)| rest);
        self.queued |= engine.is_some_and(is_async) || line.starts_with("slat (");
        if let Some(rest) = line.strip_prefix("sync (") {
            self.range(rest);
        } else if let Some(rest) = line.strip_prefix("sync percentiles (") {
            self.percentiles = rest.split(')').next().and_then(TimeUnit::named);
        } else if line.starts_with('|') && self.percentiles.is_some() {
            self.ranks(line);
        } else if let Some((_, counts)) = line.split_once("issued rwts: total=") {
            self.count(counts);
        } else {
            self.percentiles = None;
        }
    }

    /// `usec): min=399, max=5729.7k, avg=16924.38, stdev=135471.87`
    fn range(&mut self, rest: &str) {
        let Some((unit, values)) = rest.split_once(')') else { return };
        let Some(unit) = TimeUnit::named(unit) else { return };
        let value = |key: &str| {
            let (_, after) = values.split_once(key)?;
            unit.parse(after.split(',').next()?)
        };
        let part = self.part.get_or_insert_default();
        part.min_ns = value("min=");
        part.max_ns = value("max=");
        part.mean_ns = value("avg=").map(|ns| ns as f64);
    }

    /// `| 99.00th=[ 5145], 99.50th=[ 5997]`
    fn ranks(&mut self, line: &str) {
        let Some(unit) = self.percentiles else { return };
        let part = self.part.get_or_insert_default();
        for entry in line.split(']') {
            let entry = entry.trim_matches(['|', ',', ' ']);
            let Some((rank, value)) = entry.split_once("th=[") else { continue };
            if let (Ok(rank), Some(ns)) = (rank.trim().parse(), unit.parse(value)) {
                part.set_percentile(rank, ns);
            }
        }
    }

    /// `0,10029,0,0 short=10029,0,0,0`: reads, writes, trims, flushes. Several versions leave the last at 0
    /// and show the flushes as short reads.
    fn count(&mut self, counts: &str) {
        let fourth = counts.split([',', ' ']).nth(3).and_then(|text| text.parse().ok());
        let short = counts.split_once("short=").and_then(|(_, rest)| rest.split(',').next());
        let short = short.and_then(|text| text.parse().ok());
        let count = fourth.filter(|&count: &u64| count > 0).or(short);
        if let Some(part) = &mut self.part {
            part.count = count.filter(|&count| count > 0);
        }
    }

    fn end_part(&mut self) {
        self.percentiles = None;
        if let Some(flush) = self.part.take() {
            self.measurement.parts.push(SourcePart { name: self.name.take(), flush });
        }
    }

    fn finish(mut self) -> Result<Import, String> {
        self.end_part();
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        let read_nothing = |part: &SourcePart| part.flush == Figures::default();
        if self.measurement.parts.iter().all(read_nothing) {
            return Err("fio's block of flushes has no figures".to_owned());
        }
        let fastest = self.measurement.parts.iter().filter_map(|part| part.flush.p99_ns).min();
        if self.queued && fastest.is_some_and(|ns| ns < super::SUBMISSION_BELOW_NS) {
            self.measurement.unjudged = Some(
                "implausible: fio's asynchronous engine timed the submission of the flush, not the flush"
                    .to_owned(),
            );
        }
        single("fio-text", self.measurement)
    }
}
