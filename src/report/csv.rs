//! Records as CSV: one row a sample, or one a percentile where samples were not saved.

use super::fleet::Member;
use crate::record::{Parts, Record, WorkerSamples};

/// A header and rows; of several records with the name of each in front.
pub fn render(members: &[Member]) -> String {
    let several = members.len() > 1;
    let sampled = members.iter().all(|member| member.record.samples.is_some());
    let columns = if sampled {
        "worker,intended_ns,start_ns,write_ns,barrier_ns,total_ns"
    } else {
        "part,figure,ns"
    };
    let mut text = format!("{}{columns}\n", if several { "record," } else { "" });
    for member in members {
        let name = if several { format!("{},", quoted(&member.name)) } else { String::new() };
        for row in if sampled { samples(&member.record) } else { figures(&member.record) } {
            text.push_str(&format!("{name}{row}\n"));
        }
    }
    text
}

/// A cell that may hold commas, quotes and line breaks (RFC 4180).
fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

fn samples(record: &Record) -> Vec<String> {
    let workers = record.samples.iter().flat_map(|samples| &samples.workers);
    workers.flat_map(worker_rows).collect()
}

/// A column that the arm or a closed loop lacks is empty.
fn worker_rows(worker: &WorkerSamples) -> Vec<String> {
    let cell = |column: &Option<Vec<u64>>, i: usize| {
        let value = column.as_ref().and_then(|column| column.get(i));
        value.map_or(String::new(), u64::to_string)
    };
    let row = |(i, total): (usize, &u64)| {
        let start = worker.start_ns.get(i).map_or(String::new(), u64::to_string);
        let (intended, write, barrier) =
            (cell(&worker.intended_ns, i), cell(&worker.write_ns, i), cell(&worker.barrier_ns, i));
        format!("{},{intended},{start},{write},{barrier},{total}", worker.worker)
    };
    worker.total_ns.iter().enumerate().map(row).collect()
}

fn figures(record: &Record) -> Vec<String> {
    let Some(distributions) = &record.distributions else { return Vec::new() };
    let rows = parts(&distributions.pooled).into_iter().flat_map(|(part, d)| {
        let figures = [
            ("min", Some(d.min_ns)),
            ("p50", d.p50_ns),
            ("p90", d.p90_ns),
            ("p95", d.p95_ns),
            ("p99", d.p99_ns),
            ("p99.9", d.p99_9_ns),
            ("p99.99", d.p99_99_ns),
            ("max", Some(d.max_ns)),
        ];
        figures.map(|(name, ns)| ns.map(|ns| format!("{part},{name},{ns}")))
    });
    rows.flatten().collect()
}

/// The parts that were timed, by name.
pub fn parts(parts: &Parts) -> Vec<(&'static str, &synctail_bench::Distribution)> {
    let all = [("write", parts.write.as_ref()), ("barrier", parts.barrier.as_ref())];
    let known = all.into_iter().filter_map(|(name, part)| Some((name, part?)));
    known.chain([("total", &parts.total)]).collect()
}
