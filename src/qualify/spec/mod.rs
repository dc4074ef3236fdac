//! What a qualification is to do, as its author wrote it down. The schema is in docs/qualify.md.

mod amount;
mod limits;
mod plan;

pub use amount::{Amount, Percent, Span};
pub use limits::{Change, Figure, Limits};
pub use plan::PlanSpec;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::load::Mix;
use crate::refusal::Refusal;

/// Specs that come with the program.
const SHIPPED: [(&str, &str); 3] = [
    ("quick", include_str!("../shipped/quick.toml")),
    ("slog", include_str!("../shipped/slog.toml")),
    ("jetstream-node", include_str!("../shipped/jetstream-node.toml")),
];
/// A spec is a page of text; what is longer is a slip.
const BYTES_MAX: u64 = 1 << 20;
const STEPS_MAX: usize = 1_000;

/// A spec with everything that it refers to.
#[derive(Clone, Debug)]
pub struct Spec {
    /// What its author wrote.
    pub document: Document,
    /// As it was read.
    pub text: String,
    /// Of the text and of every reference record, in hexadecimal.
    pub sha256: String,
    /// Where its paths are relative to.
    pub folder: PathBuf,
}

/// The file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Part of the name of the folder that holds the results.
    pub name: String,
    /// One line for a person.
    #[serde(default)]
    pub description: String,
    /// What is qualified.
    #[serde(default)]
    pub target: Target,
    /// What is done to it first.
    #[serde(default)]
    pub precondition: Precondition,
    /// What is measured, in this order.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
}

/// What is qualified, where the command line does not say.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// A directory.
    pub path: Option<PathBuf>,
}

/// What is done before the first step.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Precondition {
    /// Written in order, synced, and kept until the end.
    pub fill: Option<Amount>,
    /// So much is then written over, 4 KiB each anywhere in what was filled.
    pub random_overwrite: Option<Amount>,
    /// So many small files are made, and every second one removed.
    pub age_files: Option<u64>,
}

/// One step.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Unique among the steps.
    pub name: String,
    /// Flags of `check`.
    #[serde(default)]
    pub plan: PlanSpec,
    /// Rounds; each must hold the limits.
    pub repeats: Option<u64>,
    /// Every round runs without and with it.
    pub load: Option<Mix>,
    /// Rounds until nothing drifts any more, instead of a number of them.
    pub steady: Option<SteadySpec>,
    /// For the rounds without a load.
    #[serde(default)]
    pub limits: Limits,
    /// For the rounds with it.
    pub loaded_limits: Option<Limits>,
}

/// When a step's rounds are steady, and what to do where they never are.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SteadySpec {
    /// Most rounds.
    #[serde(default = "rounds_max")]
    pub rounds_max: u64,
    /// Range of the last five within this of their mean.
    #[serde(default = "range")]
    pub range: Percent,
    /// Rise or fall of their straight line within this of their mean.
    #[serde(default = "slope")]
    pub slope: Percent,
    /// What to do after the last round.
    #[serde(default)]
    pub otherwise: Otherwise,
}

/// SNIA PTS: 25 rounds, 20 % and 10 %.
fn rounds_max() -> u64 {
    25
}

fn range() -> Percent {
    Percent(20.0)
}

fn slope() -> Percent {
    Percent(10.0)
}

/// What to do with rounds that never became steady.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Otherwise {
    /// The step fails.
    #[default]
    Fail,
    /// The last five are held against the limits, and it is said.
    Continue,
    /// The step fails, and what comes after it is skipped.
    Stop,
}

impl Spec {
    /// A shipped spec, or the file of that name.
    ///
    /// # Errors
    /// Where it cannot be read, is no spec, or means nothing: file and reason.
    pub fn load(name: &Path) -> Result<Spec, Refusal> {
        let shipped = SHIPPED.iter().find(|(shipped, _)| Path::new(shipped) == name);
        let (text, folder) = match shipped {
            Some((_, text)) => ((*text).to_owned(), PathBuf::new()),
            None => (read(name)?, name.parent().unwrap_or(Path::new("")).to_owned()),
        };
        let shown = name.display();
        let refused = |why: String| Refusal::usage(format!("read the spec: {shown}: {why}"));
        let document: Document = toml::from_str(&text).map_err(|error| {
            let line =
                error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count());
            let place = line.map_or(String::new(), |line| format!("line {}: ", line + 1));
            let why = error.message().split('\n').map(str::trim).collect::<Vec<_>>().join("; ");
            refused(format!("{place}{why}"))
        })?;
        document.check().map_err(refused)?;
        let sha256 = fingerprint(&text, &document, &folder)?;
        Ok(Spec { document, text, sha256, folder })
    }

    /// Names of the shipped ones.
    pub fn names() -> String {
        SHIPPED.map(|(name, _)| name).join(", ")
    }
}

