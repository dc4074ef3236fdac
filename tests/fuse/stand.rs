//! A rig with the program run against it.

use std::path::Path;
use std::sync::{MutexGuard, OnceLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;
use synctail_rig::{Entry, Outcome, Rig, Script};

use crate::support::{Cmd, Folder, Running, heavy, require, rings_are_used};

/// Discarded pairs per worker; operations of the measured part come after so many.
pub const WARMUP: u64 = 5;
/// Bytes of a write.
pub const BLOCK_BYTES: u64 = 4_096;
/// Handler threads: more than operations in flight in any of these tests.
const HANDLERS: usize = 8;
/// How long anything may take that ends by itself.
const PATIENCE: Duration = Duration::from_secs(40);

/// An arm at a depth.
#[derive(Clone, Copy, Debug)]
pub struct Arm {
    pub name: &'static str,
    pub depth: u64,
}

/// Every engine that reaches the rig's fsync, each ring also with several chains in flight.
pub const ARMS: [Arm; 10] = [
    Arm { name: "syscall/fdatasync", depth: 1 },
    Arm { name: "syscall/fsync", depth: 1 },
    Arm { name: "syscall/dsync", depth: 1 },
    Arm { name: "syscall/o_dsync", depth: 1 },
    Arm { name: "uring/fdatasync", depth: 1 },
    Arm { name: "uring/fdatasync", depth: 4 },
    Arm { name: "uring/dsync", depth: 1 },
    Arm { name: "uring/dsync", depth: 4 },
    Arm { name: "uring-linked/fdatasync", depth: 1 },
    Arm { name: "uring-linked/fdatasync", depth: 4 },
];

impl Arm {
    /// Whether the ring takes it.
    pub fn uses_ring(self) -> bool {
        self.name.starts_with("uring")
    }

    /// Whether one write is all there is, and the kernel flushes within it.
    pub fn is_single_call(self) -> bool {
        self.name.ends_with("dsync")
    }

    /// The call that carries an error of the write.
    pub fn write_call(self) -> &'static str {
        match self.name {
            "syscall/dsync" => "pwritev2",
            _ if self.uses_ring() => "io_uring write",
            _ => "pwrite",
        }
    }

    /// The call that carries an error of the flush.
    pub fn barrier_call(self) -> &'static str {
        match self.name {
            _ if self.is_single_call() => self.write_call(),
            _ if self.uses_ring() => "io_uring fsync",
            "syscall/fsync" => "fsync",
            _ => "fdatasync",
        }
    }
}

/// The arms that can run here.
pub fn arms() -> impl Iterator<Item = Arm> {
    static RING: OnceLock<bool> = OnceLock::new();
    let has_ring = *RING.get_or_init(|| {
        let _rings = rings_are_used();
        let folder = Folder::in_memory();
        let probe =
            Cmd::check(folder.path()).args("--arm uring/fdatasync --iters 1 --warmup 1").run();
        let refused = probe.stderr_text().contains("io_uring_setup");
        if refused {
            require("uring", probe.stderr_text().trim());
        }
        !refused
    });
    ARMS.into_iter().filter(move |arm| has_ring || !arm.uses_ring())
}

/// A mounted rig. It goes before the locks do.
pub struct Stand {
    pub rig: Rig,
    _rings: RwLockReadGuard<'static, ()>,
    _alone: Option<MutexGuard<'static, ()>>,
}

impl Stand {
    /// A rig under `script`; nothing, with a reason printed, where nothing can be mounted.
    pub fn new(script: &str) -> Option<Stand> {
        Stand::mount(script, None)
    }

    /// The same for runs whose times are compared: without other such tests beside it.
    pub fn alone(script: &str) -> Option<Stand> {
        Stand::mount(script, Some(heavy()))
    }

    fn mount(script: &str, alone: Option<MutexGuard<'static, ()>>) -> Option<Stand> {
        let script = Script::parse(script).unwrap();
        match Rig::mount(&script, HANDLERS) {
            Ok(rig) => Some(Stand { rig, _rings: rings_are_used(), _alone: alone }),
            Err(error) => {
                require("fuse", &format!("mount: {error}"));
                None
            }
        }
    }

    /// Starts `synctail check` on the rig, with JSON on standard output.
    pub fn start(&self, arm: Arm, args: &str) -> Run {
        let Arm { name, depth } = arm;
        let plan = format!("--arm {name} --depth {depth} --warmup {WARMUP} {args}");
        let command = Cmd::check_json(self.rig.path()).args(&plan);
        Run { started: Instant::now(), running: command.start() }
    }

    /// Runs it to its end.
    pub fn check(&self, arm: Arm, args: &str) -> Ended {
        self.start(arm, args).wait()
    }

    /// Answered and pending operations on measured files.
    pub fn entries(&self, of: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        let entries = self.rig.ledger().entries();
        entries.into_iter().filter(|entry| entry.is_measured() && of(entry)).collect()
    }

    /// Barriers that arrived.
    pub fn barriers(&self) -> Vec<Entry> {
        self.entries(|entry| entry.kind.is_barrier())
    }

    /// Names of work directories that are there.
    pub fn work_directories(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.rig.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Waits until the `n`-th of these operations (from 1) is in the rig's hands and not answered, which
    /// is where the script lets it hang.
    pub fn wait_for_hang(&self, n: u64, of: impl Fn(&Entry) -> bool) {
        until("an operation hangs", || {
            let entries = self.entries(&of);
            let last = entries.last().map(|entry| entry.outcome);
            entries.len() as u64 == n && last == Some(Outcome::Pending)
        });
    }
}

/// Waits for a condition, for a bounded time.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process is there and not just waiting to be reaped by whoever inherited it.
pub fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    stat.is_ok_and(|text| {
        let state = text.rsplit(") ").next().and_then(|rest| rest.chars().next());
        !matches!(state, Some('Z' | 'X'))
    })
}

/// The program while it runs.
pub struct Run {
    started: Instant,
    running: Running,
}

impl Run {
    /// Sends a signal and says when.
    pub fn signal(&self, signal: Signal) -> Instant {
        let now = Instant::now();
        self.running.signal(signal);
        now
    }

    /// Waits for its end.
    pub fn wait(self) -> Ended {
        let outcome = self.running.wait();
        let at = Instant::now();
        let stderr = outcome.stderr_text().to_owned();
        // One document and nothing after it, however the run ended.
        Ended { code: outcome.code, json: outcome.json(), stderr, at, took: at - self.started }
    }
}

/// What came of a run.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub json: Value,
    pub stderr: String,
    pub at: Instant,
    pub took: Duration,
}

impl Ended {
    /// A value of the document by its path, such as `/error/errno_name`.
    pub fn at(&self, pointer: &str) -> &Value {
        self.json.pointer(pointer).unwrap_or(&Value::Null)
    }

    /// Completed pairs; the counter and the distribution must agree.
    pub fn pairs(&self) -> u64 {
        let pairs = self.at("/counters/pairs").as_u64().unwrap();
        let counted = self.at("/distributions/pooled/total/count").as_u64().unwrap_or(0);
        assert_eq!(pairs, counted, "{:#}", self.json);
        pairs
    }

    /// The child that had to be left, as standard error names it.
    pub fn child_left(&self) -> Option<i32> {
        let rest = self.stderr.split("left child process ").nth(1)?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }
}
