//! The rows of PostgreSQL's pg_test_fsync, by the calls that strace sees of version 15.
//!
//! It opens with O_DIRECT where the open makes the write synchronous. It writes the first blocks of a file of
//! 16 MiB again and again; here they are written in order through the file, as a WAL is.

use synctail_bench::{Layout, SyncFd};

use super::cells::{cell, plain};
use super::document::{Axes, Cell};

const WAL_BLOCK_BYTES: u64 = 8 << 10;
/// What its table of write sizes writes in all.
const SIZES_BYTES: u64 = 16 << 10;
/// In the order of its table.
const METHODS: [(&str, &str); 4] = [
    ("open_datasync", "syscall/o_dsync+direct"),
    ("fdatasync", "syscall/fdatasync"),
    ("fsync", "syscall/fsync"),
    ("open_sync", "syscall/o_sync+direct"),
];

/// All of them but fsync_writethrough, which Linux does not have.
pub fn pg() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (count, name) in [(1, "one 8kB write"), (2, "two 8kB writes")] {
        let methods = METHODS.map(|(method, arm)| {
            let axes = axes(arm, WAL_BLOCK_BYTES);
            row(format!("{name}: {method}"), Axes { writes_per_barrier: count, ..axes })
        });
        cells.extend(methods);
    }
    for count in [1, 2, 4, 8, 16] {
        let bytes = SIZES_BYTES / count;
        let axes = Axes { writes_per_barrier: count, ..axes("syscall/o_sync+direct", bytes) };
        cells.push(row(format!("{count:>2} * {:>2}kB open_sync", bytes >> 10), axes));
    }
    for (name, sync_fd) in
        [("write, fsync, close", SyncFd::BeforeClose), ("write, close, fsync", SyncFd::AfterClose)]
    {
        let axes = Axes { sync_fd, ..axes("syscall/fsync", WAL_BLOCK_BYTES) };
        cells.push(row(format!("8kB: {name}"), axes));
    }
    cells.push(row("8kB: write, not synced".to_owned(), axes("syscall/none", WAL_BLOCK_BYTES)));
    cells
}

fn axes(arm: &str, bytes: u64) -> Axes {
    plain(arm, bytes, Layout::Overwrite)
}

fn row(label: String, axes: Axes) -> Cell {
    cell(axes, Some(label))
}
