//! The parent's ear: events of the child, signals, and the passing of time, one at a time.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::low_level::{emulate_default_handler, pipe};
use synctail_bench::Board;
use synctail_sys::{Fork, fork};

use crate::child::{self, Aim, Birth, Event};
use crate::clock::TimedClock;
use crate::refusal::{Refusal, exit};

/// What happened next.
#[derive(Debug)]
pub enum Incident {
    /// The child says something.
    Event(Box<Event>),
    /// The child has closed its end: it is gone.
    ChildGone,
    /// A signal, as the exit code it leads to.
    Signal(i32),
    /// Nothing, for as long as the wait was allowed to take.
    Quiet,
}

/// Set once nobody waits for the bytes of [`Signals`] any more. Of the whole process, as signals are.
static OVER: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The last signal that came, and whether [`Signals`] was asked for one and had it.
static CAME: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);
static HEARD: AtomicBool = AtomicBool::new(false);

/// From here on SIGINT and SIGTERM end the process as they do by default, until [`signals_kill`] says
/// otherwise: the run is over, and what is
/// written now may wait for a reader that never comes.
pub fn let_signals_kill() {
    signals_kill(true);
}

/// Whether SIGINT and SIGTERM end the process as they do by default, as while a person is asked.
pub fn signals_kill(kill: bool) {
    OVER.store(kill, Ordering::SeqCst);
}

/// Whether a signal ended the run. One that came when nobody listened any more, before
/// [`let_signals_kill`], kills now.
pub fn signal_was_heard() -> bool {
    let heard = HEARD.load(Ordering::SeqCst);
    if let (false, signal @ 1..) = (heard, CAME.load(Ordering::SeqCst)) {
        // Fails for no signal that was taken over.
        let _ = emulate_default_handler(signal as i32);
    }
    heard
}

/// SIGINT and SIGTERM as bytes, from before the child exists on.
#[derive(Debug)]
pub struct Signals {
    interrupt: UnixStream,
    terminate: UnixStream,
}

impl Signals {
    /// Takes both signals over.
    pub fn take_over() -> io::Result<Signals> {
        let listen = |signal| {
            let (reader, writer) = UnixStream::pair()?;
            reader.set_nonblocking(true)?;
            writer.set_nonblocking(true)?;
            pipe::register(signal, writer)?;
            // Before it asks whether it kills, so that [`signal_was_heard`] misses none that does not.
            flag::register_usize(signal, Arc::clone(&CAME), signal as usize)?;
            flag::register_conditional_default(signal, Arc::clone(&OVER))?;
            Ok::<_, io::Error>(reader)
        };
        Ok(Signals { interrupt: listen(SIGINT)?, terminate: listen(SIGTERM)? })
    }

    fn next(&mut self) -> Option<i32> {
        let mut byte = [0];
        let mut arrived = |stream: &mut UnixStream| {
            let heard = stream.read(&mut byte).is_ok_and(|n| n > 0);
            HEARD.fetch_or(heard, Ordering::SeqCst);
            heard
        };
        if arrived(&mut self.interrupt) {
            Some(exit::INTERRUPTED)
        } else if arrived(&mut self.terminate) {
            Some(exit::TERMINATED)
        } else {
            None
        }
    }
}

/// A child that lives, and the way to it.
#[derive(Debug)]
pub struct Supervised {
    /// Its process id.
    pub pid: i32,
    /// Orders to it; closed, they tell it to end.
    pub orders: PipeWriter,
    /// Its events, and the signals of this process.
    pub ear: Ear,
}

