//! This binary as a child, so that what hangs hangs alone, and the signals that end the wait for one.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::refusal::{Refusal, exit};

/// The running binary, also where its file has been replaced since.
const THIS_BINARY: &str = "/proc/self/exe";
/// The end of a child and a signal come by two ways, and the standard library waits for one. A round takes
/// seconds and is timed inside the child, so that this lengthens the whole and no figure.
const LOOK: Duration = Duration::from_millis(10);
/// A terminal interrupts parent and child at once; a child that only its parent was told of is told after this.
const TELL_AFTER: Duration = Duration::from_millis(150);
/// `check` ends within a second of a signal; one that does not is left.
const LEAVE_AFTER: Duration = Duration::from_secs(3);

/// A path that starts this program anew.
pub fn this_binary() -> io::Result<PathBuf> {
    match std::fs::exists(THIS_BINARY) {
        Ok(true) => Ok(PathBuf::from(THIS_BINARY)),
        _ => std::env::current_exe(),
    }
}

/// Signals of this process, and whether one has come.
#[derive(Clone, Debug)]
pub struct Waiting {
    arrived: Arc<AtomicUsize>,
}

impl Waiting {
    /// Takes both signals over.
    ///
    /// # Errors
    /// Where that is refused.
    pub fn start() -> Result<Waiting, Refusal> {
        let arrived = Arc::new(AtomicUsize::new(0));
        for (signal, code) in [(SIGINT, exit::INTERRUPTED), (SIGTERM, exit::TERMINATED)] {
            let registered = flag::register_usize(signal, Arc::clone(&arrived), code as usize);
            registered.map_err(|error| {
                Refusal::cannot("prepare", "sigaction", format!("take over signals: {error}"), "")
            })?;
        }
        Ok(Waiting { arrived })
    }

    /// The exit code of the signal that has come.
    pub fn signal(&self) -> Option<i32> {
        match self.arrived.load(Ordering::Relaxed) {
            0 => None,
            code => i32::try_from(code).ok(),
        }
    }
}

/// How a child ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// Its exit code; absent where a signal killed it, or where it had to be left.
    pub code: Option<i32>,
    /// What it wrote to standard output, where that was wanted.
    pub output: Vec<u8>,
}

/// A child that runs.
#[derive(Debug)]
pub struct Program(Child);

impl Program {
    /// Starts this binary with `args`. It ends when this process does, however that ends.
    ///
    /// # Errors
    /// Where no process can be had.
    pub fn start(args: &[OsString], heard: bool) -> Result<Program, Refusal> {
        let refused = |error: io::Error| {
            Refusal::cannot("prepare", "fork", format!("start synctail: {error}"), "")
        };
        let mut command = Command::new(this_binary().map_err(refused)?);
        command.args(args).stdin(Stdio::null()).stderr(Stdio::null());
        command.stdout(if heard { Stdio::piped() } else { Stdio::null() });
        Ok(Program(command.spawn().map_err(refused)?))
    }

    /// The same with the terminal of this process, for a question and its answer.
    ///
    /// # Errors
    /// Where no process can be had.
    pub fn start_asking(args: &[OsString]) -> Result<Program, Refusal> {
        let refused = |error: io::Error| {
            Refusal::cannot("prepare", "fork", format!("start synctail: {error}"), "")
        };
        let mut command = Command::new(this_binary().map_err(refused)?);
        Ok(Program(command.args(args).stdout(Stdio::piped()).spawn().map_err(refused)?))
    }

    /// Waits for its end; a signal to this process ends it.
    pub fn wait(mut self, waiting: &Waiting) -> Ended {
        // Read on the side: an answer that is longer than a pipe must not block it.
        let reader = self.0.stdout.take().map(|mut pipe| {
            std::thread::spawn(move || {
                let mut output = Vec::new();
                pipe.read_to_end(&mut output).map(|_| output)
            })
        });
        let mut signalled: Option<Instant> = None;
        let mut told = false;
        let code = loop {
            match self.0.try_wait() {
                Ok(Some(status)) => break status.code(),
                Err(_) => break None,
                Ok(None) => {}
            }
            if waiting.signal().is_some() {
                let since = signalled.get_or_insert_with(Instant::now).elapsed();
                if since > LEAVE_AFTER {
                    return Ended::default();
                }
                if since > TELL_AFTER && !told {
                    told = true;
                    let _ = kill(Pid::from_raw(self.0.id() as i32), Signal::SIGTERM);
                }
            }
            std::thread::sleep(LOOK);
        };
        let output = reader.and_then(|reader| reader.join().ok()?.ok()).unwrap_or_default();
        Ended { code, output }
    }
}

/// Asks the kernel to end this process when `parent` does. A parent that is gone already will not.
pub fn end_with(parent: i32) {
    #[cfg(target_os = "linux")]
    {
        let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGTERM);
        if nix::unistd::getppid().as_raw() != parent {
            let _ = kill(Pid::this(), Signal::SIGTERM);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
}
