//! The record as one JSON document.

use crate::record::Record;

/// `record` as an indented document with a final newline, with or without every sample.
pub fn render(record: &Record, with_samples: bool) -> String {
    let text = if with_samples || record.samples.is_none() {
        serde_json::to_string_pretty(record)
    } else {
        serde_json::to_string_pretty(&without_samples(record))
    };
    // Writing to memory cannot fail, and every map of a record has text as its keys.
    let mut text = text.expect("a record is always JSON");
    text.push('\n');
    text
}

/// A copy that never touches the samples, which may be gigabytes. Field by field, so that a field
/// added to the record cannot be forgotten here.
pub fn without_samples(record: &Record) -> Record {
    Record {
        schema: record.schema.clone(),
        tool: record.tool.clone(),
        started_at: record.started_at.clone(),
        command: record.command.clone(),
        status: record.status,
        error: record.error.clone(),
        plan: record.plan.clone(),
        effective: record.effective.clone(),
        clock: record.clock.clone(),
        substrate: record.substrate.clone(),
        distributions: record.distributions.clone(),
        proof: record.proof.clone(),
        interval: record.interval.clone(),
        load: record.load.clone(),
        trace: record.trace.clone(),
        in_flight: record.in_flight.clone(),
        counters: record.counters.clone(),
        wall_ns: record.wall_ns,
        pairs_per_s: record.pairs_per_s,
        source: record.source.clone(),
        observations: record.observations.clone(),
        verdict: record.verdict.clone(),
        samples: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::record::{Samples, WorkerSamples};
    use crate::verdict::{JudgeOptions, judge, sample_record};
    use serde_json::Value;
    use synctail_bench::Arm;

    fn judged() -> Record {
        let mut record = sample_record::pairs(Arm::DEFAULT, &[vec![(10_000, 2_000_000); 200]]);
        record.verdict = judge(&record, &Policy::default(), &JudgeOptions::default());
        record.samples = Some(Samples {
            workers: vec![WorkerSamples {
                total_ns: vec![1, 2],
                start_ns: vec![0, 9],
                ..WorkerSamples::default()
            }],
        });
        record
    }

    #[test]
    fn samples_are_kept_or_left_out_and_nothing_else_differs() {
        let record = judged();
        let mut with: Value = serde_json::from_str(&render(&record, true)).unwrap();
        let without: Value = serde_json::from_str(&render(&record, false)).unwrap();
        assert_eq!(with["samples"]["workers"][0]["total_ns"][1], 2);
        assert!(without.get("samples").is_none());
        with.as_object_mut().unwrap().remove("samples");
        assert_eq!(with, without);
    }

    #[test]
    fn it_is_one_document_with_one_final_newline() {
        for with_samples in [false, true] {
            let text = render(&judged(), with_samples);
            assert!(text.starts_with("{\n") && text.ends_with("}\n") && !text.ends_with("\n\n"));
        }
    }

    #[test]
    fn absent_is_absent_and_only_the_verdict_is_null() {
        let text = render(&sample_record::empty(), false);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(value["verdict"].is_null());
        assert_eq!(text.matches("null").count(), 1, "{text}");
        assert!(value.get("distributions").is_none() && value.get("plan").is_none());
    }

    #[test]
    fn what_is_written_reads_back() {
        let text = render(&judged(), true);
        let back: Record = serde_json::from_str(&text).unwrap();
        assert_eq!(render(&back, true), text);
    }
}
