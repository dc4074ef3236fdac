//! The table for a person, within 80 columns.

use super::document::{Axes, Cell, Knee, Sweep};
use super::remarks::remarks;
use crate::human;
use crate::policy::band_name;
use crate::record::Status;
use crate::report::lines::Lines;

/// Widest name of a row; longer ones push the figures to the right.
const NAME_COLUMNS: usize = 42;

/// The result, or what there is of it.
pub fn render(sweep: &Sweep) -> String {
    let mut lines = Lines::default();
    lines.say(&headline(sweep), 4);
    let varying = Varying::of(&sweep.cells);
    let constant = varying.constant(&sweep.cells);
    if !constant.is_empty() {
        lines.say(&format!("  all cells: {constant}"), 4);
    }
    let slog = sweep.plan.preset.as_deref() == Some("slog");
    let heads = match slog {
        true => ["usec/IO", "MB/s", "p99", "max"],
        false => ["p50", "p99", "max", "pairs/s"],
    };
    let heads = heads.map(|head| format!("{head:>9}")).concat();
    lines.say(&format!("  {:<NAME_COLUMNS$}{heads}", "write and barrier (w workers, d depth)"), 4);
    for cell in &sweep.cells {
        lines.say(&row(cell, &varying, slog), 4);
    }
    for knee in &sweep.knees {
        lines.say(&format!("  {}", knee_line(knee)), 4);
    }
    for remark in remarks(&sweep.cells) {
        lines.say(&format!("  {remark}"), 4);
    }
    for left_out in &sweep.plan.left_out {
        lines.say(&format!("  left out: {left_out}"), 4);
    }
    for cell in &sweep.cells {
        if let Some(why) = cell.rounds.iter().find_map(|round| round.error.as_ref()) {
            lines.say(&format!("  {}: {why}", varying.name(cell)), 4);
        }
    }
    lines.into_text()
}

fn headline(sweep: &Sweep) -> String {
    let plan = &sweep.plan;
    let preset = plan.preset.as_ref().map_or(String::new(), |name| format!(" ({name})"));
    let done: usize = sweep.cells.iter().map(|cell| cell.rounds.len()).sum();
    let all: usize = plan.order.iter().map(Vec::len).sum();
    let partial = match sweep.status {
        Status::Interrupted => format!("; interrupted after {done} of {all} runs"),
        _ => String::new(),
    };
    format!(
        "sweep of {}{preset}: {} cells, the median of {} rounds by p99, seed {}{partial}",
        plan.path,
        sweep.cells.len(),
        plan.rounds,
        plan.seed
    )
}

/// Which axes tell rows apart.
struct Varying {
    label: bool,
    arm: bool,
    layout: bool,
    block: bool,
    depth: bool,
    workers: bool,
}

impl Varying {
    fn of(cells: &[Cell]) -> Varying {
        let first = cells.first();
        let differs = |other: &dyn Fn(&Axes, &Axes) -> bool| {
            first.is_some_and(|first| cells.iter().any(|cell| other(&first.axes, &cell.axes)))
        };
        Varying {
            label: cells.iter().any(|cell| cell.label.is_some()),
            arm: differs(&|a, b| a.arm != b.arm),
            layout: differs(&|a, b| a.layout != b.layout),
            block: differs(&|a, b| a.block_size_bytes != b.block_size_bytes),
            depth: differs(&|a, b| a.depth != b.depth),
            workers: differs(&|a, b| a.workers != b.workers),
        }
    }

    /// The parts of a cell that `shown` asks for.
    fn parts(&self, axes: &Axes, varying: bool) -> String {
        let parts = [
            (self.arm, axes.arm.to_string()),
            (self.layout, axes.layout.name().to_owned()),
            (self.block, human::bytes(axes.block_size_bytes)),
            (self.workers, format!("w={}", axes.workers)),
            (self.depth, format!("d={}", axes.depth)),
        ];
        let wanted = parts.into_iter().filter(|(varies, _)| *varies == varying);
        wanted.map(|(_, text)| text).collect::<Vec<_>>().join(" ")
    }

    fn constant(&self, cells: &[Cell]) -> String {
        cells.first().map_or(String::new(), |cell| self.parts(&cell.axes, false))
    }

    fn name(&self, cell: &Cell) -> String {
        match &cell.label {
            Some(label) if self.label => label.clone(),
            _ => self.parts(&cell.axes, true),
        }
    }
}

fn row(cell: &Cell, varying: &Varying, slog: bool) -> String {
    let name = varying.name(cell);
    let Some(round) = cell.median() else {
        let state = if cell.rounds.is_empty() { "not measured yet" } else { "failed" };
        return format!("  {name:<NAME_COLUMNS$}{state:>9}");
    };
    let time = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), human::time);
    let max = cell.rounds.iter().filter_map(|round| round.max_ns).max();
    let figures = if slog {
        let mean = round.mean_ns.unwrap_or(f64::NAN);
        // Bytes per microsecond are megabytes per second.
        let rate = cell.axes.pair_bytes() as f64 * 1e3 / mean;
        [format!("{:.1}", mean / 1e3), human::decimal(rate), time(round.p99_ns), time(max)]
    } else {
        let rate = round.pairs_per_s.map_or_else(|| "-".to_owned(), human::decimal);
        [time(round.p50_ns), time(round.p99_ns), time(max), rate]
    };
    let figures = figures.map(|figure| format!("{figure:>9}")).concat();
    format!("  {name:<NAME_COLUMNS$}{figures}")
}

fn knee_line(knee: &Knee) -> String {
    let depth = if knee.depth > 1 { format!(" d={}", knee.depth) } else { String::new() };
    let (layout, block) = (knee.layout.name(), human::bytes(knee.block_size_bytes));
    let of = format!("{} {layout} {block}{depth}", knee.arm);
    let band = band_name(knee.band);
    match knee.leaves_at_workers {
        Some(leaves) => format!(
            "knee of {of}: {band} up to w={}, no longer at w={leaves}",
            knee.stays_until_workers
        ),
        None => format!("knee of {of}: none up to w={} ({band})", knee.stays_until_workers),
    }
}
