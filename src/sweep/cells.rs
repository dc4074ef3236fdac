//! Axes and presets -> cells.

use synctail_bench::{Arm, Layout};

use super::document::{Axes, Cell};
use crate::args::{Preset, SweepArgs};

const BLOCK_SIZE_BYTES: u64 = 4_096;
/// As FreeBSD's diskinfo -wS prints them.
const SLOG_BYTES: std::ops::RangeInclusive<u32> = 9..=23;
/// A message's subject of 8 bytes, header of 22 and checksum of 8 in a block of JetStream's file store.
const JETSTREAM_EXTRA_BYTES: u64 = 8 + 22 + 8;
const WAL_BYTES: u64 = 8 << 10;

/// The cells in the order of the table, and combinations that mean nothing.
pub fn cells(args: &SweepArgs) -> (Vec<Cell>, Vec<String>) {
    let device = args.device.device.is_some();
    match args.preset {
        None => product(args, if device { Layout::Overwrite } else { Layout::Append }),
        Some(preset) => {
            let mut cells = of_preset(preset);
            if device {
                cells.iter_mut().for_each(|cell| cell.axes.layout = Layout::Overwrite);
            }
            (cells, Vec::new())
        }
    }
}

fn product(args: &SweepArgs, layout: Layout) -> (Vec<Cell>, Vec<String>) {
    let arms = or(&args.arm, Arm::DEFAULT);
    let layouts: Vec<Layout> = args.layout.iter().map(|&layout| layout.into()).collect();
    let (mut cells, mut left_out) = (Vec::new(), Vec::new());
    for &arm in &arms {
        for &layout in &or(&layouts, layout) {
            for &block_size_bytes in &or(&args.block_size, BLOCK_SIZE_BYTES) {
                for &depth in &or(&args.depth, 1) {
                    if depth > 1 && !arm.uses_ring() {
                        let why =
                            format!("{arm} at depth {depth}: a system call has one in flight");
                        if !left_out.contains(&why) {
                            left_out.push(why);
                        }
                        continue;
                    }
                    for &workers in &or(&args.workers, 1) {
                        let axes = Axes { arm, block_size_bytes, workers, depth, layout };
                        if !cells.iter().any(|cell: &Cell| cell.axes == axes) {
                            cells.push(cell(axes, None));
                        }
                    }
                }
            }
        }
    }
    (cells, left_out)
}

fn or<T: Clone>(given: &[T], default: T) -> Vec<T> {
    if given.is_empty() { vec![default] } else { given.to_vec() }
}

fn cell(axes: Axes, label: Option<String>) -> Cell {
    Cell { axes, label, rounds: Vec::new(), record: None, pending: Vec::new() }
}

fn of_preset(preset: Preset) -> Vec<Cell> {
    match preset {
        Preset::Pg => pg(),
        Preset::Slog => SLOG_BYTES
            .map(|power| plain("syscall/fdatasync+direct", 1 << power, 1, Layout::Overwrite))
            .collect(),
        Preset::Etcd => [512, 2_300, 8 << 10, 64 << 10]
            .map(|bytes| plain("syscall/fdatasync", bytes, 1, Layout::Append))
            .into(),
        Preset::Jetstream => {
            let sizes = [128, 1 << 10, 4 << 10, 64 << 10].into_iter();
            let of_size = |payload| {
                let bytes = payload + JETSTREAM_EXTRA_BYTES;
                [1, 4, 8].map(|workers| plain("syscall/fsync", bytes, workers, Layout::Append))
            };
            sizes.flat_map(of_size).collect()
        }
        Preset::Paths => Arm::all()
            .into_iter()
            .flat_map(|arm| {
                let depths: &[u64] = if arm.uses_ring() { &[1, 4, 16] } else { &[1] };
                let layout = Layout::Append;
                let axes =
                    move |&depth| Axes { arm, block_size_bytes: 4_096, workers: 1, depth, layout };
                depths.iter().map(move |depth| cell(axes(depth), None))
            })
            .collect(),
    }
}

/// pg_test_fsync writes blocks of its WAL again and again in a file of 16 MiB.
fn pg() -> Vec<Cell> {
    let ways = [
        ("open_datasync", "syscall/o_dsync"),
        ("fdatasync", "syscall/fdatasync"),
        ("fsync", "syscall/fsync"),
        ("open_sync", "syscall/o_sync"),
    ];
    let mut cells: Vec<Cell> =
        ways.iter().map(|(name, arm)| row(&format!("8kB {name}"), arm, WAL_BYTES)).collect();
    cells.push(row("1 * 16kB open_sync", "syscall/o_sync", 2 * WAL_BYTES));
    cells.push(row("8kB, not synced", "syscall/none", WAL_BYTES));
    cells
}

fn row(label: &str, arm: &str, bytes: u64) -> Cell {
    Cell { label: Some(label.to_owned()), ..plain(arm, bytes, 1, Layout::Overwrite) }
}

fn plain(arm: &str, block_size_bytes: u64, workers: u64, layout: Layout) -> Cell {
    // A name that this system does not know is none of its rows.
    let arm = arm.parse().unwrap_or(Arm::DEFAULT);
    cell(Axes { arm, block_size_bytes, workers, depth: 1, layout }, None)
}
