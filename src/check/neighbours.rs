//! The load beside a run: there before its first pair, gone after its last.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::observe::finding;
use crate::child;
use crate::human;
use crate::load::{self, Load, State, Work};
use crate::record::{Finding, LoadPlan, LoadReport, Severity};
use crate::refusal::Refusal;
use crate::resolve::LoadRequest;
use crate::supervise::Ear;

/// How long a load may take to end where nothing hurries; after a signal the rest of a second.
const END_TIME: Duration = Duration::from_secs(10);
const HURRY: Duration = Duration::from_millis(300);
/// The ear's signals are looked at between two waits for the load.
const LOOK: Duration = Duration::from_millis(10);

/// The load of one run.
#[derive(Debug)]
pub struct Neighbours {
    load: Load,
    plan: LoadPlan,
    started: Instant,
    /// The run's plan, until the load is there.
    waiting: Option<child::Order>,
    over: bool,
}

impl Neighbours {
    /// Starts them, at `measured` if no other place was asked for. `order` waits until they are there.
    ///
    /// # Errors
    /// Where there is no process to be had.
    pub fn start(
        request: &LoadRequest,
        measured: &[u8],
        seed: u64,
        order: child::Order,
    ) -> Result<Neighbours, Refusal> {
        let measured = || PathBuf::from(OsString::from_vec(measured.to_vec()));
        let path = request.path.clone().unwrap_or_else(measured);
        let plan = LoadPlan {
            mix: request.mix.name().to_owned(),
            path: path.to_string_lossy().into_owned(),
            neighbours: request.mix.neighbours(),
            max_bytes: None,
        };
        let load = Load::start(&load::Order {
            path: path.as_os_str().as_bytes().to_vec(),
            clean: request.clean,
            work: Work::Neighbours(request.mix),
            seed,
        })?;
        let started = Instant::now();
        Ok(Neighbours { load, plan, started, waiting: Some(order), over: false })
    }

    /// The run's plan, when the load is there; once.
    ///
    /// # Errors
    /// Where it could not begin, or did not within the time-out of the run.
    pub fn look(&mut self, timeout_ns: u64) -> Result<Option<child::Order>, Refusal> {
        let remedy = "give --load-path, or measure without --load";
        match self.load.look() {
            _ if self.waiting.is_none() => Ok(None),
            State::Ready(_) => Ok(self.waiting.take()),
            State::Failed(why) => {
                let text = format!("--load {}: {why}", self.plan.mix);
                Err(Refusal::cannot("prepare", "load", text, remedy))
            }
            State::Preparing if self.started.elapsed() > Duration::from_nanos(timeout_ns) => {
                let (mix, limit) = (&self.plan.mix, human::time(timeout_ns));
                let text = format!("--load {mix}: not ready within --timeout {limit}");
                Err(Refusal::cannot("prepare", "load", text, remedy))
            }
            State::Preparing | State::Ended(_) => Ok(None),
        }
    }

    /// Whether the run's plan waits for them.
    pub fn hold_back(&self) -> bool {
        self.waiting.is_some()
    }

    /// The run's first pair is near.
    pub fn begin(&mut self) {
        self.load.begin();
    }

    /// The run's last pair is over.
    pub fn stop(&mut self) {
        self.load.close();
    }

    /// Waits for their end, but not for ever; a signal that arrives meanwhile hurries it.
    pub fn finish(&mut self, ear: &mut Ear, give_up: Option<Instant>) {
        self.load.close();
        let hurried = Instant::now() + HURRY;
        let mut deadline = give_up.map_or(Instant::now() + END_TIME, |_| hurried);
        while !self.load.is_over() && Instant::now() < deadline {
            self.load.listen(LOOK);
            if ear.signal().is_some() {
                deadline = deadline.min(Instant::now() + HURRY);
            }
        }
        self.over = self.load.wait(Duration::ZERO);
    }

    /// What was asked for, with the room that it took.
    pub fn plan(&self) -> LoadPlan {
        LoadPlan { max_bytes: self.load.max_bytes(), ..self.plan.clone() }
    }

    /// What they did during the run.
    pub fn report(&self) -> Option<LoadReport> {
        self.load.report()
    }

    /// What went wrong with them.
    pub fn findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        let failures = self.report().map(|report| report.failures).unwrap_or_default();
        if let Some(first) = failures.first() {
            let text = format!("the load was not what it should be: {first}");
            found.push(finding("load_failed", Severity::Warning, text, failures.join("; ")));
        }
        let place = &self.plan.path;
        let (code, text, evidence) = match self.load.state() {
            State::Failed(why) => ("load_failed", format!("the load failed: {why}"), place.clone()),
            State::Ended(Some(left)) => {
                let text = format!("files of the load could not be removed: {left}");
                ("load_left", text, place.clone())
            }
            _ if !self.over => {
                let text = format!(
                    "the load still waits for the storage; it removes its files in {place} when \
                     that answers"
                );
                ("load_left", text, format!("pid {}", self.load.pid()))
            }
            _ => return found,
        };
        found.push(finding(code, Severity::Warning, text, evidence));
        found
    }
}