impl Precondition {
    /// For the process that does it.
    pub fn wanted(&self) -> crate::load::Precondition {
        crate::load::Precondition {
            fill: self.fill.map(|amount| amount.0),
            random_overwrite: self.random_overwrite.map(|amount| amount.0),
            age_files: self.age_files,
        }
    }
}

impl Document {
    fn check(&self) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if self.name.is_empty() || !self.name.chars().all(plain) || self.name.starts_with('.') {
            return Err("name: give letters, digits, - and _: a folder is named after it".into());
        }
        if self.steps.is_empty() || self.steps.len() > STEPS_MAX {
            return Err(format!("step: give 1 to {STEPS_MAX} of them"));
        }
        if self.precondition.random_overwrite.is_some() && self.precondition.fill.is_none() {
            return Err("precondition: random_overwrite needs fill: nothing else is there".into());
        }
        for (number, step) in self.steps.iter().enumerate() {
            let named = |why: String| format!("step {:?}: {why}", step.name);
            if self.steps[..number].iter().any(|other| other.name == step.name) {
                return Err(named("there are two of this name".into()));
            }
            step.check().map_err(named)?;
        }
        Ok(())
    }
}

impl Step {
    fn check(&self) -> Result<(), String> {
        if self.name.trim().is_empty() || self.name.chars().any(char::is_control) {
            return Err("give a name, one line".into());
        }
        self.plan.check()?;
        if self.repeats.is_some_and(|repeats| !(1..=1_000).contains(&repeats)) {
            return Err("repeats: give 1 to 1000".into());
        }
        if self.repeats.is_some() && self.steady.is_some() {
            return Err("give repeats or steady, not both".into());
        }
        if self.steady.is_some_and(|steady| !(5..=1_000).contains(&steady.rounds_max)) {
            return Err("steady.rounds_max: give 5 to 1000: five rounds are looked at".into());
        }
        if self.load.is_none() && self.loaded_limits.is_some() {
            return Err("loaded_limits: there is no load".into());
        }
        let rounds = if self.steady.is_some() { 5 } else { self.repeats.unwrap_or(1) };
        for limits in [Some(&self.limits), self.loaded_limits.as_ref()].into_iter().flatten() {
            limits.check(rounds)?;
        }
        Ok(())
    }

    /// What the rounds of one repeat are: without a load, and with it.
    pub fn variants(&self) -> Vec<Option<Mix>> {
        match self.load {
            None => vec![None],
            Some(mix) => vec![None, Some(mix)],
        }
    }

    /// The limits of one variant.
    pub fn limits_of(&self, load: Option<Mix>) -> Limits {
        match load {
            None => self.limits.clone(),
            Some(_) => self.loaded_limits.clone().unwrap_or_default(),
        }
    }
}

fn read(name: &Path) -> Result<String, Refusal> {
    let mut text = String::new();
    let read = File::open(name).and_then(|file| file.take(BYTES_MAX + 1).read_to_string(&mut text));
    let why = match read {
        Ok(bytes) if bytes as u64 > BYTES_MAX => "longer than 1 MiB, which no spec is".to_owned(),
        Ok(_) => return Ok(text),
        Err(error) => error.to_string(),
    };
    let names = Spec::names();
    Err(Refusal::usage(format!(
        "read the spec: {}: {why}; give {names} or a TOML file (docs/qualify.md)",
        name.display()
    )))
}

/// A reference that is replaced makes it another qualification.
fn fingerprint(text: &str, document: &Document, folder: &Path) -> Result<String, Refusal> {
    let mut sum = Sha256::new();
    sum.update(text);
    for step in &document.steps {
        for limits in [Some(&step.limits), step.loaded_limits.as_ref()].into_iter().flatten() {
            let Some(change) = &limits.change else { continue };
            let file = folder.join(&change.record);
            let bytes = std::fs::read(&file).map_err(|error| {
                let (step, file) = (&step.name, file.display());
                Refusal::usage(format!("step {step:?}: change.record: read {file}: {error}"))
            })?;
            sum.update(bytes);
        }
    }
    Ok(hex(&sum.finalize()))
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
