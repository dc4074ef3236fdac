//! One measurement from the parent's side: from the fork to the last event, or to the moment when
//! waiting longer would break the promise to end.

use std::ffi::OsString;
use std::io::{PipeWriter, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use synctail_bench::{Board, Fault, Measured, Pending, RunReport};
use synctail_sys::reserve_words;

use super::neighbours::Neighbours;
use super::progress::Watching;
use crate::child::{Aim, Event, Leftovers, Order};
use crate::clock::{AnyClock, TimedClock, tsc_is_stable};
use crate::device;
use crate::evidence;
use crate::evidence::interval::{Moment, moment};
use crate::record::{Facts, Proof, Substrate};
use crate::refusal::Refusal;
use crate::resolve::{Request, Resolved, Room};
use crate::substrate;
use crate::supervise::{Incident, Supervised};
use crate::trace::Tracing;

/// Everything about the machine is read below it.
const ROOT: &str = "/";
/// How often the parent looks for an operation that takes too long.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// How long workers and clean-up may take after a stop, so that the whole ends within a second.
const GRACE: Duration = Duration::from_millis(600);

/// The machine's counters and when they were read.
type Timed = (Instant, Moment);

/// Why the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The child said so.
    Finished,
    /// A signal; the exit code it leads to.
    Signal(i32),
    /// An operation took longer than `--timeout`.
    TimedOut,
    /// `--max-duration` is over.
    MaxDuration,
    /// The child died.
    ChildDied,
}

/// What is known after the run.
#[derive(Debug)]
pub struct Session {
    /// What was asked.
    pub request: Request,
    /// Where samples are.
    pub board: Board,
    /// What was complete when the run ended.
    pub measured: Measured,
    /// The clock of the run.
    pub clock: TimedClock,
    /// Offset between CPUs, where it was measured.
    pub skew_ns: Option<u64>,
    /// What the tool itself adds to a pair.
    pub floor_ns: Option<u64>,
    /// Of the path.
    pub facts: Option<Facts>,
    /// Under the path.
    pub substrate: Option<Substrate>,
    /// The plan, once it was made.
    pub resolved: Option<Resolved>,
    /// Directories of dead runs.
    pub leftovers: Leftovers,
    /// The work directory, once it existed.
    pub directory: Option<PathBuf>,
    /// What was seen of barriers before the run.
    pub proof: Option<Proof>,
    /// How the workers ended, if all of them did.
    pub report: Option<RunReport>,
    /// Of the child's threads.
    pub scheduling_class: Option<String>,
    /// What failed before the workers started.
    pub fault: Option<Fault>,
    /// Why the work directory could not be removed.
    pub not_removed: Option<String>,
    /// Why it ended.
    pub end: End,
    /// What had not returned by then.
    pub pending: Vec<Pending>,
    /// The child, if it had to be left.
    pub child_left: Option<i32>,
    /// How the child died, if it did.
    pub death: Option<String>,
    /// What works beside it, if that was asked for.
    pub neighbours: Option<Neighbours>,
    /// The kernel's trace of it, if it was asked for.
    pub tracing: Option<Tracing>,
    /// Why there is none although it was asked for.
    pub trace_failed: Option<String>,
    /// The machine's counters before and after the run.
    pub moments: (Option<Timed>, Option<Timed>),
    /// /proc/interrupts before and after the run.
    pub interrupts: (String, String),
    /// RFC 3339.
    pub started_at: String,
    started: Instant,
}

impl Session {
    /// Measures what `aim` says.
    ///
    /// # Errors
    /// Where the run cannot begin, or is refused once the path is known.
    pub fn run(aim: Aim, request: Request, watching: Watching) -> Result<Session, Refusal> {
        let started = Instant::now();
        let size = request.board_size();
        let words = reserve_words(size.words() as usize).map_err(|e| {
            let text = e.to_string();
            Refusal::cannot("prepare", "mmap", text, "lower --max-samples, --workers or --depth")
        })?;
        let board = Board::new(words, size);
        let clock = TimedClock::start(AnyClock::best());
        let child = Supervised::start(aim, board, clock.clone())?;
        let mut session = Session::new(request, board, clock, started);
        session.drive(child, watching)?;
        Ok(session)
    }

