//! /proc/diskstats: flush requests that a device completed (field 16 of Documentation/admin-guide/
//! iostats.rst, since Linux 5.5).

use super::Counter;
use crate::record::{CounterKind, Substrate};

/// Fields before it on a line: major, minor, name and fifteen numbers.
const FLUSHES_AT: usize = 18;

/// Every node of the stack but partitions, whose flushes are counted on their disk.
pub fn counters(substrate: &Substrate) -> Vec<Counter> {
    let nodes = substrate.block.iter().filter(|node| node.kind != "partition");
    let of = |node: &crate::record::Block| Counter {
        kind: CounterKind::Flushes,
        // The kernel prints a slash where sysfs has an exclamation mark.
        node: node.name.clone(),
        path: "proc/diskstats".to_owned(),
    };
    nodes.map(of).collect()
}

/// Flushes of the device `name`; nothing on a kernel that does not count them.
pub fn flushes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.split_ascii_whitespace().nth(2) == Some(name))?;
    line.split_ascii_whitespace().nth(FLUSHES_AT)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
 259       0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 777 17
   8       0 sda 1 2 3 4 5 6 7 8 9 10 11
   8      16 sdb 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
 253       0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 42 17 18 19 20
 104       0 cciss/c0d0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 5 17
";

    #[test]
    fn extra_columns_are_ignored_and_missing_ones_are_unknown() {
        assert_eq!(flushes(TEXT, "nvme0n1"), Some(777));
        assert_eq!(flushes(TEXT, "vda"), Some(42));
        assert_eq!(flushes(TEXT, "cciss/c0d0"), Some(5));
        for name in ["sda", "sdb", "vd", "nvme0n1p1", ""] {
            assert_eq!(flushes(TEXT, name), None, "{name}");
        }
        assert_eq!(flushes("x\n\n 1 2", "x"), None);
        assert_eq!(flushes("8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 -1 2", "sda"), None);
    }
}
