//! One line of tracefs' text -> one event.
//!
//! `            comm-123     [001] ..s4. 68119851728761: block_rq_complete: 254,0 FF () ...`: the name
//! takes 16 columns and may hold anything, so fields behind a name are looked for from the end.

use synctail_bench::THREAD_NAME;

use super::event::{Event, Operation, Phase, Request, Role, Thread, What};

/// Columns of the name of the thread at the start of a line.
const NAME_COLUMNS: usize = 16;
/// How the kernel names the pool's threads of a ring, before the id of the ring's owner.
pub const POOL_NAME: &str = "iou-wrk-";
/// How it names the threads that commit journals, and those that carry requests and writeback on.
pub const KERNEL_NAMES: [&str; 2] = ["jbd2/", "kworker/"];

/// Names of those who asked for requests; an event holds the place in the list.
#[derive(Debug, Default)]
pub struct Names(Vec<String>);

impl Names {
    /// The name at `place`.
    pub fn get(&self, place: u16) -> &str {
        self.0.get(usize::from(place)).map_or("", String::as_str)
    }

    fn place(&mut self, name: &str) -> u16 {
        let known = self.0.iter().position(|known| known == name);
        let place = known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        });
        u16::try_from(place).unwrap_or(u16::MAX)
    }
}

/// The event of `line`; nothing where it is a comment, another event or odd.
pub fn event(line: &[u8], names: &mut Names) -> Option<Event> {
    let head = line.get(..NAME_COLUMNS)?;
    let rest = std::str::from_utf8(line.get(NAME_COLUMNS..)?.strip_prefix(b"-")?).ok()?;
    let (tid, rest) = rest.split_once(' ')?;
    let (_, rest) = rest.split_once("] ")?;
    let (_, rest) = rest.split_once(' ')?;
    let (tick, rest) = rest.trim_start().split_once(": ")?;
    let (event, fields) = rest.split_once(": ").or_else(|| rest.split_once(':'))?;
    let thread = thread(String::from_utf8_lossy(head).trim_start(), tid)?;
    let request = |phase, names: &mut Names| Some(What::Request(phase, request(fields, names)?));
    let what = match event {
        "sched_switch" => switch(fields)?,
        "sched_wakeup" | "sched_wakeup_new" => wake(fields)?,
        "block_bio_queue" => request(Phase::Queued, names)?,
        "block_rq_issue" => request(Phase::Issued, names)?,
        "block_rq_complete" => request(Phase::Completed, names)?,
        "jbd2_start_commit" => What::Journal(true),
        "jbd2_end_commit" => What::Journal(false),
        "balance_dirty_pages" => What::Throttled(thread),
        _ => return None,
    };
    Some(Event { tick: ticks(tick)?, what })
}

/// Either a plain count, or seconds with six places, which are then nanoseconds.
fn ticks(text: &str) -> Option<u64> {
    let Some((seconds, micros)) = text.split_once('.') else { return text.parse().ok() };
    let (seconds, micros): (u64, u64) = (seconds.parse().ok()?, micros.parse().ok()?);
    seconds.checked_mul(1_000_000_000)?.checked_add(micros.checked_mul(1_000)?)
}

fn thread(name: &str, tid: &str) -> Option<Thread> {
    let number = |prefix: &str| name.strip_prefix(prefix)?.parse::<u32>().ok();
    let role = match (number(THREAD_NAME), number(POOL_NAME)) {
        (Some(worker), _) => Role::Worker(u64::from(worker)),
        (None, Some(owner)) => Role::Pool(owner),
        _ if KERNEL_NAMES.iter().any(|start| name.starts_with(start)) => Role::Kernel,
        _ => Role::Other,
    };
    Some(Thread { tid: tid.trim().parse().ok()?, role })
}

/// `prev_comm=A prev_pid=1 prev_prio=120 prev_state=R+ ==> next_comm=B next_pid=2 next_prio=120`.
fn switch(fields: &str) -> Option<What> {
    let (from, to) = fields.rsplit_once(" ==> next_comm=")?;
    let (to, _) = to.rsplit_once(" next_prio=")?;
    let (to_name, to_tid) = to.rsplit_once(" next_pid=")?;
    let (from, state) = from.rsplit_once(" prev_state=")?;
    let (from, _) = from.rsplit_once(" prev_prio=")?;
    let (from_name, from_tid) = from.rsplit_once(" prev_pid=")?;
    Some(What::Switch {
        from: thread(from_name.strip_prefix("prev_comm=")?, from_tid)?,
        blocked: !state.starts_with('R'),
        to: thread(to_name, to_tid)?,
    })
}

/// `comm=A pid=1 prio=120 target_cpu=000`.
fn wake(fields: &str) -> Option<What> {
    let (rest, _) = fields.rsplit_once(" prio=")?;
    let (name, tid) = rest.rsplit_once(" pid=")?;
    Some(What::Wake(thread(name.strip_prefix("comm=")?, tid)?))
}

/// `254,0 FWS 8 + 16 [name]`, with bytes, a command in parentheses and a priority where there are any.
fn request(fields: &str, names: &mut Names) -> Option<Request> {
    let (place, rest) = fields.split_once(' ')?;
    let (major, minor) = place.split_once(',')?;
    let (kind, rest) = rest.split_once(' ')?;
    let (sector, behind) = rest.split_once(" + ")?;
    let sectors = behind.split(' ').next()?;
    let by = behind.rsplit_once(" [").map_or("", |(_, name)| name.trim_end_matches(']'));
    let kind = Kind::of(kind)?;
    Some(Request {
        device: (major.parse().ok()?, minor.parse().ok()?),
        // A write of nothing that empties the cache first is a flush.
        operation: match kind.operation {
            Operation::Write if kind.empties && sectors == "0" => Operation::Flush,
            operation => operation,
        },
        fua: kind.fua,
        sync: kind.sync,
        sector: sector.rsplit(' ').next()?.parse().ok()?,
        sectors: sectors.parse().ok()?,
        by: names.place(by),
    })
}

struct Kind {
    empties: bool,
    operation: Operation,
    fua: bool,
    sync: bool,
}

impl Kind {
    /// The kernel's letters (blk_fill_rwbs): F first where the cache is emptied before; the operation, F for
    /// a flush itself; then F for forced unit access, and A, S, M.
    fn of(letters: &str) -> Option<Kind> {
        let behind =
            letters.strip_prefix('F').filter(|rest| rest.starts_with(['W', 'F', 'R', 'D']));
        let empties = behind.is_some();
        let mut rest = behind.unwrap_or(letters).chars();
        let operation = match rest.next()? {
            'F' => Operation::Flush,
            'W' => Operation::Write,
            _ => Operation::Other,
        };
        let flags = rest.as_str();
        Some(Kind { empties, operation, fua: flags.contains('F'), sync: flags.contains('S') })
    }
}

#[cfg(test)]
mod tests;
