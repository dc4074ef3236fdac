//! Which CPUs served a disk's completion interrupts during the run.
//!
//! /proc/interrupts counts from boot on; the difference of two readings is what the run caused.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use super::block;
use super::route::Route;
use crate::record::{Block, Completion};

/// One line of /proc/interrupts.
struct Line<'a> {
    /// `36`, or `LOC` and the like for what is no device's.
    number: &'a str,
    /// Chip, trigger and users.
    words: Vec<&'a str>,
    /// Pairs of CPU and count.
    counts: Vec<(u64, u32)>,
}

/// The first disk at the bottom of `block` whose interrupts moved between two readings of
/// /proc/interrupts, as its index and the CPUs that served it.
pub fn completion(
    root: &Path,
    block: &[Block],
    before: &str,
    after: &str,
) -> Option<(usize, Completion)> {
    let mut leaves = block.iter().enumerate().filter(|(_, node)| node.below.is_empty());
    leaves.find_map(|(index, node)| {
        let dir = block::folder(root, &node.device).ok()?;
        Some((index, completion_between(before, after, &Route::of(&dir))?))
    })
}

/// The CPUs with at least a tenth of the interrupts on `route` between two readings, busiest first.
/// None if no line belongs to it or none moved.
pub fn completion_between(before: &str, after: &str, route: &Route) -> Option<Completion> {
    let (before, after) = (parse(before), parse(after));
    let named = |line: &&Line| line.words.iter().any(|word| route.names(word));
    let mut mine: Vec<&Line> = after.iter().filter(named).collect();
    // A controller's lines only where the driver does not name the disk's own.
    if mine.is_empty() {
        mine = after.iter().filter(|line| route.carries(line.number, &line.words)).collect();
    }
    let mut served: BTreeMap<u64, u64> = BTreeMap::new();
    let mut interrupts: Vec<String> = Vec::new();
    for line in mine {
        let earlier = before
            .iter()
            .find(|other| other.number == line.number && other.words == line.words)
            .map_or(&[][..], |line| line.counts.as_slice());
        if add(&mut served, earlier, &line.counts) {
            let name = label(line, route);
            if !interrupts.contains(&name) {
                interrupts.push(name);
            }
        }
    }
    let total: u64 = served.values().sum();
    let mut busy: Vec<_> = served.into_iter().filter(|(_, count)| count * 10 >= total).collect();
    // Stable, so that the lower CPU comes first on a tie.
    busy.sort_by_key(|&(_, count)| Reverse(count));
    (total > 0)
        .then(|| Completion { cpus: busy.into_iter().map(|(cpu, _)| cpu).collect(), interrupts })
}

/// Adds what one line counted since `earlier`; whether that was anything.
fn add(served: &mut BTreeMap<u64, u64>, earlier: &[(u64, u32)], now: &[(u64, u32)]) -> bool {
    let mut moved = false;
    for &(cpu, count) in now {
        let start = earlier.iter().find(|&&(other, _)| other == cpu).map_or(0, |&(_, count)| count);
        let step = count.wrapping_sub(start);
        // The kernel counts in 32 bits and wraps. More than half of the range forward is a counter
        // that went backwards, because the line was set up anew.
        if step > 0 && (count >= start || step < u32::MAX / 2) {
            *served.entry(cpu).or_default() += u64::from(step);
            moved = true;
        }
    }
    moved
}

/// The word that names the disk, or else the last one.
fn label(line: &Line, route: &Route) -> String {
    let named = line.words.iter().find(|word| route.names(word));
    named.or(line.words.last()).copied().unwrap_or(line.number).to_owned()
}

/// Every line with a number and counts; none without the heading that names the CPUs.
fn parse(text: &str) -> Vec<Line<'_>> {
    let mut lines = text.lines();
    // Only CPUs that are online have a column: `CPU0 CPU2`.
    let cpus: Vec<u64> = lines
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("CPU")?.parse().ok())
        .collect();
    lines.filter_map(|text| line(text, &cpus)).collect()
}

fn line<'a>(text: &'a str, cpus: &[u64]) -> Option<Line<'a>> {
    let (number, rest) = text.split_once(':')?;
    let mut words: Vec<&str> =
        rest.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty()).collect();
    // A line may have fewer columns than there are CPUs, never more.
    let counts: Vec<(u64, u32)> =
        cpus.iter().zip(&words).map_while(|(&cpu, word)| Some((cpu, word.parse().ok()?))).collect();
    words.drain(..counts.len());
    (!counts.is_empty()).then(|| Line { number: number.trim(), words, counts })
}

#[cfg(test)]
mod tests {
    use super::super::fake::{FakeRoot, XorShift};
    use super::*;

    const BEFORE: &str = "           CPU0       CPU1       CPU4
 35:          0          1          0 PCI-MSIX-0000:00:02.0   0-edge      virtio1-config
 36:          5      31444          0 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
 37:          0          0          7 PCI-MSIX-0000:00:02.0   2-edge      virtio1-req.1
 38:        900          0          0 PCI-MSIX-0000:00:03.0   1-edge      virtio10-req.0
ERR:          0
";

    fn vda() -> Route {
        Route { owners: vec!["virtio1".to_owned()], ..Route::default() }
    }

    fn between(before: &str, after: &str, route: &Route) -> Option<(Vec<u64>, Vec<String>)> {
        completion_between(before, after, route).map(|found| (found.cpus, found.interrupts))
    }

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn only_what_moved_during_the_run_counts_and_the_heading_names_the_cpus() {
        let after = BEFORE.replace("          7 PCI", "         27 PCI").replace(" 900", "9999");
        assert_eq!(between(BEFORE, &after, &vda()), Some((vec![4], names(&["virtio1-req.1"]))));
        assert_eq!(between(BEFORE, BEFORE, &vda()), None);
        let config = BEFORE.replace("          1          0 PCI", "         99          0 PCI");
        assert_eq!(between(BEFORE, &config, &vda()), None);
    }

