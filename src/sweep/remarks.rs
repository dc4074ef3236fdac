//! What the cells' verdicts say beside the figures, each said once with the number of its cells.

use super::document::Cell;
use crate::record::{Durability, Record, Severity};

/// Lines for below the table: durability first, then what warns.
pub fn remarks(cells: &[Cell]) -> Vec<String> {
    let records = || cells.iter().filter_map(|cell| cell.record.as_deref());
    let mut said: Vec<(String, String, usize)> = Vec::new();
    let mut count = |key: String, text: String| match said.iter_mut().find(|(k, ..)| *k == key) {
        Some((_, _, cells)) => *cells += 1,
        None => said.push((key, text, 1)),
    };
    for (name, evidence) in records().filter_map(durability) {
        count(format!("durability: {name}"), evidence.to_owned());
    }
    for finding in records().filter_map(|record| record.verdict.as_ref()).flat_map(|v| &v.findings)
    {
        if finding.severity == Severity::Warning {
            count(format!("warning: {}", finding.code), finding.text.clone());
        }
    }
    let all = cells.len();
    let line = |(key, text, cells): (String, String, usize)| {
        format!("{key} in {cells} of {all} cells, the first: {text}")
    };
    said.into_iter().map(line).collect()
}

fn durability(record: &Record) -> Option<(&'static str, &str)> {
    let verdict = record.verdict.as_ref()?;
    let name = match verdict.durability {
        Durability::Proved => "proved",
        Durability::Unproved => "unproved",
        Durability::NotDurable => "not durable",
    };
    Some((name, &verdict.durability_evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::sweep::document::Axes;
    use crate::verdict::{JudgeOptions, judge, sample_record};
    use synctail_bench::{Arm, Layout};

    #[test]
    fn durability_is_said_once_for_all_cells_that_share_it() {
        let cell = |filesystem: &str| {
            let mut record = sample_record::barriers(&[vec![100_000; 500]]);
            record.substrate.as_mut().unwrap().filesystem = Some(filesystem.to_owned());
            let policy = Policy::named("jetstream").unwrap();
            record.verdict = judge(&record, &policy, &JudgeOptions::default());
            let axes = Axes::single(Arm::DEFAULT, 512, Layout::Append);
            let record = Some(Box::new(record));
            Cell { axes, label: None, rounds: Vec::new(), record, pending: Vec::new() }
        };
        let lines = remarks(&[cell("tmpfs"), cell("tmpfs"), cell("ext4")]);
        assert!(
            lines[0].starts_with("durability: not durable in 2 of 3 cells, the first: "),
            "{lines:?}"
        );
        assert!(
            lines[1].starts_with("durability: unproved in 1 of 3 cells, the first: "),
            "{lines:?}"
        );
    }
}
