//! Whether the flush reached stable storage, from what the record holds.
//!
//! The one place that decides it. Refuted where one reason shows that it did not; proved where the
//! counters of every device below moved with the barriers and nothing lies below them; unproved otherwise,
//! with what is missing.

mod chain;
mod moved;
mod reasons;

use super::imported;
use crate::record::{Durability, Finding, Record, Severity};
use reasons::Reason;

/// Durability, the evidence in one line, and the findings that go with it.
pub fn durability(record: &Record) -> (Durability, String, Vec<Finding>) {
    if imported::is_import(record) {
        return imported::durability(record);
    }
    let refuted: Vec<Reason> = reasons::all(record);
    if refuted.is_empty() {
        return match chain::proof(record) {
            Ok(evidence) => (Durability::Proved, evidence, Vec::new()),
            Err(missing) => (Durability::Unproved, missing, Vec::new()),
        };
    }
    let (evidence, findings): (Vec<String>, Vec<Finding>) =
        refuted.into_iter().map(|reason| (reason.evidence, reason.finding)).unzip();
    (Durability::NotDurable, evidence.join("; "), findings)
}

fn finding(code: &str, severity: Severity, text: &str, evidence: String) -> Finding {
    Finding { code: code.to_owned(), severity, text: text.to_owned(), evidence }
}

#[cfg(test)]
mod tests;
