//! Serving the kernel: each operation is counted, delayed or refused by the script, done, and noted.

mod answer;
mod control;
mod fuse;
mod work;

pub use fuse::Served;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use fuser::{INodeNo, Notifier};
use nix::errno::Errno;

use answer::Answer;

use crate::gate::Gate;
use crate::ledger::{Entry, Kind, Ledger, Outcome, is_measured};
use crate::schedule::{Decision, Schedule};
use crate::script::{Effect, FsyncMode, Script};
use crate::tree::{Owner, Tree};
use crate::wait::{monotonic_ns, wait_until};

/// What all handlers share.
#[derive(Debug)]
pub struct Shared {
    tree: Mutex<Tree>,
    /// Everything that was served.
    pub ledger: Ledger,
    /// What holds operations back.
    pub gate: Gate,
    /// Tells the kernel what it must not believe any more; there once it is mounted.
    pub notifier: OnceLock<Notifier>,
    schedules: Schedules,
    fsync_mode: FsyncMode,
    direct_io: bool,
}

#[derive(Debug)]
struct Schedules {
    fsync: Schedule,
    write: Schedule,
    open: Schedule,
    statfs: Schedule,
    unlink: Schedule,
}

/// An operation as it arrived.
#[derive(Debug)]
struct Call {
    kind: Kind,
    file: Arc<str>,
    offset: Option<u64>,
    length: Option<u64>,
}

impl Call {
    fn of(kind: Kind, file: impl Into<Arc<str>>) -> Call {
        Call { kind, file: file.into(), offset: None, length: None }
    }

    fn at(self, offset: u64, length: u64) -> Call {
        Call { offset: Some(offset), length: Some(length), ..self }
    }
}

impl Shared {
    /// An empty file system under `script`, with `seed` for what is drawn.
    pub fn new(script: &Script, seed: u64, owner: Owner) -> Shared {
        let schedule =
            |rules: &crate::script::Rules, kind| Schedule::new(rules.clone(), seed, kind);
        Shared {
            tree: Mutex::new(Tree::new(owner)),
            ledger: Ledger::default(),
            gate: Gate::default(),
            notifier: OnceLock::new(),
            schedules: Schedules {
                fsync: schedule(&script.fsync, 0),
                write: schedule(&script.write, 1),
                open: schedule(&script.open, 2),
                statfs: schedule(&script.statfs, 3),
                unlink: schedule(&script.unlink, 4),
            },
            fsync_mode: script.fsync_mode,
            direct_io: script.direct_io,
        }
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn schedule(&self, kind: Kind) -> Option<&Schedule> {
        let schedules = &self.schedules;
        match kind {
            Kind::Fsync | Kind::Fdatasync => Some(&schedules.fsync),
            Kind::Write => Some(&schedules.write),
            Kind::Open | Kind::Create => Some(&schedules.open),
            Kind::Statfs => Some(&schedules.statfs),
            Kind::Unlink => Some(&schedules.unlink),
            _ => None,
        }
    }

    /// Files lose what no honest barrier has made durable, and the kernel what it has cached of them.
    pub fn cut_power(&self) {
        let files = self.tree().cut_power();
        for number in files {
            if let Some(notifier) = self.notifier.get() {
                // ENOENT where the kernel has nothing cached.
                let _ = notifier.inval_inode(INodeNo(number), 0, 0);
            }
        }
    }

    /// Serves one operation. `work` does it, given how many bytes a short write may take, and says how
    /// many bytes it moved; `answer` tells the kernel.
    ///
    /// A delay is waited for here, a hang on a thread of its own: hangs may be many and must not use up
    /// the handlers.
    fn conduct<T: 'static>(
        self: &Arc<Shared>,
        call: Call,
        work: impl FnOnce(&Shared, Option<u64>) -> Result<(T, u64), Errno> + Send + 'static,
        answer: impl Answer<T>,
    ) {
        let arrived_ns = monotonic_ns();
        let Call { kind, file, offset, length } = call;
        let schedule = self.schedule(kind).filter(|_| is_measured(&file));
        let decision = schedule.map_or(Decision::PLAIN, |s| s.decide(&file, arrived_ns));
        let token = self.ledger.arrive(Entry {
            kind,
            file,
            offset,
            length,
            arrived_ns,
            replied_ns: None,
            outcome: Outcome::Pending,
        });
        let shared = Arc::clone(self);
        let finish = move |effect: Option<Effect>| {
            let result = match effect {
                Some(Effect::Error(name)) => Err(name.0),
                Some(Effect::Short(bytes)) => work(&shared, Some(bytes)),
                Some(Effect::Hang(_)) | None => work(&shared, None),
            };
            let outcome = match &result {
                Ok((_, bytes)) => Outcome::Done(*bytes),
                Err(errno) => Outcome::Failed(*errno),
            };
            shared.ledger.reply(token, monotonic_ns(), outcome);
            answer.give(result.map(|(value, _)| value).map_err(kernel_errno));
        };
        if decision.delay_ns > 0 {
            wait_until(&self.gate, arrived_ns + decision.delay_ns);
        }
        match decision.effect {
            Some(Effect::Hang(hang)) => {
                let shared = Arc::clone(self);
                std::thread::spawn(move || {
                    shared.gate.hang(hang);
                    finish(None);
                });
            }
            effect => finish(effect),
        }
    }
}

fn kernel_errno(errno: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(errno as i32)
}
