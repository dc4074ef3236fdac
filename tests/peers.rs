//! What the bench `peers` reads and writes, without its programs: copies of their output, and the table.

#[path = "../sys/benches/figures/mod.rs"]
#[allow(dead_code, reason = "the table needs only the spread")]
mod figures;
mod output;
mod table;

use output::{Reading, fio, ioping, pg_test_fsync, synctail_barrier, synctail_pair, sysbench};
use table::{Row, text};

#[test]
fn a_record_gives_the_barrier_or_the_pair() {
    let record = r#"{"status": "complete", "pairs_per_s": 3769.5, "distributions": {"pooled": {
        "barrier": {"p50_ns": 207980, "p99_ns": 990970}, "total": {"p50_ns": 216917}}}}"#;
    let barrier = Reading { ops_per_s: 3769.5, p50_ns: Some(207980.0), p99_ns: Some(990970.0) };
    assert_eq!(synctail_barrier(record).unwrap(), barrier);
    let pair = Reading { ops_per_s: 3769.5, p50_ns: Some(216917.0), p99_ns: None };
    assert_eq!(synctail_pair(record).unwrap(), pair);
    let failed = synctail_pair(&record.replace("complete", "failed")).unwrap_err();
    assert_eq!(failed.to_string(), "synctail's run is failed");
}

#[test]
fn fio_gives_the_percentiles_of_sync_not_of_write() {
    let printed = r#"fio: this is a note
        {"jobs": [{"write": {"iops": 2955.2, "clat_ns": {"percentile": {"50.000000": 1}}},
        "sync": {"lat_ns": {"percentile": {"50.000000": 203776, "99.000000": 561152}}}}]}"#;
    let expected = Reading { ops_per_s: 2955.2, p50_ns: Some(203776.0), p99_ns: Some(561152.0) };
    assert_eq!(fio(printed).unwrap(), expected);
    assert_eq!(fio("fio: failed").unwrap_err().to_string(), "no JSON of fio");
}

/// pg_test_fsync 15.18.
const PG_TEST_FSYNC: &str = "\
1 second per test
O_DIRECT supported on this platform for open_datasync and open_sync.

Compare file sync methods using one 8kB write:
(in wal_sync_method preference order, except fdatasync is Linux's default)
        open_datasync                       847.635 ops/sec    1180 usecs/op
        fdatasync                           581.769 ops/sec    1719 usecs/op
        fsync                               400.000 ops/sec    2500 usecs/op

Compare file sync methods using two 8kB writes:
        fdatasync                           111.000 ops/sec    9009 usecs/op
";

#[test]
fn pg_test_fsync_gives_a_rate_and_no_percentile() {
    let expected = Reading { ops_per_s: 581.769, p50_ns: None, p99_ns: None };
    assert_eq!(pg_test_fsync(PG_TEST_FSYNC).unwrap(), expected);
    let none = pg_test_fsync("        fdatasync                                      n/a\n");
    assert_eq!(none.unwrap_err().to_string(), r#"no ops/sec in ["fdatasync", "n/a"]"#);
    assert!(pg_test_fsync("1 second per test\n").is_err());
}

#[test]
fn ioping_is_ranked_without_its_warm_up() {
    let request = |time: u64, ignored: bool| {
        format!(r#"{{"io": {{"operation": "write", "time": {time}, "ignored": {ignored}}}}}"#)
    };
    let list = |count: u64| {
        let timed = (1..=count).rev().map(|time| request(time, false));
        let mut entries: Vec<String> = std::iter::once(request(9_999, true)).chain(timed).collect();
        entries.push(r#"{"stat": {"iops": 7.0}, "load": {"iops": 100.48}}"#.to_owned());
        format!("[{}]", entries.join(","))
    };
    let expected = Reading { ops_per_s: 100.48, p50_ns: Some(100.0), p99_ns: Some(198.0) };
    assert_eq!(ioping(&list(200)).unwrap(), expected);
    let few = Reading { ops_per_s: 100.48, p50_ns: Some(49.0), p99_ns: None };
    assert_eq!(ioping(&list(99)).unwrap(), few);
    assert!(ioping("ioping: invalid option").is_err());
}

/// sysbench 1.0.20, most of its buckets left out.
const SYSBENCH: &str = "\
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       0.125 |****                                     40
       0.163 |**                                       20
       0.189 |***                                      38
       7.985 |*                                        1
      16.115 |*                                        1

File operations:
    reads/s:                      0.00
    writes/s:                     876.44
    fsyncs/s:                     876.44

Latency (ms):
         99th percentile:                        7.98
";

#[test]
fn sysbench_is_ranked_from_its_histogram() {
    let expected =
        Reading { ops_per_s: 876.44, p50_ns: Some(163_000.0), p99_ns: Some(7_985_000.0) };
    assert_eq!(sysbench(SYSBENCH).unwrap(), expected);
    let (_, rest) = SYSBENCH.split_once("\n\n").unwrap();
    let bare = Reading { p50_ns: None, p99_ns: None, ..expected };
    assert_eq!(sysbench(rest).unwrap(), bare);
    assert!(sysbench("FATAL: unable to open file").is_err());
}

fn row(name: &'static str, against: Option<usize>, rounds: &[Option<(f64, f64)>]) -> Row {
    let reading = |(p50_us, ops_per_s): (f64, f64)| Reading {
        ops_per_s,
        p50_ns: (p50_us > 0.0).then_some(p50_us * 1e3),
        p99_ns: None,
    };
    let rounds = rounds.iter().map(|round| round.map(reading)).collect();
    let note = format!("{name}: {}", "a note of many words ".repeat(9));
    let notes = against.map(|_| note).into_iter().collect();
    Row { name, times: "write + barrier", block: "4 KiB", rounds, against, notes }
}

#[test]
fn the_table_has_ratios_within_rounds_and_dashes_with_reasons() {
    let rows = [
        row("synctail", None, &[Some((100.0, 1000.0)), Some((200.0, 500.0)), Some((150.0, 700.0))]),
        row("fio", Some(0), &[Some((110.0, 1000.0)), Some((220.0, 500.0)), None]),
        row("pg", Some(0), &[Some((0.0, 500.0)), Some((0.0, 250.0)), Some((0.0, 350.0))]),
        row("gone", Some(0), &[None, None, None]),
    ];
    let text = text(&rows);
    let lines: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    let has = |words: &str| lines.contains(&words.split_whitespace().collect());
    assert!(has("synctail write + barrier 4 KiB 150.0 - 700"), "{text}");
    assert!(has("pg write + barrier 4 KiB - - 350 2"), "{text}");
    assert!(has("gone write + barrier 4 KiB - - - 3"), "{text}");
    assert!(has("fio 1.10 [1.10-1.10] - 1.00 [1.00-1.00]"), "{text}");
    assert!(has("pg - - 0.50 [0.50-0.50]"), "{text}");
    assert!(has("gone - - -"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("3  gone: a note")), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}
