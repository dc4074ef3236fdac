use super::*;
use crate::policy::Policy;
use crate::verdict::{JudgeOptions, judge as judge_record, sample_record};

fn record(samples: Vec<u64>) -> Record {
    let mut record = sample_record::barriers(&[samples]);
    record.verdict = judge_record(&record, &Policy::default(), &JudgeOptions::default());
    record
}

fn limits(text: &str) -> Limits {
    toml::from_str(text).unwrap()
}

/// The limits that do not hold, by name, each with its round.
fn missed(
    text: &str,
    records: &[Record],
    reference: Option<&Record>,
) -> Vec<(String, Option<u64>)> {
    let figures: Vec<Figures> = records.iter().map(Figures::of).collect();
    let rounds: Vec<Judged> = (1..)
        .zip(records.iter().zip(&figures))
        .map(|(number, (record, figures))| Judged { number, record, figures })
        .collect();
    let reference = reference.map(Figures::of);
    let all = judge(&limits(text), &rounds, reference.as_ref());
    all.into_iter().filter(|limit| !limit.holds).map(|limit| (limit.figure, limit.round)).collect()
}

fn one(name: &str, round: u64) -> Vec<(String, Option<u64>)> {
    vec![(name.to_owned(), Some(round))]
}

#[test]
fn each_limit_names_the_round_that_misses_it() {
    let records = [record(vec![1_000_000; 1_000]), record(vec![2_000_000; 1_000])];
    let none = Vec::new();
    assert_eq!(missed("p50 = '2ms'\np99 = '2ms'\nmax = '2ms'", &records, None), none);
    assert_eq!(missed("p99 = '1999us'", &records, None), one("p99", 2));
    assert_eq!(missed("max = '1ms'", &records, None), one("max", 2));
    assert_eq!(missed("band = 'GOOD'", &records, None), none);
    assert_eq!(missed("band = 'IDEAL'", &records, None), one("band", 1));
    assert_eq!(missed("spread = '70 %'", &records, None), none);
    assert_eq!(missed("spread = '60 %'", &records, None), [("spread".to_owned(), None)]);
    assert_eq!(missed("durability = 'proved'", &records, None).len(), 1);
}

#[test]
fn what_is_not_known_does_not_hold() {
    let few = [record(vec![100_000; 100])];
    assert_eq!(missed("p99_9 = '1s'", &few, None), one("p99_9", 1));
    assert_eq!(missed("stalls = { longer_than = '1s', most = 5 }", &few, None), one("stalls", 1));
    let change = "change = { record = 'r.json', p99 = '10 %' }";
    assert_eq!(missed(change, &few, None), one("change of p99", 1));
    assert!(missed("p99 = '1s'", &[], None).len() >= 2);
}

#[test]
fn a_rate_is_a_least_and_a_change_is_against_the_reference() {
    let (mut fast, mut slow) = (record(vec![1_000_000; 500]), record(vec![1_200_000; 500]));
    (fast.pairs_per_s, slow.pairs_per_s) = (Some(1_000.0), Some(800.0));
    let both = [fast.clone(), slow];
    assert_eq!(missed("rate = '800/s'", &both, None), Vec::new());
    assert_eq!(missed("rate = '801/s'", &both, None), one("rate", 2));
    let change = |p99: &str, rate: &str| {
        format!("change = {{ record = 'r', p99 = '{p99} %', rate = '{rate} %' }}")
    };
    assert_eq!(missed(&change("21", "21"), &both, Some(&fast)), Vec::new());
    assert_eq!(missed(&change("19", "21"), &both, Some(&fast)), one("change of p99", 2));
    assert_eq!(missed(&change("21", "19"), &both, Some(&fast)), one("loss of rate", 2));
}

#[test]
fn a_round_that_broke_off_or_met_no_policy_fails_without_any_limit() {
    let mut timed_out = record(vec![1_000_000; 500]);
    timed_out.status = Status::TimedOut;
    assert_eq!(missed("", &[record(vec![100_000; 500]), timed_out], None), one("policy", 2));
    assert_eq!(missed("", &[record(vec![2_000_000_000; 500])], None), one("policy", 1));
}
