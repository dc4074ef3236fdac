//! Columns of a saved record, and the ledger's times beside them.

use serde_json::Value;
use synctail_rig::Entry;

use super::stand::{Arm, Ended, Stand, WARMUP};
use crate::support::Folder;

/// CLOCK_MONOTONIC may be slewed against the program's clock by 500 ppm (adjtimex).
const SLEW: f64 = 500e-6;

/// A run that saved its samples, and what it saved.
pub fn saved(stand: &Stand, arm: Arm, args: &str) -> (Ended, Value) {
    let folder = Folder::new();
    let file = folder.at("record.json");
    let ended = stand.check(arm, &format!("{args} --save {}", file.display()));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{e}: {}", ended.stderr));
    (ended, serde_json::from_str(&text).unwrap())
}

/// A column of the only worker's samples.
pub fn column(record: &Value, name: &str) -> Option<Vec<u64>> {
    let column = record.pointer("/samples/workers/0")?.get(name)?.as_array()?;
    Some(column.iter().map(|ns| ns.as_u64().unwrap()).collect())
}

/// The time that contains the barrier: its own, or the pair's where that is all there is.
pub fn barrier_column(record: &Value) -> Vec<u64> {
    column(record, "barrier_ns").or_else(|| column(record, "total_ns")).unwrap()
}

/// What operations took by the ledger, without the warm-up that it begins with.
pub fn took(entries: &[Entry]) -> Vec<u64> {
    entries[WARMUP as usize..].iter().map(|entry| entry.took_ns().unwrap()).collect()
}

/// The shortest sample that an operation of `real_ns` can have.
pub fn least_ns(real_ns: u64) -> u64 {
    (real_ns as f64 * (1.0 - SLEW)) as u64
}
