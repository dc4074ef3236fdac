//! The real binary: how it is started, and what came of it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use super::Outcome;

/// Longer than any run that a test asks for, even on a busy machine; what takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command line of the binary, not started yet.
#[derive(Debug)]
pub struct Cmd {
    wrapper: Vec<OsString>,
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(&'static str, String)>,
    dir: Option<PathBuf>,
    own_group: bool,
    stdout: Option<File>,
    stderr: Option<File>,
}

impl Cmd {
    /// `synctail` with nothing else.
    pub fn bare() -> Cmd {
        Cmd {
            wrapper: Vec::new(),
            program: env!("CARGO_BIN_EXE_synctail").into(),
            args: Vec::new(),
            env: Vec::new(),
            dir: None,
            own_group: false,
            stdout: None,
            stderr: None,
        }
    }

    /// `synctail check PATH`.
    pub fn check(path: impl AsRef<Path>) -> Cmd {
        Cmd::bare().arg("check").arg(path.as_ref())
    }

    /// `synctail check PATH --format json`.
    pub fn check_json(path: impl AsRef<Path>) -> Cmd {
        Cmd::check(path).args("--format json")
    }

    /// One more argument, whatever bytes it has.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Cmd {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// More arguments, separated by spaces.
    pub fn args(self, text: &str) -> Cmd {
        text.split_whitespace().fold(self, |cmd, arg| cmd.arg(arg))
    }

    /// Lets another program start it, such as `prlimit --fsize=10240`.
    pub fn under(mut self, wrapper: &str) -> Cmd {
        self.wrapper.extend(wrapper.split_whitespace().map(OsString::from));
        self
    }

    /// Lets a shell start it with a redirection such as `>&-`.
    pub fn redirected(mut self, redirection: &str) -> Cmd {
        let script = format!("exec \"$@\" {redirection}");
        self.wrapper.extend(["sh", "-c", &script, "sh"].map(OsString::from));
        self
    }

    /// In a process group of its own, as a shell starts it.
    pub fn in_own_group(mut self) -> Cmd {
        self.own_group = true;
        self
    }

    /// From this directory.
    pub fn in_dir(mut self, dir: &Path) -> Cmd {
        self.dir = Some(dir.to_owned());
        self
    }

    /// The binary by another path.
    pub fn program(mut self, program: &Path) -> Cmd {
        self.program = program.into();
        self
    }

    /// One environment variable.
    pub fn env(mut self, name: &'static str, value: &str) -> Cmd {
        self.env.push((name, value.to_owned()));
        self
    }

    /// Standard output goes there and is not seen by the test.
    pub fn stdout_to(mut self, file: File) -> Cmd {
        self.stdout = Some(file);
        self
    }

    /// Standard error goes there and is not seen by the test.
    pub fn stderr_to(mut self, file: File) -> Cmd {
        self.stderr = Some(file);
        self
    }

    /// Starts it.
    pub fn start(self) -> Running {
        let mut line = self.wrapper;
        line.push(self.program);
        line.extend(self.args);
        let shown = line.iter().map(|arg| arg.to_string_lossy().into_owned());
        let shown = shown.collect::<Vec<_>>().join(" ");
        let mut command = Command::new(&line[0]);
        let piped = |file: Option<File>| file.map_or_else(Stdio::piped, Stdio::from);
        command.args(&line[1..]).envs(self.env).stdin(Stdio::null());
        if let Some(dir) = self.dir {
            command.current_dir(dir);
        }
        if self.own_group {
            command.process_group(0);
        }
        command.stdout(piped(self.stdout)).stderr(piped(self.stderr));
        let child = command.spawn().unwrap_or_else(|error| panic!("{shown}: {error}"));
        let pid = Pid::from_raw(child.id() as i32);
        // A thread reads both pipes to their ends, so that neither can fill up and block the program.
        let (sender, ended) = channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        Running { pid, shown, ended, over: false }
    }

    /// Starts it and waits for its end.
    pub fn run(self) -> Outcome {
        self.start().wait()
    }
}

/// A started command; killed where a test ends before it.
#[derive(Debug)]
pub struct Running {
    pid: Pid,
    shown: String,
    ended: Receiver<std::io::Result<Output>>,
    over: bool,
}

impl Running {
    /// The process that was started.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// Sends a signal; nothing happens where the process has ended.
    pub fn signal(&self, signal: Signal) {
        let _ = kill(self.pid, signal);
    }

    /// Sends a signal to every process of its own group, as a terminal does.
    pub fn signal_group(&self, signal: Signal) {
        let _ = killpg(self.pid, signal);
    }

    /// Waits for the end.
    pub fn wait(mut self) -> Outcome {
        let ended = self.wait_for(PATIENCE);
        ended.unwrap_or_else(|| panic!("{}: not over after {PATIENCE:?}", self.shown))
    }

    /// Waits for the end, but no longer than `patience`.
    pub fn wait_for(&mut self, patience: Duration) -> Option<Outcome> {
        let output = match self.ended.recv_timeout(patience) {
            Ok(output) => output.unwrap_or_else(|error| panic!("{}: {error}", self.shown)),
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => panic!("{}: nobody waited", self.shown),
        };
        self.over = true;
        Some(Outcome {
            shown: self.shown.clone(),
            code: output.status.code(),
            signal: output.status.signal(),
            stdout: output.stdout,
            stderr: output.stderr,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.over {
            self.signal(Signal::SIGKILL);
        }
    }
}
