//! The procedure itself: round after round, each saved before the next begins.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::estimate;
use super::figures::Figures;
use super::spec::{Spec, Step};
use super::state::{Due, Round, State};
use super::store::Store;
use crate::human;
use crate::load::{self, Load, Work};
use crate::outputs::say;
use crate::program::{Program, Waiting};
use crate::record::{Record, Status};
use crate::refusal::{Refusal, exit};

/// Signals are looked at between two waits for the load.
const LOOK: Duration = Duration::from_millis(20);
/// How long files of the preconditioning may take to go.
const REMOVE_TIME: Duration = Duration::from_secs(60);
const HURRY: Duration = Duration::from_millis(500);

/// A qualification that runs.
pub struct Campaign<'a> {
    /// What to do.
    pub spec: &'a Spec,
    /// On what, as typed.
    pub path: PathBuf,
    /// Where results go.
    pub store: &'a Store,
    /// How far it has come.
    pub state: State,
    /// Signals.
    pub waiting: &'a Waiting,
    /// No progress.
    pub quiet: bool,
    /// Steps that could not be measured, and why.
    pub not_measured: BTreeMap<String, String>,
    /// Bytes that the preconditioning left there.
    pub preconditioned_bytes: Option<u64>,
}

impl Campaign<'_> {
    /// Does what is still to be done.
    ///
    /// # Errors
    /// Where preconditioning fails or results cannot be saved. A signal is none: see [`Waiting::signal`].
    pub fn run(&mut self) -> Result<(), Refusal> {
        let spec = self.spec;
        if spec.document.steps.iter().all(|step| self.state.due(step).is_none()) {
            return Ok(());
        }
        let kept = self.precondition()?;
        for (number, step) in spec.document.steps.iter().enumerate() {
            while let Some(due) = self.state.due(step) {
                if self.waiting.signal().is_some() {
                    break;
                }
                self.announce(number, step, due);
                if !self.round(number, step, due)? {
                    break;
                }
            }
            if self.waiting.signal().is_some() || self.state.stops_at(step) {
                break;
            }
        }
        if let Some(mut kept) = kept {
            let patience = if self.waiting.signal().is_some() { HURRY } else { REMOVE_TIME };
            if !kept.wait(patience) {
                say(&format!("synctail: process {} still removes its files", kept.pid()));
            }
        }
        Ok(())
    }

    fn announce(&self, number: usize, step: &Step, due: Due) {
        if self.quiet {
            return;
        }
        let load = due.load.map_or(String::new(), |mix| format!(" beside {}", mix.name()));
        let left = human::time(estimate::left_ns(self.spec, &self.state));
        say(&human::escape_controls(&format!(
            "step {} of {}: {}{load}, round {}; at most about {left} left",
            number + 1,
            self.spec.document.steps.len(),
            step.name,
            due.number,
        )));
    }

    /// Fills and ages the target; the files stay for as long as the value lives. After an interruption
    /// it is done again: its files went with the process that had made them.
    fn precondition(&mut self) -> Result<Option<Load>, Refusal> {
        let wanted = self.spec.document.precondition.wanted();
        if wanted == load::Precondition::default() {
            return Ok(None);
        }
        if !self.quiet {
            say("preconditioning");
        }
        let mut kept = Load::start(&load::Order {
            path: self.path.as_os_str().as_bytes().to_vec(),
            clean: true,
            work: Work::Precondition(wanted),
            seed: fastrand::u64(..),
        })?;
        loop {
            match kept.look() {
                load::State::Failed(why) => {
                    let text = format!("preconditioning: {why}");
                    return Err(Refusal::cannot("prepare", "precondition", text, ""));
                }
                load::State::Ready(bytes) => {
                    self.preconditioned_bytes = Some(*bytes);
                    return Ok(Some(kept));
                }
                _ if self.waiting.signal().is_some() => return Ok(Some(kept)),
                _ => kept.listen(LOOK),
            }
        }
    }

    /// One round; whether the step goes on.
    fn round(&mut self, number: usize, step: &Step, due: Due) -> Result<bool, Refusal> {
        let file = Store::record_name(number, due.number, due.load.map(load::Mix::name));
        let saved = self.store.folder().join(&file);
        // What an interrupted round left is not the result of this one.
        let _ = std::fs::remove_file(&saved);
        let began = Instant::now();
        let ended = Program::start(&self.check_args(step, due, &saved), false)?.wait(self.waiting);
        if self.waiting.signal().is_some() || interrupted(ended.code) {
            return Ok(false);
        }
        let record = std::fs::read(&saved).ok();
        let record = record.and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok());
        let measured = record.as_ref().filter(|record| record.status != Status::Failed);
        let (Some(record), Some(exit_code)) = (measured, ended.code) else {
            let said = record.and_then(|record| Some(record.error?.message));
            let why = said.unwrap_or_else(|| match ended.code {
                Some(code) => format!("check ended with code {code} and saved no record"),
                None => "check was killed".to_owned(),
            });
            self.not_measured.insert(step.name.clone(), why);
            return Ok(false);
        };
        let sha256 = self.store.seal(&file)?;
        self.state.rounds.push(Round {
            step: step.name.clone(),
            load: due.load,
            number: due.number,
            file,
            sha256,
            exit_code,
            took_ns: began.elapsed().as_nanos() as u64,
            p99_ns: Figures::of(record).p99_ns,
        });
        self.store.save_state(&self.state)?;
        Ok(true)
    }

    fn check_args(&self, step: &Step, due: Due, saved: &std::path::Path) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec!["check".into()];
        args.extend(step.plan.args());
        if let Some(mix) = due.load {
            args.push(format!("--load={}", mix.name()).into());
        }
        let own = ["--clean", "--quiet", "--format=json"];
        args.extend(own.into_iter().map(OsString::from));
        args.push(format!("--end-with={}", std::process::id()).into());
        args.extend([OsString::from("--save"), saved.as_os_str().to_owned()]);
        args.extend([OsString::from("--"), self.path.as_os_str().to_owned()]);
        args
    }
}

/// Somebody else interrupted the round alone.
fn interrupted(code: Option<i32>) -> bool {
    matches!(code, Some(exit::INTERRUPTED | exit::TERMINATED))
}