impl Supervised {
    /// Forks the child that touches `aim`.
    ///
    /// # Errors
    /// Where a pipe, the signals or the process cannot be had.
    pub fn start(aim: Aim, board: Board, clock: TimedClock) -> Result<Supervised, Refusal> {
        let failed = |operation: &str, why: String| {
            Refusal::cannot("prepare", operation, format!("{operation}: {why}"), "")
        };
        let io = |operation| move |error: io::Error| failed(operation, error.to_string());
        let signals = Signals::take_over().map_err(io("take over signals"))?;
        let (child_orders, orders) = io::pipe().map_err(io("pipe"))?;
        let (events, child_events) = io::pipe().map_err(io("pipe"))?;
        let pid = match fork().map_err(|e| failed("fork", e.to_string()))? {
            Fork::Parent(pid) => pid,
            Fork::Child => {
                drop((orders, events, signals));
                let (orders, events) = (child_orders, child_events);
                child::live(Birth { aim, board, clock, orders, events });
                // No destructor of the parent's half may run here.
                std::process::exit(0);
            }
        };
        drop((child_orders, child_events));
        Ok(Supervised { pid, orders, ear: Ear::new(events, signals) })
    }
}

/// Turns the signal of a file size limit, which kills by default, into an error of the write that it
/// belongs to, so that a result that does not fit is said. The child ignores it by itself.
pub fn survive_file_size_limit() {
    // The flag is read by nobody: that there is a handler is the point. Where it cannot be installed,
    // everything works but this.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// Waits for whatever comes first.
#[derive(Debug)]
pub struct Ear {
    events: PipeReader,
    signals: Signals,
    unread: Vec<u8>,
    gone: bool,
}

impl Ear {
    /// Listens to the child at the other end of `events`.
    pub fn new(events: PipeReader, signals: Signals) -> Ear {
        Ear { events, signals, unread: Vec::new(), gone: false }
    }

    /// The next incident; [`Incident::Quiet`] after `patience`.
    pub fn next(&mut self, patience: Duration) -> Incident {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(code) = self.signals.next() {
                return Incident::Signal(code);
            }
            if let Some(event) = self.take_line() {
                return Incident::Event(Box::new(event));
            }
            if self.gone {
                return Incident::ChildGone;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Incident::Quiet;
            }
            if self.wait(left) {
                self.read_events();
            }
        }
    }

    /// A signal that has arrived, as the exit code it leads to.
    pub fn signal(&mut self) -> Option<i32> {
        self.signals.next()
    }

    /// Whether the child's pipe has something, or its end.
    fn wait(&self, patience: Duration) -> bool {
        let readable = PollFlags::POLLIN;
        let mut fds = [
            PollFd::new(self.events.as_fd(), readable),
            PollFd::new(self.signals.interrupt.as_fd(), readable),
            PollFd::new(self.signals.terminate.as_fd(), readable),
        ];
        // Rounded up, so that the last millisecond is not spent in a busy loop.
        let patience = PollTimeout::try_from(patience + Duration::from_millis(1));
        match poll(&mut fds, patience.unwrap_or(PollTimeout::MAX)) {
            Ok(count) if count > 0 => fds[0].revents().is_some_and(|flags| !flags.is_empty()),
            // Interrupted by a signal, whose byte is looked at next, or nothing came.
            _ => false,
        }
    }

    fn read_events(&mut self) {
        let mut buffer = [0; 4_096];
        match self.events.read(&mut buffer) {
            Ok(0) | Err(_) => self.gone = true,
            Ok(bytes) => self.unread.extend(&buffer[..bytes]),
        }
    }

    fn take_line(&mut self) -> Option<Event> {
        let end = self.unread.iter().position(|&byte| byte == b'\n')?;
        let line: Vec<u8> = self.unread.drain(..=end).collect();
        serde_json::from_slice(&line).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn events_come_whole_and_in_order_and_then_the_end() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut ear = Ear::new(reader, Signals::take_over().unwrap());
        assert!(matches!(ear.next(Duration::ZERO), Incident::Quiet));
        let line = serde_json::to_string(&Event::Cleaned { left: None }).unwrap();
        write!(writer, "{line}\n{line}").unwrap();
        assert!(matches!(ear.next(Duration::from_secs(5)), Incident::Event(_)));
        assert!(matches!(ear.next(Duration::ZERO), Incident::Quiet));
        writeln!(writer).unwrap();
        assert!(matches!(ear.next(Duration::from_secs(5)), Incident::Event(_)));
        drop(writer);
        assert!(matches!(ear.next(Duration::from_secs(5)), Incident::ChildGone));
    }
}
