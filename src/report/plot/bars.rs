//! The histogram in text: one line for each range of latency, the count beside it.

use super::paint::Paint;
use super::shape::Shape;
use crate::human;

/// Ranges in a decade, from fine to coarse, as hundredths of its beginning.
const STEPS: [&[u64]; 4] = [
    &[100, 125, 160, 200, 250, 315, 400, 500, 630, 800],
    &[100, 160, 250, 400, 630],
    &[100, 200, 500],
    &[100],
];
/// Lines up to which finer ranges are taken.
const ROWS: usize = 16;
/// Characters of the longest bar.
const COLUMNS: u64 = 50;
/// A bar ends with one of these.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Of `shape`, of which `below` counts.
pub fn draw(shape: &Shape, below: &dyn Fn(u64) -> u64, ascii: bool, paint: &Paint) -> String {
    let ranges = ranges(shape, below);
    let most = ranges.iter().map(|range| range.1).max().unwrap_or(1).max(1);
    let wall = if ascii { '|' } else { '│' };
    let mut text = String::new();
    for (from, count) in ranges {
        let bar = paint.at(from, &bar(count, most, ascii));
        let space = if bar.is_empty() { "" } else { " " };
        text.push_str(&format!("  {:>7} {wall}{bar}{space}{count}\n", human::time(from)));
    }
    text
}

/// The beginning of each range and the samples in it, from the first to the last that has any: as fine
/// as there are lines for.
fn ranges(shape: &Shape, below: &dyn Fn(u64) -> u64) -> Vec<(u64, u64)> {
    let mut edges = STEPS.iter().map(|steps| edges(shape.range_ns, steps));
    let edges = edges.find(|edges| edges.len() <= ROWS);
    let edges = edges.unwrap_or_else(|| self::edges(shape.range_ns, STEPS[3]));
    let next = |i: usize| edges.get(i + 1).map_or(shape.count, |&edge| below(edge));
    let counted = edges.iter().enumerate().map(|(i, &edge)| (edge, next(i) - below(edge)));
    counted.collect()
}

/// Beginnings of the ranges that `low` to `high` lie in, ascending.
fn edges((low, high): (u64, u64), steps: &[u64]) -> Vec<u64> {
    let decades = (0..20).filter_map(|power| 10u64.checked_pow(power));
    let within = decades.flat_map(|decade| {
        steps.iter().filter_map(move |step| Some(decade.checked_mul(*step)? / 100))
    });
    let mut edges: Vec<u64> = [0].into_iter().chain(within).filter(|&edge| edge <= high).collect();
    edges.sort_unstable();
    edges.dedup();
    let first = edges.partition_point(|&edge| edge <= low) - 1;
    edges.split_off(first)
}

/// A single pair is a bar that is seen.
fn bar(count: u64, most: u64, ascii: bool) -> String {
    let eighths = (u128::from(count) * u128::from(COLUMNS * 8)).div_ceil(u128::from(most)) as usize;
    if ascii {
        return "#".repeat(eighths.div_ceil(8));
    }
    let (whole, rest) = (eighths / 8, eighths % 8);
    let mut bar = "█".repeat(whole);
    bar.extend((rest > 0).then(|| EIGHTHS[rest - 1]));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;

    fn counted(sorted: &[u64]) -> Vec<(u64, u64)> {
        let shape = Shape::of_samples(sorted).unwrap();
        ranges(&shape, shape.below.as_ref().unwrap())
    }

    #[test]
    fn every_sample_is_counted_once_in_its_range() {
        let sorted: Vec<u64> = (0..3_000u64).map(|i| i * i).collect();
        let ranges = counted(&sorted);
        assert_eq!(ranges.iter().map(|range| range.1).sum::<u64>(), 3_000);
        assert!(ranges.is_sorted_by_key(|range| range.0));
        assert_eq!(counted(&[u64::MAX; 2])[0].1, 2);
    }

    #[test]
    fn bars_are_as_long_as_their_counts() {
        let policy = Policy::default();
        let mut sorted = vec![250_000; 100];
        sorted.extend(vec![320_000; 50]);
        sorted.push(1_000_000);
        let paint = Paint { colour: false, policy: &policy };
        let shape = Shape::of_samples(&sorted).unwrap();
        let text = draw(&shape, shape.below.as_ref().unwrap(), true, &paint);
        let expected = format!(
            "    250us |{} 100\n    315us |{} 50\n    400us |0\n    500us |0\n    630us |0\n    800us |0\n   1.00ms |# 1\n",
            "#".repeat(50),
            "#".repeat(25)
        );
        assert_eq!(text, expected);
    }
}