    #[test]
    fn cpus_below_a_tenth_are_left_out_and_the_busiest_comes_first() {
        let text = |a, b, c| format!("CPU0 CPU1 CPU4\n 9: {a} {b} {c} x virtio1-req.0\n");
        let cpus = |a, b, c| between(&text(7, 7, 7), &text(7 + a, 7 + b, 7 + c), &vda()).unwrap().0;
        assert_eq!(cpus(10, 80, 10), [1, 0, 4]);
        assert_eq!(cpus(9, 10, 81), [4, 1]);
        assert_eq!(cpus(50, 0, 50), [0, 4]);
    }

    #[test]
    fn lines_that_are_new_or_set_up_anew_count_from_zero() {
        let after = "CPU0 CPU1\n 36: 0 3 other-chip 1-edge virtio1-req.0\n";
        assert_eq!(between(BEFORE, after, &vda()).unwrap().0, [1]);
        let back = "CPU0 CPU1\n 36: 9 3 PCI-MSIX-0000:00:02.0 1-edge virtio1-req.0\n";
        assert_eq!(between(BEFORE, back, &vda()).unwrap().0, [0]);
    }

    #[test]
    fn lines_of_one_name_are_told_apart_by_number_and_named_once() {
        let text = |a: u32, b: u32| {
            format!("CPU0 CPU1\n 8: {a} 0 x virtio1-request\n 9: 0 {b} x virtio1-request\n")
        };
        let found = between(&text(0, 900), &text(5, 905), &vda());
        assert_eq!(found, Some((vec![0, 1], names(&["virtio1-request"]))));
    }

    #[test]
    fn a_counter_may_wrap() {
        let at = |count: u32| format!("CPU0 CPU1\n 9: {count} 0 x 1-edge virtio1-req.0\n");
        assert_eq!(between(&at(u32::MAX - 4), &at(6), &vda()).unwrap().0, [0]);
        assert_eq!(between(&at(6), &at(5), &vda()), None);
    }

    #[test]
    fn a_controller_counts_only_where_no_line_names_the_disk() {
        let text = |a: u32, b: u32| {
            format!(
                "CPU0 CPU1\n 40: {a} 0 PCI-MSIX-0000:00:05.0 0-edge nvme0q0\n \
                 41: 0 {b} PCI-MSIX-0000:00:05.0 1-edge nvme0q1\n"
            )
        };
        let mut route = Route { address: Some("0000:00:05.0".to_owned()), ..Route::default() };
        let both = between(&text(0, 0), &text(4, 4), &route);
        assert_eq!(both, Some((vec![0, 1], names(&["nvme0q0", "nvme0q1"]))));
        route.owners = names(&["nvme0"]);
        let own = between(&text(0, 0), &text(4, 4), &route);
        assert_eq!(own, Some((vec![1], names(&["nvme0q1"]))));
        assert_eq!(between(&text(0, 0), &text(4, 0), &route), None);
    }

    #[test]
    fn a_shared_line_is_labelled_with_its_last_user_or_the_disk() {
        let before = "CPU0\n 16: 1 IO-APIC 16-fasteoi ehci_hcd:usb1, ahci[0000:00:1f.2]\n";
        let after = before.replace(": 1", ": 2");
        let route = Route { address: Some("0000:00:1f.2".to_owned()), ..Route::default() };
        assert_eq!(between(before, &after, &route).unwrap().1, ["ahci[0000:00:1f.2]"]);
        let before = "CPU0\n 10: 1 IO-APIC 10-fasteoi virtio1, virtio0\n";
        let after = before.replace(": 1", ": 2");
        assert_eq!(between(before, &after, &vda()).unwrap().1, ["virtio1"]);
    }

    #[test]
    fn the_first_moving_disk_at_the_bottom_is_chosen() {
        let root = FakeRoot::new();
        root.device("254:0", "pci0000:00/0000:00:02.0/virtio1/block/vda");
        root.device("254:16", "pci0000:00/0000:00:03.0/virtio10/block/vdb");
        let node = |device: &str, below: &[&str]| Block {
            device: device.to_owned(),
            below: names(below),
            ..Block::default()
        };
        let block = [node("9:0", &["vda"]), node("254:0", &[]), node("254:16", &[])];
        let found = |after: &str| {
            completion(root.path(), &block, BEFORE, after).map(|(index, found)| (index, found.cpus))
        };
        assert_eq!(found(&BEFORE.replace(" 900", "1000")), Some((2, vec![0])));
        assert_eq!(found(BEFORE), None);
        let both = BEFORE.replace(" 900", "1000").replace("31444", "31445");
        assert_eq!(found(&both), Some((1, vec![1])));
        let upper = node("254:0", &["x"]);
        assert_eq!(completion(root.path(), &[upper], BEFORE, &both), None);
    }

    #[test]
    fn damaged_text_never_panics() {
        let route = Route { address: Some("0000:00:02.0".to_owned()), ..vda() };
        for seed in 1..=3000 {
            let bytes = XorShift(seed).mutate(BEFORE.as_bytes());
            let damaged = String::from_utf8_lossy(&bytes);
            let outcome = std::panic::catch_unwind(|| {
                completion_between(BEFORE, &damaged, &route);
                completion_between(&damaged, BEFORE, &route)
            });
            assert!(outcome.is_ok(), "seed {seed}");
        }
        assert_eq!(completion_between("", "", &route), None);
        assert_eq!(completion_between(BEFORE, "36: 1 x virtio1-req.0", &route), None);
    }
}
