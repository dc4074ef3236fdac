//! What only the path can tell, asked by a child: a path may hang.

use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::wait::waitpid;
use nix::unistd::Pid;
use synctail_bench::{Board, BoardSize};
use synctail_sys::reserve_words;

use crate::check::failure_without_plan;
use crate::child::{Aim, Event};
use crate::clock::{AnyClock, TimedClock};
use crate::record::Facts;
use crate::refusal::Refusal;
use crate::supervise::{Ear, Incident, Supervised};

/// For a child that was told to end.
const MOMENT: Duration = Duration::from_millis(200);
const TIMEOUT: Duration = Duration::from_secs(60);

/// The facts of `path`, within `timeout_ns`.
///
/// # Errors
/// Where it is no directory, does not answer, or a signal came.
pub fn facts(path: &Path, timeout_ns: Option<u64>) -> Result<Facts, Refusal> {
    let size = BoardSize { workers: 1, depth: 1, samples_per_worker: 1 };
    let words = reserve_words(size.words() as usize)
        .map_err(|error| Refusal::cannot("prepare", "mmap", error.to_string(), ""))?;
    let board = Board::new(words, size);
    let clock = TimedClock::start(AnyClock::best());
    let aim = Aim::Directory { path: path.to_owned(), clean: false };
    let Supervised { pid, orders, mut ear } = Supervised::start(aim, board, clock)?;
    let answer = listen(path, &mut ear, timeout_ns);
    // The child waits for an order that does not come, and ends.
    drop(orders);
    if ends_within_a_moment(&mut ear) {
        let _ = waitpid(Pid::from_raw(pid), None);
    } else {
        // One that is held in the kernel ends when that lets it go.
        let text = format!("synctail: left child process {pid}, still looking at the path");
        crate::outputs::say(&text);
    }
    answer
}

/// Whether the child closes its end soon, as one does that is told to go and can.
fn ends_within_a_moment(ear: &mut Ear) -> bool {
    let deadline = Instant::now() + MOMENT;
    loop {
        match ear.next(deadline.saturating_duration_since(Instant::now())) {
            Incident::ChildGone => return true,
            Incident::Quiet => return false,
            Incident::Event(_) | Incident::Signal(_) => {}
        }
    }
}

fn listen(path: &Path, ear: &mut Ear, timeout_ns: Option<u64>) -> Result<Facts, Refusal> {
    let patience = timeout_ns.map_or(TIMEOUT, Duration::from_nanos);
    let deadline = Instant::now() + patience;
    let shown = path.display();
    loop {
        match ear.next(deadline.saturating_duration_since(Instant::now())) {
            Incident::Event(event) => match *event {
                Event::Looked { facts, .. } => return Ok(facts),
                Event::Failed { fault } => return Err(failure_without_plan(&fault)),
                _ => {}
            },
            Incident::Signal(code) => {
                let why = format!("interrupted while looking at {shown}");
                let refusal = Refusal::cannot("prepare", "statx", why, "");
                return Err(Refusal { exit_code: code, ..refusal });
            }
            Incident::ChildGone => {
                let why = format!("the process that looks at {shown} ended without a word");
                return Err(Refusal::cannot("internal", "wait", why, ""));
            }
            Incident::Quiet => {
                let why = format!("{shown} does not answer within {patience:?}");
                let remedy = "look at the kernel log; a dead server or device holds it";
                return Err(Refusal::cannot("prepare", "statx", why, remedy));
            }
        }
    }
}
