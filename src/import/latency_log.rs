//! Log lines that each name a duration: `sync duration: 55.9ms size: 2523`.

use synctail_bench::Distribution;

use super::{Import, Measurement, single};
use crate::quantity::parse_printed_ns;
use crate::record::{Figures, SourcePart};

/// Words of logs that keep only what was slow.
const CENSORED: [&str; 6] = ["abnormal", "slow", "too long", "exceed", "took longer", "expected"];

/// Nothing where hardly any line has `duration`, `took` or `latency` with a time behind it.
pub fn read(text: &str) -> Option<Result<Import, String>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let (all, mut times) = lines.fold((0, Vec::new()), |(all, mut times), line| {
        times.extend(duration(line));
        (all + 1, times)
    });
    if times.len() * 2 < all || all == 0 {
        return None;
    }
    let flush = Figures::of(&Distribution::of(&mut times)?);
    let lower = text.to_ascii_lowercase();
    let censored = CENSORED.iter().find(|word| lower.contains(**word));
    let unjudged = censored.map(|word| {
        format!(
            "the log keeps only slow operations (\"{word}\"): no percentile of all of them is known"
        )
    });
    let part = SourcePart { name: None, flush: shown(flush, unjudged.is_some()) };
    Some(single(
        "latency-log",
        Measurement { parts: vec![part], unjudged, ..Measurement::default() },
    ))
}

/// Of a censored log only the extremes mean what they say.
fn shown(flush: Figures, censored: bool) -> Figures {
    if !censored {
        return flush;
    }
    let Figures { count, min_ns, max_ns, .. } = flush;
    Figures { count, min_ns, max_ns, ..Figures::default() }
}

fn duration(line: &str) -> Option<u64> {
    let lower = line.to_ascii_lowercase();
    let at = ["duration", "took", "latency", "elapsed"]
        .iter()
        .find_map(|w| Some(lower.find(w)? + w.len()))?;
    let rest = line.get(at..)?.trim_start_matches([':', '=', ' ', '"']);
    let end = rest.find(|c: char| c.is_whitespace() || c == ',' || c == '"').unwrap_or(rest.len());
    parse_printed_ns(&rest[..end])
}
