//! Axes and presets -> cells.

use synctail_bench::{Arm, Layout};

use super::document::{Axes, Cell};
use super::pg::pg;
use crate::args::{Preset, SweepArgs};

const BLOCK_SIZE_BYTES: u64 = 4_096;
/// As FreeBSD's diskinfo -wS prints them.
const SLOG_BYTES: std::ops::RangeInclusive<u32> = 9..=23;
/// A message's subject of 8 bytes, header of 22 and checksum of 8 in a block of JetStream's file store.
const JETSTREAM_EXTRA_BYTES: u64 = 8 + 22 + 8;

/// The cells in the order of the table, and combinations that mean nothing.
pub fn cells(args: &SweepArgs) -> (Vec<Cell>, Vec<String>) {
    let device = args.device.device.is_some();
    match args.preset {
        None => product(args, if device { Layout::Overwrite } else { Layout::Append }),
        Some(preset) => {
            let mut cells = of_preset(preset);
            if !device {
                return (cells, Vec::new());
            }
            cells.iter_mut().for_each(|cell| cell.axes.layout = Layout::Overwrite);
            let (cells, files_only): (Vec<Cell>, Vec<Cell>) =
                cells.into_iter().partition(|cell| cell.axes.sync_fd.is_own());
            let why = |cell: Cell| {
                format!("{}: a raw device is open once", cell.label.unwrap_or_default())
            };
            (cells, files_only.into_iter().map(why).collect())
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
                        let axes = Axes::single(arm, block_size_bytes, layout);
                        let axes = Axes { workers, depth, ..axes };
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

/// A cell that is not measured yet.
pub fn cell(axes: Axes, label: Option<String>) -> Cell {
    Cell { axes, label, rounds: Vec::new(), record: None, pending: Vec::new() }
}

fn of_preset(preset: Preset) -> Vec<Cell> {
    match preset {
        Preset::Pg => pg(),
        Preset::Slog => SLOG_BYTES
            .map(|power| plain("syscall/fdatasync+direct", 1 << power, Layout::Overwrite))
            .map(|axes| cell(axes, None))
            .collect(),
        Preset::Etcd => [512, 2_300, 8 << 10, 64 << 10]
            .map(|bytes| cell(plain("syscall/fdatasync", bytes, Layout::Append), None))
            .into(),
        Preset::Jetstream => {
            let sizes = [128, 1 << 10, 4 << 10, 64 << 10].into_iter();
            let of_size = |payload| {
                let axes = plain("syscall/fsync", payload + JETSTREAM_EXTRA_BYTES, Layout::Append);
                [1, 4, 8].map(|workers| cell(Axes { workers, ..axes.clone() }, None))
            };
            sizes.flat_map(of_size).collect()
        }
        Preset::Paths => Arm::all()
            .into_iter()
            .flat_map(|arm| {
                let depths: &[u64] = if arm.uses_ring() { &[1, 4, 16] } else { &[1] };
                let axes = Axes::single(arm, BLOCK_SIZE_BYTES, Layout::Append);
                depths.iter().map(move |&depth| cell(Axes { depth, ..axes.clone() }, None))
            })
            .collect(),
    }
}

/// One write at a time by the arm of this name.
pub fn plain(arm: &str, block_size_bytes: u64, layout: Layout) -> Axes {
    // A name that this system does not know is none of its rows.
    Axes::single(arm.parse().unwrap_or(Arm::DEFAULT), block_size_bytes, layout)
}
