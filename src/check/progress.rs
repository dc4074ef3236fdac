//! What a person sees while a run goes on: only on a terminal, and only after two seconds.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use synctail_bench::Length;

use super::session::Session;
use crate::human;

const QUIET_TIME: Duration = Duration::from_secs(2);
const REFRESH_INTERVAL: Duration = Duration::from_millis(250);
/// From when on an operation in flight is called stalled.
const STALL_NS: u64 = 1_000_000_000;

/// Whether anybody watches.
#[derive(Clone, Copy, Debug)]
pub struct Watching(bool);

impl Watching {
    /// A terminal on standard error, unless quiet was asked for.
    pub fn wanted(quiet: bool) -> Watching {
        Watching(!quiet && std::io::stderr().is_terminal())
    }

    /// Begins.
    pub fn start(self, session: &Session) -> Progress {
        let workers = session.board.size().workers as usize;
        Progress {
            watched: self.0,
            began: Instant::now(),
            last: None,
            bar: None,
            live: Live::new(workers),
        }
    }
}

/// The line on the terminal.
#[derive(Debug)]
pub struct Progress {
    watched: bool,
    began: Instant,
    last: Option<Instant>,
    bar: Option<ProgressBar>,
    live: Live,
}

impl Progress {
    /// Draws the line if it is time to.
    pub fn show(&mut self, session: &Session) {
        let now = Instant::now();
        let recent = self.last.is_some_and(|last| now - last < REFRESH_INTERVAL);
        if !self.watched || recent || now - self.began < QUIET_TIME {
            return;
        }
        self.last = Some(now);
        self.live.take(session);
        let bar = self.bar.get_or_insert_with(new_bar);
        bar.set_message(line(session, &self.live));
        bar.tick();
    }

    /// Leaves a clean line behind.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    ProgressStyle::with_template("{wide_msg}")
        .map(|style| bar.with_style(style))
        .unwrap_or_else(|_| ProgressBar::hidden())
}

fn line(session: &Session, live: &Live) -> String {
    let pairs = session.board.pairs();
    let done = match session.request.length {
        Length::Iterations(each) => {
            let all = each.saturating_mul(session.board.size().workers);
            format!("{pairs} of {all} pairs")
        }
        Length::DurationNs(ns) => format!("{pairs} pairs of {}", human::time(ns)),
    };
    let figures = live.figures();
    let now = session.clock.clock.ticks();
    let scale = session.clock.scale();
    let oldest =
        session.board.pending().iter().map(|p| scale.ns(now.saturating_sub(p.since_tick))).max();
    let stalled =
        oldest.filter(|&ns| ns >= STALL_NS).map(|ns| format!("  stalled {} s", ns / STALL_NS));
    format!("{done}{figures}{}", stalled.unwrap_or_default())
}

/// Counts one latency. A histogram of this kind grows with its values; only what does not fit 64 bits
/// of buckets is refused, and then the maximum alone has it.
fn record(histogram: &mut Option<Histogram<u64>>, max_ns: &mut u64, ns: u64) {
    *max_ns = (*max_ns).max(ns);
    if let Some(histogram) = histogram {
        let _ = histogram.record(ns);
    }
}

/// A live estimate of the tail; the result is ranked exactly, from the samples themselves.
#[derive(Debug)]
struct Live {
    seen: Vec<usize>,
    histogram: Option<Histogram<u64>>,
    max_ns: u64,
}

impl Live {
    fn new(workers: usize) -> Live {
        Live { seen: vec![0; workers], histogram: Histogram::new(3).ok(), max_ns: 0 }
    }

    fn take(&mut self, session: &Session) {
        let scale = session.clock.scale();
        let schedule = session.board.schedule();
        for (worker, seen) in self.seen.iter_mut().enumerate() {
            let worker = worker as u64;
            for sample in session.board.samples(worker).skip(*seen) {
                // Chains may complete in another order than they were due in: near enough for a look.
                let intended = schedule.map(|s| s.intended_tick(worker, *seen as u64));
                let start = intended.unwrap_or(sample.start).min(sample.start);
                *seen += 1;
                record(&mut self.histogram, &mut self.max_ns, scale.ns(sample.end - start));
            }
        }
    }

    fn figures(&self) -> String {
        match &self.histogram {
            Some(histogram) if !histogram.is_empty() => {
                let p99 = human::time(histogram.value_at_quantile(0.99));
                format!("  p99 about {p99}  max {}", human::time(self.max_ns))
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_live_tail_is_that_of_what_was_counted() {
        let mut live = Live::new(1);
        assert_eq!(live.figures(), "");
        for us in 1..=1_000 {
            record(&mut live.histogram, &mut live.max_ns, us * 1_000);
        }
        record(&mut live.histogram, &mut live.max_ns, 90_000_000_000);
        let text = live.figures();
        assert!(text.starts_with("  p99 about 99"), "{text}");
        assert!(text.ends_with("us  max 90.0s"), "{text}");
    }
}
