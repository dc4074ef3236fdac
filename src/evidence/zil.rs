//! /proc/spl/kstat/zfs/zil: commits of the ZFS intent log, and where their records went.

use super::Counter;
use crate::record::{CounterKind, Substrate};

const PATH: &str = "proc/spl/kstat/zfs/zil";
const FIELDS: [(CounterKind, &str); 4] = [
    (CounterKind::ZilCommits, "zil_commit_count"),
    (CounterKind::ZilNormal, "zil_itx_metaslab_normal_count"),
    (CounterKind::ZilSlog, "zil_itx_metaslab_slog_count"),
    (CounterKind::ZilIndirect, "zil_itx_indirect_count"),
];

/// All of them, on ZFS; they are of all pools together.
pub fn counters(substrate: &Substrate) -> Vec<Counter> {
    if substrate.filesystem.as_deref() != Some("zfs") {
        return Vec::new();
    }
    let of = |(kind, _)| Counter { kind, node: "zfs".to_owned(), path: PATH.to_owned() };
    FIELDS.into_iter().map(of).collect()
}

/// The value of `kind`. Versions have between 13 and 20 fields, in an order of their own.
pub fn value(text: &str, kind: CounterKind) -> Option<u64> {
    let (_, name) = FIELDS.iter().find(|(field, _)| *field == kind)?;
    let line = text.lines().find(|line| line.split_ascii_whitespace().next() == Some(name))?;
    line.split_ascii_whitespace().nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_names() {
        let text = "13 1 0x01 13 3536 1 2\nname                            type data\n\
zil_commit_count                4    812\nzil_commit_writer_count         4    811\n\
zil_itx_metaslab_slog_count     4    7\n";
        assert_eq!(value(text, CounterKind::ZilCommits), Some(812));
        assert_eq!(value(text, CounterKind::ZilSlog), Some(7));
        assert_eq!(value(text, CounterKind::ZilNormal), None);
        assert_eq!(value("zil_commit_count 4 x", CounterKind::ZilCommits), None);
        assert_eq!(value("zil_commit_count", CounterKind::ZilCommits), None);
        assert_eq!(value(text, CounterKind::Flushes), None);
    }
}