    fn new(request: Request, board: Board, clock: TimedClock, started: Instant) -> Session {
        Session {
            request,
            board,
            measured: board.measured(0),
            clock,
            skew_ns: None,
            floor_ns: None,
            facts: None,
            substrate: None,
            resolved: None,
            leftovers: Leftovers::default(),
            directory: None,
            proof: None,
            report: None,
            scheduling_class: None,
            fault: None,
            not_removed: None,
            end: End::Finished,
            pending: Vec::new(),
            child_left: None,
            death: None,
            neighbours: None,
            tracing: None,
            trace_failed: None,
            moments: Default::default(),
            interrupts: Default::default(),
            started_at: super::assemble::now_rfc3339(),
            started,
        }
    }

    fn drive(&mut self, child: Supervised, watching: Watching) -> Result<(), Refusal> {
        let Supervised { pid: child, orders, mut ear } = child;
        let mut orders = Some(orders);
        let mut progress = watching.start(self);
        let mut give_up: Option<Instant> = None;
        loop {
            let patience =
                give_up.map_or(LOOK_INTERVAL, |at| at.saturating_duration_since(Instant::now()));
            match ear.next(patience.min(LOOK_INTERVAL)) {
                Incident::Event(event) => {
                    // Dropping the orders tells the child that a refused plan will not come.
                    self.take(*event, &mut orders)?;
                }
                Incident::ChildGone => {
                    self.bury(child);
                    break;
                }
                Incident::Signal(_) if matches!(self.end, End::Signal(_)) => {
                    give_up = Some(Instant::now());
                }
                Incident::Signal(code) => {
                    self.stop(End::Signal(code));
                    give_up = Some(Instant::now() + GRACE);
                }
                Incident::Quiet => {}
            }
            if give_up.is_none()
                && let Some(end) = self.overdue()
            {
                self.stop(end);
                give_up = Some(Instant::now() + GRACE);
            }
            if give_up.is_some_and(|at| Instant::now() >= at) {
                self.child_left = Some(child);
                break;
            }
            if give_up.is_none() {
                self.look_at_neighbours(&mut orders)?;
            } else if self.neighbours.as_ref().is_some_and(Neighbours::hold_back) {
                // A plan that was not sent will not come: the child need not wait for it.
                orders = None;
            }
            progress.show(self);
        }
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.finish(&mut ear, give_up);
        }
        progress.finish();
        self.pending = self.board.pending();
        self.measured = self.board.measured(self.clock.clock.ticks());
        Ok(())
    }

    fn stop(&mut self, end: End) {
        // What the child says of itself decides, if it has already ended.
        if self.end == End::Finished {
            self.end = end;
        }
        self.board.stop();
        self.neighbours.iter_mut().for_each(Neighbours::stop);
    }

    /// Sends the plan once the load is there.
    fn look_at_neighbours(&mut self, orders: &mut Option<PipeWriter>) -> Result<(), Refusal> {
        let Some(neighbours) = &mut self.neighbours else { return Ok(()) };
        if let Some(order) = neighbours.look(self.request.timeout_ns)? {
            send(orders, &order);
        }
        Ok(())
    }

    /// Whether an operation or the command takes too long.
    fn overdue(&self) -> Option<End> {
        let scale = self.clock.scale();
        let now = self.clock.clock.ticks();
        let age = |pending: &Pending| scale.ns(now.saturating_sub(pending.since_tick));
        if self.board.pending().iter().any(|p| age(p) > self.request.timeout_ns) {
            return Some(End::TimedOut);
        }
        let most = self.request.max_duration_ns.map(Duration::from_nanos);
        most.filter(|&most| self.started.elapsed() >= most).map(|_| End::MaxDuration)
    }

    fn take(&mut self, event: Event, orders: &mut Option<PipeWriter>) -> Result<(), Refusal> {
        match event {
            Event::Looked { facts, allowed_cpus } => {
                self.send_plan(&facts, &allowed_cpus, orders)?;
                self.facts = Some(facts);
            }
            Event::Clock { source, skew_ns, floor_ns } => {
                if source != self.clock.clock.source() {
                    self.clock = TimedClock::start(self.clock.clock.named(&source));
                }
                self.skew_ns = skew_ns;
                self.floor_ns = floor_ns;
            }
            Event::Leftovers(leftovers) => self.leftovers = leftovers,
            Event::Created { directory } => {
                self.directory =
                    directory.map(|directory| PathBuf::from(OsString::from_vec(directory)));
                self.start_trace();
                self.interrupts.0 = read_interrupts();
                self.moments.0 = self.moment();
                self.neighbours.iter_mut().for_each(Neighbours::begin);
            }
            Event::Probed(proof) => {
                self.proof = Some(proof);
                self.neighbours.iter_mut().for_each(Neighbours::begin);
                // What the probe did is none of the run's.
                self.moments.0 = self.moment();
            }
            Event::Finished { report, scheduling_class } => {
                self.neighbours.iter_mut().for_each(Neighbours::stop);
                self.moments.1 = self.moment();
                self.interrupts.1 = read_interrupts();
                self.report = Some(report);
                self.scheduling_class = scheduling_class;
            }
            Event::Cleaned { left } => self.not_removed = left,
            Event::Failed { fault } => self.fault = Some(fault),
        }
        Ok(())
    }

    fn send_plan(
        &mut self,
        facts: &Facts,
        allowed: &[u64],
        orders: &mut Option<PipeWriter>,
    ) -> Result<(), Refusal> {
        let null = self.request.null;
        let substrate = match null {
            false => substrate::discover(Path::new(ROOT), facts),
            true => substrate::nothing(Path::new(ROOT)),
        };
        let force_signature = self.request.device.is_some_and(|device| device.force_signature);
        device::admit(Path::new(ROOT), facts, force_signature)?;
        if let Some(why) = substrate::refused(&substrate) {
            return Err(Refusal::cannot("prepare", "statfs", why, ""));
        }
        if self.request.trace {
            self.tracing = Some(Tracing::prepare(Path::new(ROOT))?);
        }
        let room = match &facts.device {
            Some(device) => Room::Device(device.bytes),
            None => Room::Free(facts.free_bytes.filter(|_| !null)),
        };
        let resolved = self.request.plan(room, allowed)?;
        let tsc_is_stable = tsc_is_stable(Path::new(ROOT));
        let counters = evidence::counters(Path::new(ROOT), &substrate);
        let order = Order { plan: resolved.plan.clone(), counters, null, tsc_is_stable };
        self.substrate = Some(substrate);
        self.resolved = Some(resolved);
        match &self.request.load {
            Some(load) => {
                let seed = self.request.seed;
                self.neighbours = Some(Neighbours::start(load, &facts.path, seed, order)?);
            }
            None => send(orders, &order),
        }
        Ok(())
    }

    /// Which clock times the run is known by now; where the kernel's trace does not have it, the run goes on.
    fn start_trace(&mut self) {
        let Some(tracing) = &mut self.tracing else { return };
        if let Err(refusal) = tracing.start(self.clock.clock.source()) {
            self.trace_failed = Some(refusal.report.message.clone());
            self.tracing = None;
        }
    }

    fn moment(&self) -> Option<Timed> {
        Some((Instant::now(), moment(Path::new(ROOT), self.substrate.as_ref()?)))
    }

    fn bury(&mut self, child: i32) {
        let status = waitpid(Pid::from_raw(child), Some(WaitPidFlag::empty()));
        let death = match status {
            Ok(WaitStatus::Exited(_, 0)) => None,
            Ok(WaitStatus::Signaled(_, signal, _)) => Some(format!("killed by {signal}")),
            Ok(WaitStatus::Exited(_, code)) => Some(format!("ended with code {code}")),
            other => Some(format!("{other:?}")),
        };
        let unfinished = self.report.is_none() && self.fault.is_none();
        if self.end == End::Finished && (death.is_some() || unfinished) {
            self.end = End::ChildDied;
            self.death = death.or_else(|| Some("ended without a word".to_owned()));
        }
    }

    /// What a child that had to be left does later.
    pub fn after_return(&self) -> String {
        match self.request.device {
            Some(_) => "it lets go of the device when that returns".to_owned(),
            None => format!("it removes {} when that returns", self.directory_text()),
        }
    }

    /// The work directory for a message.
    pub fn directory_text(&self) -> String {
        let dir = self.directory.as_ref();
        dir.map_or_else(|| "its work directory".to_owned(), |d| d.display().to_string())
    }
}

fn send(orders: &mut Option<PipeWriter>, order: &Order) {
    if let (Some(pipe), Ok(mut line)) = (orders.as_mut(), serde_json::to_vec(order)) {
        line.push(b'\n');
        // A child that is gone is noticed by the end of its events.
        let _ = pipe.write_all(&line);
    }
}

fn read_interrupts() -> String {
    std::fs::read_to_string(Path::new(ROOT).join("proc/interrupts")).unwrap_or_default()
}
