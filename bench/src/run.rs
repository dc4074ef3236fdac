//! A run: all workers under one plan, and the thread that looks after them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, Scope};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use synctail_sys::Clock;

use crate::gate::Gate;
use crate::lane::MemoryPreparer;
use crate::target::Target;
use crate::worker::{Shared, WorkerReport};
use crate::{Board, Cause, Fault, Plan, Schedule};

/// How a run ended; its samples are on the board.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunReport {
    /// The workers that reached their end, in order.
    pub workers: Vec<WorkerReport>,
    /// The first fault, which stopped all of them.
    pub fault: Option<Fault>,
}

/// What the names of the workers' threads begin with; the worker's number follows. The kernel keeps 15 bytes.
pub const THREAD_NAME: &str = "synctail-";

/// A loop needs a few hundred bytes of stack; a thousand workers must not reserve gigabytes.
const STACK_BYTES: usize = 256 << 10;
/// While a stop must be passed on to workers at the gate, or memory be touched ahead of them.
const BUSY_INTERVAL: Duration = Duration::from_millis(5);
/// Otherwise: each wake-up takes a CPU from a worker for some microseconds.
const IDLE_INTERVAL: Duration = Duration::from_millis(200);

type Outcome = Result<Option<WorkerReport>, Fault>;

/// Runs `plan` against `target` and returns when every worker has ended. `board` must have the plan's
/// workers, depth and samples; stopping it ends the run after the pairs at hand.
pub fn run<C: Clock, T: Target>(plan: &Plan, clock: &C, target: &T, board: Board) -> RunReport {
    let gate = Gate::new(plan.workers);
    let shared = Shared { plan, clock, target, board, gate: &gate };
    let preparer = MemoryPreparer::new(board);
    preparer.advance();
    if let Some(rate) = plan.rate {
        board.set_schedule_step(Schedule::step_of(rate, clock.nominal_ticks_per_s()));
    }
    std::thread::scope(|scope| {
        let (sender, outcomes) = channel();
        let mut report = RunReport::default();
        for worker in 0..plan.workers {
            if let Err(fault) = spawn(scope, &shared, worker, sender.clone()) {
                report.fault = Some(fault);
                board.stop();
                break;
            }
        }
        drop(sender);
        look_after(&outcomes, &preparer, &gate, board, &mut report);
        report.workers.sort_by_key(|worker| worker.worker);
        report
    })
}

fn spawn<'scope, 'env, C: Clock, T: Target>(
    scope: &'scope Scope<'scope, 'env>,
    shared: &'scope Shared<'env, C, T>,
    worker: u64,
    outcomes: Sender<Outcome>,
) -> Result<(), Fault> {
    let body = move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| shared.work(worker)));
        let outcome = outcome.unwrap_or_else(|panic| Err(panicked(&*panic, shared.board, worker)));
        // The receiver outlives every sender: the run waits for all of them.
        let _ = outcomes.send(outcome);
    };
    let thread = Builder::new().name(format!("{THREAD_NAME}{worker}")).stack_size(STACK_BYTES);
    let spawned = thread.spawn_scoped(scope, body);
    spawned.map(drop).map_err(|error| {
        let error = synctail_sys::SysError::new("clone", format!("worker thread {worker}"), &error);
        Fault { stage: crate::Stage::Prepare, ..Fault::from(error) }
    })
}

fn panicked(panic: &(dyn std::any::Any + Send), board: Board, worker: u64) -> Fault {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    let stage = board.control(worker).stage();
    board.leave(worker);
    Fault::of("worker", Cause::Panicked(text.to_owned())).at(stage, worker)
}

fn look_after(
    outcomes: &Receiver<Outcome>,
    preparer: &MemoryPreparer,
    gate: &Gate,
    board: Board,
    report: &mut RunReport,
) {
    loop {
        let more_memory = preparer.advance();
        let before_start = board.start_tick().is_none();
        if before_start && board.is_stopped() {
            gate.release();
        }
        let interval = if more_memory || before_start { BUSY_INTERVAL } else { IDLE_INTERVAL };
        match outcomes.recv_timeout(interval) {
            Ok(Ok(Some(worker))) => report.workers.push(worker),
            Ok(Ok(None)) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Err(fault)) => {
                board.stop();
                report.fault.get_or_insert(fault);
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
