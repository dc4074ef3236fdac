//! What `verify` found, as text and as JSON.

use serde::Serialize;

use super::plan::Plan;
use super::result::{Ages, Counts, WorkerResult};
use crate::human;
use crate::record::{ErrorReport, Tool};
use crate::report::lines::Lines;

const SCHEMA: &str = "synctail.powercut/1";

/// The whole answer.
#[derive(Debug, Serialize)]
pub struct Report {
    schema: &'static str,
    tool: Tool,
    /// `verify`, or `write`.
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acknowledged: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<Verified>,
}

/// Of all workers.
#[derive(Debug, Serialize)]
pub struct Verified {
    superseded: u64,
    survived: u64,
    /// Acknowledged records that are not there.
    pub lost: u64,
    counts: Counts,
    ages: Ages,
    /// What it means, one sentence each.
    meaning: Vec<String>,
    /// Whether the machine has been started since the run; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    restarted: Option<bool>,
    /// Whether the writer stopped by itself.
    ended_by_itself: bool,
    workers: Vec<WorkerResult>,
}

/// What is known beside the workers' records.
#[derive(Clone, Copy, Debug, Default)]
pub struct Circumstances {
    /// Whether the machine has been started since the run.
    pub restarted: Option<bool>,
    /// Whether the writer stopped by itself.
    pub ended_by_itself: bool,
}

impl Report {
    /// Nothing yet of `action`.
    pub fn new(action: &'static str) -> Report {
        Report {
            schema: SCHEMA,
            tool: Tool::this(),
            action,
            error: None,
            run: None,
            directory: None,
            acknowledged: None,
            verified: None,
        }
    }

    /// Why there is no answer.
    pub fn failed(action: &'static str, error: ErrorReport) -> Report {
        Report { error: Some(error), ..Report::new(action) }
    }

    /// What was written.
    pub fn written(plan: &Plan, acknowledged: u64, error: Option<ErrorReport>) -> Report {
        Report {
            error,
            run: Some(plan.run.clone()),
            directory: Some(plan.directory.clone()),
            acknowledged: Some(acknowledged),
            ..Report::new("write")
        }
    }

    /// What was found.
    pub fn verified(plan: &Plan, workers: Vec<WorkerResult>, around: Circumstances) -> Report {
        let sum = |of: fn(&WorkerResult) -> u64| workers.iter().map(of).sum::<u64>();
        let counts = workers.iter().fold(Counts::default(), |all, w| all.plus(w.counts));
        let ages = workers.iter().fold(Ages::default(), |all, w| all.plus(w.ages));
        let acknowledged = sum(|worker| worker.acknowledged);
        let (superseded, survived) = (sum(|w| w.superseded), sum(|w| w.survived));
        let verified = Verified {
            superseded,
            survived,
            lost: counts.lost(),
            meaning: meaning(&counts, acknowledged, around),
            counts,
            ages,
            restarted: around.restarted,
            ended_by_itself: around.ended_by_itself,
            workers,
        };
        Report {
            run: Some(plan.run.clone()),
            directory: Some(plan.directory.clone()),
            acknowledged: Some(acknowledged),
            verified: Some(verified),
            ..Report::new("verify")
        }
    }

    /// Records that were acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged.unwrap_or(0)
    }

    /// Acknowledged records that are not there.
    pub fn lost(&self) -> u64 {
        self.verified.as_ref().map_or(0, |verified| verified.lost)
    }

    /// One document.
    pub fn json(&self) -> String {
        // Writing to memory cannot fail, and every map has text as its keys.
        serde_json::to_string_pretty(self).expect("a report is always JSON") + "\n"
    }

    /// For a person; empty where there is only an error.
    pub fn text(&self) -> String {
        let mut lines = Lines::default();
        let (Some(run), Some(acknowledged)) = (&self.run, self.acknowledged) else {
            return String::new();
        };
        let records = human::count(acknowledged);
        lines.say(&format!("run {run}: {records} records acknowledged"), 4);
        if let Some(verified) = &self.verified {
            verified.say(&mut lines);
        }
        lines.into_text()
    }
}

impl Verified {
    fn say(&self, lines: &mut Lines) {
        let (superseded, survived) = (human::count(self.superseded), human::count(self.survived));
        let lost = human::count(self.lost);
        lines.say(
            &format!("  {survived} are there, {superseded} older ones were overwritten, {lost} are missing"),
            4,
        );
        for worker in self.workers.iter().filter(|w| w.counts != Counts::default()) {
            lines.say(&worker_line(worker), 6);
        }
        if let Some(oldest_ms) = self.ages.oldest_ms {
            let oldest = human::time(oldest_ms.saturating_mul(1_000_000));
            lines.say(
                &format!("  the oldest of them had been promised {oldest} before the last"),
                4,
            );
        }
        for sentence in &self.meaning {
            lines.say(&format!("  {sentence}"), 4);
        }
    }
}

fn worker_line(worker: &WorkerResult) -> String {
    let counts = worker.counts;
    let named = [
        (counts.file_missing, "without their file"),
        (counts.file_too_short, "beyond the end of their file"),
        (counts.zeros, "zeros"),
        (counts.stale, "older records"),
        (counts.torn, "torn"),
        (counts.foreign, "something else"),
        (counts.torn_under_way, "torn by a later record under way"),
    ];
    let parts: Vec<String> = named
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", human::count(*count)))
        .collect();
    let (number, how) = (worker.worker, &worker.how);
    let size = human::bytes(how.block_size_bytes);
    format!("    worker {number}, {}, {}, {size}: {}", how.arm, how.layout.name(), parts.join(", "))
}

fn meaning(counts: &Counts, acknowledged: u64, around: Circumstances) -> Vec<String> {
    let mut said = Vec::new();
    let mut say = |holds: bool, sentence: &str| {
        if holds {
            said.push(sentence.to_owned());
        }
    };
    let lost = counts.lost();
    say(
        counts.data() > 0,
        "the cache lied: a barrier returned, and what it stood for was not kept",
    );
    say(
        counts.metadata() > 0,
        "metadata lost: the name or the length of a file did not outlive a barrier that had returned",
    );
    say(counts.torn > 0, "torn: acknowledged records are only there in part");
    say(
        counts.torn_under_way > 0,
        "not atomic: a record under way, not acknowledged, left a whole older one in pieces; \
         a service that overwrites needs a copy of what it overwrites",
    );
    say(acknowledged == 0, "nothing was acknowledged: this says nothing of the storage");
    say(
        lost == 0 && around.restarted == Some(false),
        "warning: this machine was not started again since; unless the power of the storage was cut \
         in another way, this proves nothing",
    );
    say(
        lost == 0 && around.ended_by_itself,
        "warning: the writer had stopped by itself before the power went; cut it while it writes",
    );
    let proved = lost == 0 && acknowledged > 0;
    say(
        proved && around.restarted != Some(false) && !around.ended_by_itself,
        "everything that was acknowledged outlived this cut; one cut proves little, repeat it",
    );
    said
}
