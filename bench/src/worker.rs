//! One worker: pin, open, warm up, wait for the others, measure.

use serde::{Deserialize, Serialize};
use synctail_sys::{Clock, pin};

use crate::gate::Gate;
use crate::lane::{Lane, WarmUp};
use crate::loops::{Bounds, Ended, MeasureLoop};
use crate::pace::{Closed, Open};
use crate::target::{DeviceFacts, Target, Visitor};
use crate::{Board, Cause, Control, Fault, Length, Plan, Stage};

/// How a worker's run ended, and on what it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerReport {
    /// From 0.
    pub worker: u64,
    /// The CPU that it was pinned to.
    pub cpu: Option<u64>,
    /// Why it could not be pinned, if it was to be.
    pub pin_errno: Option<i32>,
    /// Whether it ended because its sample memory was full.
    pub samples_full: bool,
    /// io_uring_enter calls of the measured part; 0 without a ring.
    pub enters: u64,
    /// Files made.
    pub segments: u64,
    /// How long the thread was ready to run and waited for a CPU in the measured part.
    pub run_delay_ns: Option<u64>,
    /// What the device turned out to be.
    pub facts: DeviceFacts,
}

/// What all workers of a run share.
#[derive(Debug)]
pub(crate) struct Shared<'a, C, T> {
    pub plan: &'a Plan,
    pub clock: &'a C,
    pub target: &'a T,
    pub board: Board,
    pub gate: &'a Gate,
}

impl<C: Clock, T: Target> Shared<'_, C, T> {
    /// Runs one worker on the calling thread; nothing if the run was stopped before its start.
    pub fn work(&self, worker: u64) -> Result<Option<WorkerReport>, Fault> {
        let control = self.board.control(worker);
        control.enter_stage(Stage::Prepare);
        let pinned = self.pin(worker);
        let steps = Steps {
            shared: self,
            report: WorkerReport {
                worker,
                cpu: pinned.ok().flatten(),
                pin_errno: pinned.err(),
                samples_full: false,
                enters: 0,
                segments: 0,
                run_delay_ns: None,
                facts: DeviceFacts::default(),
            },
        };
        let opened = self.target.open(worker, self.board, self.clock, steps);
        let result = opened.map_err(|fault| fault.at(control.stage(), worker)).and_then(|end| end);
        control.enter_stage(Stage::Idle);
        match result {
            Err(Fault { cause: Cause::Stopped, .. }) => Ok(None),
            other => other,
        }
    }

    fn pin(&self, worker: u64) -> Result<Option<u64>, i32> {
        let cpu = self.plan.cpus.get(worker as usize).copied().flatten();
        cpu.map_or(Ok(None), |cpu| pin(cpu).map(|()| Some(cpu)).map_err(|error| error.errno))
    }
}

struct Steps<'a, 'b, C, T> {
    shared: &'a Shared<'b, C, T>,
    report: WorkerReport,
}

impl<C: Clock, T: Target> Visitor for Steps<'_, '_, C, T> {
    type Output = Result<Option<WorkerReport>, Fault>;

    fn visit<L: MeasureLoop>(self, mut measure: L, facts: DeviceFacts) -> Self::Output {
        let Shared { plan, clock, board, gate, .. } = *self.shared;
        let worker = self.report.worker;
        let control: Control = board.control(worker);
        let stop = board.stop_word();

        control.enter_stage(Stage::Warmup);
        let bounds = Bounds { pairs: plan.warmup, deadline_tick: u64::MAX, stop };
        let warmed = measure.run(clock, &mut WarmUp::new(&board, worker), &bounds, &mut Closed);
        warmed.map_err(|fault| fault.at(Stage::Warmup, worker))?;

        control.enter_stage(Stage::Gate);
        let Some(start_tick) = gate.pass(&board, clock) else { return Ok(None) };
        let (enters_before, delay_before) = (measure.enters(), synctail_sys::run_delay_ns());
        control.enter_stage(Stage::Measure);
        let pairs = plan.pairs_of(worker).unwrap_or(u64::MAX);
        let bounds = Bounds { pairs, deadline_tick: deadline(plan, start_tick, clock), stop };
        let mut lane = Lane::new(&board, worker);
        let ended = match board.schedule() {
            None => measure.run(clock, &mut lane, &bounds, &mut Closed),
            Some(schedule) => {
                synctail_sys::sleep_precisely();
                measure.run(clock, &mut lane, &bounds, &mut Open::new(schedule, worker))
            }
        };
        let ended = ended.map_err(|fault| fault.at(Stage::Measure, worker))?;
        Ok(Some(WorkerReport {
            samples_full: ended == Ended::SamplesFull && lane.is_full(),
            enters: measure.enters() - enters_before,
            segments: measure.segments(),
            run_delay_ns: synctail_sys::run_delay_ns()
                .zip(delay_before)
                .map(|(after, before)| after.saturating_sub(before)),
            facts,
            ..self.report
        }))
    }
}

/// No pair begins at or after it.
fn deadline(plan: &Plan, start_tick: u64, clock: &impl Clock) -> u64 {
    match plan.length {
        Length::Iterations(_) => u64::MAX,
        Length::DurationNs(ns) => {
            let ticks = ns as f64 * clock.nominal_ticks_per_s() / 1e9;
            start_tick.saturating_add(ticks as u64)
        }
    }
}
