//! What every bench prints and asks: a median with its spread, and whether this is only a trial.

use std::fmt;

/// Median and quartiles of one figure over all rounds.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The middle value.
    pub median: f64,
    low: f64,
    high: f64,
}

impl Spread {
    /// Of at least one value.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Spread {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let last = values.len().saturating_sub(1);
            values.get((last as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
        };
        Spread { median: at(0.5), low: at(0.25), high: at(0.75) }
    }
}

/// `median [quartile-quartile]`, with three decimals unless asked otherwise.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(3);
        let Spread { median, low, high } = self;
        write!(f, "{median:.digits$} [{low:.digits$}-{high:.digits$}]")
    }
}

/// Whether this run shows only that the bench works: under `-- --test`, and when `cargo test` runs it,
/// which unlike `cargo bench` does not say `--bench`.
pub fn is_trial() -> bool {
    let given = |name: &str| std::env::args().any(|arg| arg == name);
    given("--test") || !given("--bench")
}

/// `met` or `MISSED`, or nothing where a trial's figure means nothing.
#[allow(dead_code, reason = "not every bench has a bar")]
pub fn judge(met: bool) -> &'static str {
    match (is_trial(), met) {
        (true, _) => "(trial)",
        (_, true) => "met",
        (_, false) => "MISSED",
    }
}
