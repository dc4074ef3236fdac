//! A contest: every contestant once a round, the order turned round each time, and the ratios within
//! the rounds. Drift that is slower than a round falls out of a ratio; a place in the order does not
//! favour anybody.

use std::fmt::Write as _;

use anyhow::{Context, Result};

use crate::figures::{Spread, judge};

/// What one run gave.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Of all workers.
    pub pairs_per_s: f64,
    /// Of the part that is compared, all workers pooled.
    pub p50_ns: f64,
    /// The same.
    pub p99_ns: f64,
}

/// One program with its arguments.
pub struct Contestant<'a> {
    /// In the table.
    pub name: &'a str,
    /// One run.
    pub run: Box<dyn Fn() -> Result<Figures> + 'a>,
}

/// What all rounds gave.
pub struct Contest {
    names: Vec<String>,
    /// By contestant, then by round.
    figures: Vec<Vec<Figures>>,
}

/// How a ratio is judged.
#[derive(Clone, Copy, Debug)]
pub enum Bar {
    /// Nothing was promised.
    None,
    /// The median is this or more.
    AtLeast(f64),
    /// The median is this or less.
    AtMost(f64),
    /// The median is within this share of 1.
    Within(f64),
}

/// A figure of a run by name.
pub type Pick = (&'static str, fn(&Figures) -> f64);

/// Pairs a second.
pub const RATE: Pick = ("pairs/s", |figures| figures.pairs_per_s);
/// Median.
pub const P50: Pick = ("p50", |figures| figures.p50_ns);
/// Tail.
pub const P99: Pick = ("p99", |figures| figures.p99_ns);

impl Bar {
    /// The promise and whether it was kept.
    pub fn judged(self, value: f64) -> String {
        match self {
            Bar::None => String::new(),
            Bar::AtLeast(bar) => format!("at least {bar}: {}", judge(value >= bar)),
            Bar::AtMost(bar) => format!("at most {bar}: {}", judge(value <= bar)),
            Bar::Within(share) => {
                let kept = (value - 1.0).abs() <= share;
                format!("within {:.0} %: {}", share * 100.0, judge(kept))
            }
        }
    }
}

/// Who comes when: every second round is turned round.
pub fn order(round: usize, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

/// Runs all rounds, and prints what each contestant reached.
pub fn hold(title: &str, contestants: &[Contestant], rounds: usize) -> Result<Contest> {
    let mut figures = vec![Vec::new(); contestants.len()];
    for round in 0..rounds {
        for which in order(round, contestants.len()) {
            let Contestant { name, run } = &contestants[which];
            figures[which].push(run().with_context(|| format!("{title}: {name}"))?);
        }
    }
    let names = contestants.iter().map(|contestant| contestant.name.to_owned()).collect();
    let contest = Contest { names, figures };
    println!("\n{title}, {rounds} rounds, median [quartiles]\n{}", contest.table());
    Ok(contest)
}

impl Contest {
    fn table(&self) -> String {
        let mut table = String::new();
        for (name, runs) in self.names.iter().zip(&self.figures) {
            let spread = |pick: Pick, unit: f64| Spread::of(runs.iter().map(|f| pick.1(f) / unit));
            let (rate, p50, p99) = (spread(RATE, 1.0), spread(P50, 1e3), spread(P99, 1e3));
            // A String takes whatever is written.
            let _ = writeln!(table, "  {name:<34} {rate:.0} /s  p50 {p50:.2} us  p99 {p99:.2} us");
        }
        table.trim_end().to_owned()
    }

    /// Prints the ratio of two contestants, `a` to `b`, judged by `bar`.
    pub fn compare(&self, a: usize, b: usize, pick: Pick, bar: Bar) {
        let rounds = self.figures[a].iter().zip(&self.figures[b]);
        let ratio = Spread::of(rounds.map(|(a, b)| pick.1(a) / pick.1(b)));
        let what = format!("{} {} / {}", pick.0, self.names[a], self.names[b]);
        println!("  {what:<58} {ratio}  {}", bar.judged(ratio.median));
    }
}
