//! The writer: numbered records until the power goes, each acknowledged only after its barrier returned.

use std::ffi::OsString;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use synctail_sys::{DirHandle, SysError};

use super::block::{Identity, encode};
use super::client::{Keeper, Line};
use super::files::{Files, sync_directory};
use super::plan::{Plan, Worker};
use super::wire::{Acknowledged, Request};
use crate::program::Waiting;

/// How often somebody looks at the clock and at signals.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What the workers share.
#[derive(Debug, Default)]
pub struct Progress {
    /// Records that are acknowledged.
    pub acknowledged: AtomicU64,
    stopped: AtomicBool,
    failure: Mutex<Option<Failure>>,
}

/// Why it ended early.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The storage refused something.
    Storage(SysError),
    /// The acknowledgements cannot be kept any more.
    Keeper(String),
}

/// How it ended.
#[derive(Debug)]
pub struct Written {
    /// Records that were acknowledged.
    pub acknowledged: u64,
    /// What failed first, if anything did.
    pub failure: Option<Failure>,
    /// Exit code of the signal that stopped it, if one did.
    pub signal: Option<i32>,
}

impl Progress {
    fn fail(&self, failure: Failure) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn goes_on(&self) -> bool {
        !self.stopped.load(Ordering::Relaxed)
    }
}

/// Makes the run's directory, durable.
///
/// # Errors
/// Where it exists or cannot be made.
pub fn make_directory(path: &std::path::Path, name: &str) -> Result<DirHandle, SysError> {
    let parent = DirHandle::open(path)?;
    let dir = parent.make_dir(&OsString::from(name))?;
    sync_directory(&parent)?;
    Ok(dir)
}

/// Writes until `duration` is over, a signal arrives or something fails; `look` is called now and then.
pub fn write(
    plan: &Plan,
    dir: &DirHandle,
    keeper: &Keeper,
    waiting: &Waiting,
    duration: Option<Duration>,
    mut look: impl FnMut(&Progress),
) -> Written {
    let progress = Progress::default();
    let began = Instant::now();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..plan.workers.len())
            .map(|number| {
                let (plan, progress) = (plan, &progress);
                scope.spawn(move || {
                    if let Err(failure) = work(plan, number, dir, keeper, progress) {
                        progress.fail(failure);
                    }
                })
            })
            .collect();
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            let over = duration.is_some_and(|duration| began.elapsed() >= duration);
            if over || waiting.signal().is_some() {
                progress.stopped.store(true, Ordering::Relaxed);
            }
            look(&progress);
            thread::sleep(LOOK_EVERY);
        }
    });
    Written {
        acknowledged: progress.acknowledged.load(Ordering::Relaxed),
        failure: progress.failure.into_inner().unwrap_or_else(PoisonError::into_inner),
        signal: waiting.signal(),
    }
}

fn work(
    plan: &Plan,
    number: usize,
    dir: &DirHandle,
    keeper: &Keeper,
    progress: &Progress,
) -> Result<(), Failure> {
    let kept = |error: io::Error| Failure::Keeper(error.to_string());
    let mut line: Line = keeper.open().map_err(kept)?;
    let worker: &Worker = &plan.workers[number];
    let mut files = Files::new(dir, number, worker.clone());
    let run = plan.run_number().unwrap_or_default();
    for sequence in 0.. {
        if !progress.goes_on() {
            break;
        }
        let identity = Identity { run, worker: number as u32, sequence };
        let block = encode(identity, worker.block_size_bytes as usize);
        files.put(sequence, &block).map_err(Failure::Storage)?;
        let acknowledged = Acknowledged { run: plan.run.clone(), worker: number, sequence };
        line.store(&Request::Acknowledge(acknowledged), || progress.goes_on()).map_err(kept)?;
        progress.acknowledged.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
