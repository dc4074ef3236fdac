//! Samples as HdrHistogram V2 log and as percentile distribution (`.hgrm`), both of nanoseconds.

use std::fmt::Write;
use std::time::{Duration, UNIX_EPOCH};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use crate::record::{Record, WorkerSamples};

/// Values are kept to a thousandth; 1 ns to an hour.
const DIGITS: u8 = 3;
const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Steps of a percentile distribution in each halving of the distance to 100 %.
const TICKS: u32 = 5;

/// A log with one interval for each part that was timed, tagged with its name; nothing where the samples
/// of a record were not saved.
pub fn log(records: &[&Record]) -> Option<String> {
    let mut bytes = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let wall = records.iter().filter_map(|record| record.wall_ns).max().unwrap_or(0);
    let mut builder = IntervalLogWriterBuilder::new();
    builder.add_comment("[Histogram log format version 1.3]");
    builder.add_comment("synctail: nanoseconds").with_start_time(UNIX_EPOCH);
    builder.with_base_time(UNIX_EPOCH);
    let mut writer = builder.begin_log_with(&mut bytes, &mut serializer).ok()?;
    for part in ["write", "barrier", "total"] {
        let Some(histogram) = histogram(records, part)? else { continue };
        let (start, wall) = (Duration::ZERO, Duration::from_nanos(wall));
        writer.write_histogram(&histogram, start, wall, Tag::new(part)).ok()?;
    }
    String::from_utf8(bytes).ok()
}

/// The percentile distribution of the barrier, or of the total where there is none.
pub fn hgrm(records: &[&Record]) -> Option<String> {
    let histogram = match histogram(records, "barrier")? {
        Some(barrier) => barrier,
        None => histogram(records, "total")??,
    };
    let mut text = format!(
        "{:>12} {:>14} {:>10} {:>14}\n\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    );
    for step in histogram.iter_quantiles(TICKS) {
        let (value, quantile) = (step.value_iterated_to(), step.quantile_iterated_to());
        let value = value.min(histogram.max());
        let count = histogram.count_between(0, value);
        let inverse =
            if quantile < 1.0 { format!("{:14.2}", 1.0 / (1.0 - quantile)) } else { String::new() };
        // Writing to memory cannot fail.
        let _ = writeln!(text, "{value:12.3} {quantile:14.12} {count:10} {inverse}");
    }
    let (mean, deviation) = (histogram.mean(), histogram.stdev());
    let _ = writeln!(text, "#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]");
    let (max, count) = (histogram.max(), histogram.len());
    let _ = writeln!(text, "#[Max     = {max:12}, Total count    = {count:12}]");
    let (buckets, sub) = (histogram.buckets(), histogram.distinct_values());
    let _ = writeln!(text, "#[Buckets = {buckets:12}, SubBuckets     = {sub:12}]");
    Some(text)
}

/// All samples of `part` merged: nothing without samples, an inner nothing where no arm timed the part.
fn histogram(records: &[&Record], part: &str) -> Option<Option<Histogram<u64>>> {
    let mut all = Histogram::<u64>::new_with_bounds(1, HIGHEST_NS, DIGITS).ok()?;
    for record in records {
        for worker in &record.samples.as_ref()?.workers {
            for &ns in column(worker, part) {
                all.saturating_record(ns.max(1));
            }
        }
    }
    Some(Some(all).filter(|all| !all.is_empty()))
}

fn column<'a>(worker: &'a WorkerSamples, part: &str) -> &'a [u64] {
    match part {
        "write" => worker.write_ns.as_deref().unwrap_or_default(),
        "barrier" => worker.barrier_ns.as_deref().unwrap_or_default(),
        _ => &worker.total_ns,
    }
}
