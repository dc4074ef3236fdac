//! Write, barrier and total: the exact figures of each, and who has the time, of all pairs and of the tail.

use synctail_bench::Distribution;

use super::markup::Markup;
use crate::human;
use crate::record::{Distributions, Parts, Record};

/// The table of the parts, and the shares where the arm times both.
pub fn draw(record: &Record) -> Markup {
    let mut out = Markup::default();
    let Some(all) = &record.distributions else { return out };
    out.tags("<figure><figcaption>Write, barrier, total</figcaption>");
    if let (Some(write), Some(barrier)) = (&all.pooled.write, &all.pooled.barrier) {
        let shares = (write.mean_ns, barrier.mean_ns);
        out.put(&bar("all pairs", shares));
        if let Some(tail) = tail(record) {
            out.put(&bar("the slowest 1 %", tail));
        }
        out.tags("<p class=\"legend\"><span class=\"key s1\"></span>write ");
        out.tags("<span class=\"key s0\"></span>barrier</p>");
    }
    out.put(&table(all)).tags("</figure>\n");
    out
}

/// How the time of some pairs is divided.
fn bar(name: &'static str, (write, barrier): (f64, f64)) -> Markup {
    let mut out = Markup::default();
    let share = write / (write + barrier).max(f64::MIN_POSITIVE);
    out.tags("<div class=\"share\"><span>").tags(name).tags(": write ");
    out.text(&human::share(share)).tags(", barrier ").text(&human::share(1.0 - share));
    out.tags("</span><svg class=\"share\" aria-hidden=\"true\"><rect class=\"s0\" width=\"100%\" ");
    out.tags("height=\"100%\"/><rect class=\"s1\" width=\"").number(share * 100.0);
    out.tags("%\" height=\"100%\"/></svg></div>");
    out
}

/// Sums of write and barrier of the pairs at and beyond the p99 of the total.
fn tail(record: &Record) -> Option<(f64, f64)> {
    let least = record.distributions.as_ref()?.pooled.total.p99_ns?;
    let workers = &record.samples.as_ref()?.workers;
    let mut sums = (0.0, 0.0);
    for worker in workers {
        let (write, barrier) = (worker.write_ns.as_ref()?, worker.barrier_ns.as_ref()?);
        let pairs = worker.total_ns.iter().zip(write.iter().zip(barrier));
        for (_, (&write, &barrier)) in pairs.filter(|(total, _)| **total >= least) {
            sums = (sums.0 + write as f64, sums.1 + barrier as f64);
        }
    }
    (sums.0 + sums.1 > 0.0).then_some(sums)
}

/// Every part of the pool, then every worker's total.
fn table(all: &Distributions) -> Markup {
    let mut out = Markup::default();
    out.tags("<div class=\"wide\"><table class=\"figures\"><thead><tr><th>part</th><th>pairs</th>");
    out.tags("<th>min</th><th>mean</th><th>p50</th><th>p90</th><th>p95</th><th>p99</th>");
    out.tags("<th>p99.9</th><th>p99.99</th><th>max</th></tr></thead><tbody>");
    let Parts { write, barrier, total, service, late } = &all.pooled;
    let rows = [("write", write.as_ref()), ("barrier", barrier.as_ref()), ("total", Some(total))];
    let open = [("service", service.as_ref()), ("late", late.as_ref())];
    for (name, figures) in rows.into_iter().chain(open) {
        if let Some(figures) = figures {
            out.put(&row(name, figures));
        }
    }
    out.tags("</tbody></table></div>");
    out
}

fn row(name: &'static str, figures: &Distribution) -> Markup {
    let mut out = Markup::default();
    out.tags("<tr><th>").tags(name).tags("</th><td>").text(&human::count(figures.count));
    let cells = [
        Some(figures.min_ns),
        Some(figures.mean_ns as u64),
        figures.p50_ns,
        figures.p90_ns,
        figures.p95_ns,
        figures.p99_ns,
        figures.p99_9_ns,
        figures.p99_99_ns,
        Some(figures.max_ns),
    ];
    for ns in cells {
        out.tags("</td><td>").text(&ns.map_or_else(|| "-".to_owned(), human::time));
    }
    out.tags("</td></tr>");
    out
}
