//! How many workers a storage takes before its p99 leaves the band that it began in.

use super::document::{Axes, Cell, Knee};
use crate::record::Band;

/// One for each group of cells that differ in their workers alone.
pub fn knees(cells: &[Cell]) -> Vec<Knee> {
    let without = |axes: &Axes| Axes { workers: 0, ..axes.clone() };
    let mut groups: Vec<Axes> = Vec::new();
    for cell in cells {
        let group = without(&cell.axes);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let of = |group: &Axes| {
        let members = cells.iter().filter(|cell| without(&cell.axes) == *group);
        let mut bands: Vec<(u64, Band)> =
            members.filter_map(|cell| Some((cell.axes.workers, band(cell)?))).collect();
        bands.sort_unstable_by_key(|&(workers, _)| workers);
        // A table may show one cell twice.
        bands.dedup_by_key(|&mut (workers, _)| workers);
        knee(group, &bands)
    };
    groups.iter().filter_map(of).collect()
}

fn band(cell: &Cell) -> Option<Band> {
    Some(cell.record.as_ref()?.verdict.as_ref()?.band)
}

fn knee(group: &Axes, bands: &[(u64, Band)]) -> Option<Knee> {
    let (&(fewest, band), more) = bands.split_first()?;
    if more.is_empty() {
        return None;
    }
    let leaves = more.iter().position(|&(_, other)| other > band);
    let stays = match leaves {
        None => bands.last().map_or(fewest, |&(workers, _)| workers),
        Some(at) => bands[at].0,
    };
    Some(Knee {
        arm: group.arm,
        block_size_bytes: group.block_size_bytes,
        depth: group.depth,
        layout: group.layout,
        band,
        stays_until_workers: stays,
        leaves_at_workers: leaves.map(|at| more[at].0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use synctail_bench::{Arm, Layout};

    #[test]
    fn the_knee_lies_between_the_last_good_step_and_the_first_bad_one() {
        let group = Axes::single(Arm::DEFAULT, 4_096, Layout::Append);
        let found = |bands: &[(u64, Band)]| {
            knee(&group, bands).map(|knee| (knee.stays_until_workers, knee.leaves_at_workers))
        };
        assert_eq!(found(&[(1, Band::Ideal)]), None);
        let rising = [(1, Band::Ideal), (2, Band::Ideal), (4, Band::Good), (8, Band::Workable)];
        assert_eq!(found(&rising), Some((2, Some(4))));
        assert_eq!(found(&rising[..2]), Some((2, None)));
        let better = [(1, Band::Good), (2, Band::Ideal), (4, Band::Good)];
        assert_eq!(found(&better), Some((4, None)), "a better band is no knee");
    }
}
