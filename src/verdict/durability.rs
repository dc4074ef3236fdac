//! Whether the flush reached stable storage, from what the record holds.
//!
//! The one place that decides it. Refuted where one reason shows that it did not; proved where the
//! counters of every device below moved with the barriers and nothing lies below them; unproved otherwise,
//! with what is missing.

mod chain;
mod moved;
mod power_loss;
mod reasons;

use super::imported;
use crate::record::{Basis, Durability, Finding, Record, Severity};
pub use power_loss::power_loss_protection;
use reasons::Reason;

/// Durability, the evidence in one line, and the findings that go with it.
pub fn durability(record: &Record) -> (Durability, String, Vec<Finding>) {
    if imported::is_import(record) {
        return imported::durability(record);
    }
    let refuted: Vec<Reason> = reasons::all(record);
    if refuted.is_empty() {
        return match chain::proof(record) {
            Ok((evidence, _)) => (Durability::Proved, evidence, Vec::new()),
            Err(missing) => (Durability::Unproved, missing, Vec::new()),
        };
    }
    let (evidence, findings): (Vec<String>, Vec<Finding>) =
        refuted.into_iter().map(|reason| (reason.evidence, reason.finding)).unzip();
    (Durability::NotDurable, evidence.join("; "), findings)
}

/// What a proof rests on; nothing where it is not proved.
pub fn basis(record: &Record, durability: Durability) -> Option<Basis> {
    let proved = durability == Durability::Proved;
    proved.then(|| chain::proof(record).ok()).flatten().map(|(_, basis)| basis)
}

fn finding(code: &str, severity: Severity, text: &str, evidence: String) -> Finding {
    Finding { code: code.to_owned(), severity, text: text.to_owned(), evidence }
}

#[cfg(test)]
mod tests;
