//! The lines that writer, verifier and witness exchange over TCP: one request, one answer, in ASCII.
//!
//! ```text
//! synctail-powercut 1 TOKEN     ok | no REASON
//! run PLAN                      ok            the plan is JSON on one line
//! ack RUN WORKER SEQUENCE       ok            once it is stored
//! end RUN                       ok            the writer stopped by itself
//! read RUN                      lines of the store, then .
//! list                          run PLAN of each run, then .
//! ```

use serde::{Deserialize, Serialize};

use super::plan::Plan;

/// What every connection begins with; the token follows.
pub const GREETING: &str = "synctail-powercut 1 ";
/// The answer to what was done.
pub const OK: &str = "ok";
/// What the answer to something refused begins with.
pub const NO: &str = "no ";
/// The line after the last of several.
pub const END: &str = ".";
/// Longest line that is taken; a plan of a thousand workers has 150 KB.
pub const LINE_BYTES_MAX: u64 = 1 << 20;

/// What is asked of the witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Keep this plan.
    Run(Plan),
    /// This record is durable.
    Acknowledge(Acknowledged),
    /// The run stopped by itself.
    End(String),
    /// Everything about a run.
    Read(String),
    /// Every run.
    List,
}

/// A record whose barrier returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// Id of the run.
    pub run: String,
    /// From 0.
    pub worker: usize,
    /// From 0.
    pub sequence: u64,
}

/// One line of the store, and of the answer to [`Request::Read`]: JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A run begins.
    Run(Plan),
    /// A record was acknowledged.
    Ack {
        /// Id of the run.
        run: String,
        /// From 0.
        worker: usize,
        /// From 0.
        sequence: u64,
        /// When it was stored, after 1970, by the clock of the witness.
        at_ms: u64,
    },
    /// A run stopped by itself.
    End {
        /// Its id.
        run: String,
    },
}

impl Entry {
    /// The run that it is about.
    pub fn run(&self) -> &str {
        match self {
            Entry::Run(plan) => &plan.run,
            Entry::Ack { run, .. } | Entry::End { run } => run,
        }
    }
}

impl Request {
    /// The line, without its end.
    pub fn line(&self) -> String {
        match self {
            // Writing to memory cannot fail, and every map has text as its keys.
            Request::Run(plan) => {
                format!("run {}", serde_json::to_string(plan).expect("a plan is always JSON"))
            }
            Request::Acknowledge(Acknowledged { run, worker, sequence }) => {
                format!("ack {run} {worker} {sequence}")
            }
            Request::End(run) => format!("end {run}"),
            Request::Read(run) => format!("read {run}"),
            Request::List => "list".to_owned(),
        }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// Where it is none; the text says why.
    pub fn parse(line: &str) -> Result<Request, String> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "run" => {
                let plan: Plan =
                    serde_json::from_str(rest).map_err(|why| format!("plan: {why}"))?;
                run_id(&plan.run)?;
                Ok(Request::Run(plan))
            }
            "ack" => acknowledged(rest).map(Request::Acknowledge),
            "end" => run_id(rest).map(Request::End),
            "read" => run_id(rest).map(Request::Read),
            "list" if rest.is_empty() => Ok(Request::List),
            _ => Err("not a request".to_owned()),
        }
    }
}

fn acknowledged(rest: &str) -> Result<Acknowledged, String> {
    let mut words = rest.split(' ');
    let mut next = || words.next().ok_or("an ack has run, worker and sequence");
    let run = run_id(next()?)?;
    let worker = next()?.parse().map_err(|_| "the worker is no number")?;
    let sequence = next()?.parse().map_err(|_| "the sequence is no number")?;
    match words.next() {
        None => Ok(Acknowledged { run, worker, sequence }),
        Some(_) => Err("an ack has run, worker and sequence, and no more".to_owned()),
    }
}

fn run_id(text: &str) -> Result<String, String> {
    let fits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if fits { Ok(text.to_owned()) } else { Err("the run is no id of 32 digits".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn a_request_is_read_back_from_its_line() {
        let plan =
            Plan { run: RUN.into(), boot_id: None, directory: "a \"b\"\n".into(), workers: vec![] };
        let acknowledged = Acknowledged { run: RUN.into(), worker: 3, sequence: u64::MAX };
        for request in [
            Request::Run(plan),
            Request::Acknowledge(acknowledged),
            Request::End(RUN.into()),
            Request::Read(RUN.into()),
            Request::List,
        ] {
            let line = request.line();
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(Request::parse(&line), Ok(request));
        }
    }

    #[test]
    fn what_is_no_request_is_refused_with_why() {
        for line in ["", "ack", "list all", "run {}", "read ../../etc", "GET / HTTP/1.1"] {
            assert!(Request::parse(line).is_err(), "{line}");
        }
        for rest in ["", " 1", " 1 x", " -1 2", " 1 2 3"] {
            assert!(Request::parse(&format!("ack {RUN}{rest}")).is_err(), "{rest}");
        }
    }
}
