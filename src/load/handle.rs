//! The owner's side of a load: it never waits for the storage that the load works on.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::message::{Order, Said};
use super::tally::between;
use crate::program::this_binary;
use crate::record::LoadReport;
use crate::refusal::Refusal;

/// The hidden entry of this binary.
const ENTRY: &str = "load";
/// How long an owner that gives up waits for a load that ends.
const LAST_WAIT: Duration = Duration::from_millis(300);
/// A process whose pipe has closed has this to be looked for again.
const DYING_LOOK: Duration = Duration::from_millis(1);

/// How far a load has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It makes its files.
    Preparing,
    /// It works, with files of so many bytes.
    Ready(u64),
    /// It could not begin, or died.
    Failed(String),
    /// It has ended; why something is left, if something is.
    Ended(Option<String>),
}

/// A load that somebody owns; it ends with this value.
#[derive(Debug)]
pub struct Load {
    process: Child,
    orders: Option<ChildStdin>,
    events: ChildStdout,
    unread: Vec<u8>,
    /// Its end of the pipe is closed.
    gone: bool,
    state: State,
    max_bytes: Option<u64>,
    counted: Vec<LoadReport>,
    /// How often it was asked, and which answer is the first of the run.
    asked: usize,
    first: usize,
}

impl Load {
    /// Starts the process and tells it what to do.
    ///
    /// # Errors
    /// Where no process or pipe can be had.
    pub fn start(order: &Order) -> Result<Load, Refusal> {
        let refused = |error: io::Error| {
            let why = format!("start the load's process: {error}");
            Refusal::cannot("prepare", "fork", why, "")
        };
        let mut command = Command::new(this_binary().map_err(refused)?);
        command.arg(ENTRY).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().map_err(refused)?;
        let pipes = (process.stdin.take(), process.stdout.take());
        let (Some(mut orders), Some(events)) = pipes else {
            return Err(refused(ErrorKind::BrokenPipe.into()));
        };
        let mut line = serde_json::to_vec(order).map_err(|e| refused(e.into()))?;
        line.push(b'\n');
        orders.write_all(&line).map_err(refused)?;
        let set = fcntl(events.as_fd(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK));
        set.map_err(|errno| refused(errno.into()))?;
        Ok(Load {
            process,
            orders: Some(orders),
            events,
            unread: Vec::new(),
            gone: false,
            state: State::Preparing,
            max_bytes: None,
            counted: Vec::new(),
            asked: 0,
            first: 0,
        })
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// How far it had come at the last look.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Takes in what it has said meanwhile, without waiting.
    pub fn look(&mut self) -> &State {
        let mut buffer = [0; 4_096];
        loop {
            match self.events.read(&mut buffer) {
                Ok(0) => {
                    self.gone = true;
                    break;
                }
                Ok(bytes) => self.unread.extend(&buffer[..bytes]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        while let Some(end) = self.unread.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            if let Ok(said) = serde_json::from_slice(&line) {
                self.take(said);
            }
        }
        if self.gone && matches!(self.state, State::Preparing | State::Ready(_)) {
            self.state = State::Failed("the load's process ended without a word".to_owned());
        }
        &self.state
    }

    fn take(&mut self, said: Said) {
        match said {
            Said::Ready { max_bytes } => {
                self.max_bytes = Some(max_bytes);
                self.state = State::Ready(max_bytes);
            }
            Said::Counted(report) => self.counted.push(report),
            Said::Failed { message, .. } => self.state = State::Failed(message),
            Said::Ended { left } => self.state = State::Ended(left),
        }
    }

    /// The run begins now: what was done before is none of its load.
    pub fn begin(&mut self) {
        self.first = self.asked;
        self.count();
    }

    /// Asks for its counters; the answer is there at some later look.
    fn count(&mut self) {
        if let Some(orders) = &mut self.orders {
            self.asked += 1;
            // A load that is gone is noticed by the end of what it says.
            let _ = orders.write_all(b"count\n");
        }
    }

    /// Counts for the last time, and lets it end.
    pub fn close(&mut self) {
        self.count();
        self.orders = None;
    }

    /// Waits until it says something, ends or a signal arrives, but not longer than `at_most`.
    pub fn listen(&self, at_most: Duration) {
        // Once the pipe is at its end poll returns at once: the process itself is gone a moment later.
        let at_most = if self.gone { at_most.min(DYING_LOOK) } else { at_most };
        let mut fds = [PollFd::new(self.events.as_fd(), PollFlags::POLLIN)];
        let waited_on = if self.gone { &mut fds[..0] } else { &mut fds[..] };
        // Rounded up, so that the last millisecond is not spent in a busy loop.
        let patience = PollTimeout::try_from(at_most + Duration::from_millis(1));
        // A signal that interrupts it is its owner's to look at.
        let _ = poll(waited_on, patience.unwrap_or(PollTimeout::MAX));
    }

    /// Whether its process has ended.
    pub fn is_over(&mut self) -> bool {
        self.look();
        !matches!(self.process.try_wait(), Ok(None))
    }

    /// Closes it and waits, but only so long; whether it is over.
    pub fn wait(&mut self, patience: Duration) -> bool {
        if self.orders.is_some() {
            self.close();
        }
        let deadline = Instant::now() + patience;
        while !self.is_over() && Instant::now() < deadline {
            self.listen(deadline.saturating_duration_since(Instant::now()));
        }
        let over = self.is_over();
        // What it said between the last look and its end.
        self.look();
        over
    }

    /// The most bytes that its files held at once, once it was ready.
    pub fn max_bytes(&self) -> Option<u64> {
        self.max_bytes
    }

    /// What it did from [`Load::begin`] to the end.
    pub fn report(&self) -> Option<LoadReport> {
        let (first, last) = self.counted.get(self.first).zip(self.counted.last())?;
        Some(between(first, last))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.wait(LAST_WAIT);
    }
}
