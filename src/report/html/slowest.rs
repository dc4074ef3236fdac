//! The slowest pairs, numbered as on the time line, with what they waited for where that is known.

use super::columns::slowest;
use super::markup::Markup;
use super::timeline::MARKED;
use crate::human;
use crate::record::{Record, TracedPair, WorkerSamples};
use crate::report::lanes::Lane;

/// A table of the pairs that the time line numbers.
pub fn table(record: &Record, lanes: &[Lane]) -> Markup {
    let mut out = Markup::default();
    out.tags(
        "<div class=\"wide\"><table class=\"figures\"><caption>The slowest, as numbered over time",
    );
    out.tags("</caption><thead><tr><th>no.</th><th>at</th><th>worker</th><th>write</th>");
    out.tags("<th>barrier</th><th>total</th>");
    let traced = record.trace.as_ref().map_or(&[][..], |trace| &trace.worst);
    if !traced.is_empty() {
        out.tags("<th>waited for</th>");
    }
    out.tags("</tr></thead><tbody>");
    for (i, (worker, at, ns)) in slowest(lanes, MARKED).into_iter().enumerate() {
        let Some(found) = find(record, worker, at, ns, lanes) else { continue };
        out.tags("<tr><th>").text(&(i + 1).to_string()).tags("</th><td>").text(&human::time(at));
        out.tags("</td><td>").text(&worker.to_string());
        for ns in [found.write_ns, found.barrier_ns, Some(found.total_ns)] {
            out.tags("</td><td>").text(&ns.map_or_else(|| "-".to_owned(), human::time));
        }
        if !traced.is_empty() {
            let cause = traced.iter().find(|t| t.worker == worker && t.start_ns == found.start_ns);
            out.tags("</td><td>").text(&cause.map_or_else(|| "-".to_owned(), waited));
        }
        out.tags("</td></tr>");
    }
    out.tags("</tbody></table></div>\n");
    out
}

/// A pair in all its parts.
struct Found {
    start_ns: u64,
    write_ns: Option<u64>,
    barrier_ns: Option<u64>,
    total_ns: u64,
}

fn find(record: &Record, worker: u64, at: u64, ns: u64, lanes: &[Lane]) -> Option<Found> {
    let lane = lanes.iter().find(|lane| lane.worker == worker)?;
    let i = lane.iter().position(|sample| sample == (at, ns))?;
    let workers = &record.samples.as_ref()?.workers;
    let WorkerSamples { start_ns, write_ns, barrier_ns, total_ns, .. } =
        workers.iter().find(|samples| samples.worker == worker)?;
    let of = |column: &Option<Vec<u64>>| column.as_ref()?.get(i).copied();
    Some(Found {
        start_ns: *start_ns.get(i)?,
        write_ns: of(write_ns),
        barrier_ns: of(barrier_ns),
        total_ns: *total_ns.get(i)?,
    })
}

fn waited(pair: &TracedPair) -> String {
    pair.waits.main().map_or_else(
        || "-".to_owned(),
        |(words, share)| format!("{words} ({})", human::share(share)),
    )
}
