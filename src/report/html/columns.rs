//! Samples thinned to columns of time: the extremes of each column stay.

use crate::report::lanes::Lane;

/// The least and the greatest latency of each column of `count`, over 0 to `end_ns`; nothing where a
/// column has no sample.
pub fn extremes(lanes: &[Lane], end_ns: u64, count: usize) -> Vec<Option<(u64, u64)>> {
    let mut columns = vec![None; count];
    for (at, ns) in lanes.iter().flat_map(Lane::iter) {
        let column = &mut columns[column(at, end_ns, count)];
        let (low, high) = column.unwrap_or((ns, ns));
        *column = Some((low.min(ns), high.max(ns)));
    }
    columns
}

/// The column that a moment lies in.
pub fn column(at_ns: u64, end_ns: u64, count: usize) -> usize {
    let column = u128::from(at_ns) * count as u128 / u128::from(end_ns.max(1));
    (column as usize).min(count - 1)
}

/// The slowest samples of all lanes, slowest first: worker, moment, latency.
pub fn slowest(lanes: &[Lane], most: usize) -> Vec<(u64, u64, u64)> {
    let mut kept: Vec<(u64, u64, u64)> = Vec::with_capacity(2 * most + 1);
    let mut bar = 0;
    for lane in lanes {
        for (at, ns) in lane.iter().filter(|&(_, ns)| ns > 0) {
            if ns <= bar {
                continue;
            }
            kept.push((lane.worker, at, ns));
            if kept.len() > 2 * most {
                shorten(&mut kept, most);
                bar = kept.last().map_or(0, |last| last.2);
            }
        }
    }
    shorten(&mut kept, most);
    kept
}

fn shorten(kept: &mut Vec<(u64, u64, u64)>, most: usize) {
    kept.sort_by_key(|&(worker, at, ns)| (std::cmp::Reverse(ns), at, worker));
    kept.truncate(most);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_of_many_are_found_and_the_extremes_of_each_column_stay() {
        let mut random = fastrand::Rng::with_seed(7);
        let ns: Vec<u64> = (0..50_000).map(|_| random.u64(1_000..1_000_000)).collect();
        let at_ns: Vec<u64> = (0..50_000).map(|i| i * 1_000_000).collect();
        let lane = Lane { worker: 3, at_ns: &at_ns, ns: &ns };
        let mut sorted = ns.clone();
        sorted.sort_by_key(|&ns| std::cmp::Reverse(ns));
        let found: Vec<u64> = slowest(&[lane], 100).iter().map(|sample| sample.2).collect();
        assert_eq!(found, sorted[..100]);
        let columns = extremes(&[lane], 50_000_000_000, 400);
        let high = columns.iter().flatten().map(|column| column.1).max();
        let low = columns.iter().flatten().map(|column| column.0).min();
        assert_eq!((low, high), (ns.iter().copied().min(), ns.iter().copied().max()));
        assert!(columns.iter().all(Option::is_some));
    }
}
