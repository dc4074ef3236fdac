//! A step's plan: flags of `check`, as keys of a table.

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::Parser;
use serde::{Deserialize, Serialize};

use crate::args::{CheckArgs, Cli, Command};

/// What may stand in a plan; anything else is decided by the qualification, or is no plan.
const KEYS: [&str; 22] = [
    "arm",
    "block_size",
    "writes_per_barrier",
    "sync_fd",
    "workers",
    "iters",
    "duration",
    "warmup",
    "layout",
    "file_size",
    "max_bytes",
    "depth",
    "rate",
    "sqpoll",
    "registered",
    "iowq",
    "pin",
    "timeout",
    "max_samples",
    "seed",
    "policy",
    "metric",
];

/// Flags by their names, with `_` for `-`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanSpec(BTreeMap<String, Value>);

/// What a flag is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Value {
    Switch(bool),
    Number(u64),
    Text(String),
}

impl PlanSpec {
    /// Whether `check` takes it.
    ///
    /// # Errors
    /// The key, or what the parser of arguments says.
    pub fn check(&self) -> Result<(), String> {
        if let Some(key) = self.0.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("plan.{key}: unknown key; known here: {}", KEYS.join(", ")));
        }
        self.parsed().map(drop)
    }

    /// As arguments of `check`.
    pub fn args(&self) -> Vec<OsString> {
        let flag = |(key, value): (&String, &Value)| {
            let name = format!("--{}", key.replace('_', "-"));
            match value {
                Value::Switch(false) => None,
                Value::Switch(true) => Some(name),
                Value::Number(number) => Some(format!("{name}={number}")),
                Value::Text(text) => Some(format!("{name}={text}")),
            }
        };
        self.0.iter().filter_map(flag).map(OsString::from).collect()
    }

    /// As `check` understands it.
    ///
    /// # Errors
    /// What its parser says, in one line.
    pub fn parsed(&self) -> Result<CheckArgs, String> {
        let mut line: Vec<OsString> = vec!["synctail".into(), "check".into()];
        line.extend(self.args());
        let cli = Cli::try_parse_from(line).map_err(|error| {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            format!("plan: {}", first.trim_start_matches("error: "))
        })?;
        match cli.command {
            Command::Check(args) => Ok(*args),
            _ => Err("plan: no plan of check".to_owned()),
        }
    }

    /// As one line for a person.
    pub fn shown(&self) -> String {
        let args: Vec<String> =
            self.args().iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        if args.is_empty() { "defaults of check".to_owned() } else { args.join(" ") }
    }
}
