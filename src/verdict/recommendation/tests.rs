//! Each step, each refusal and the price of an interval.

use super::*;
use crate::policy::Policy;
use crate::quantity::parse_duration_ns;

fn situation(figure_ns: u64) -> Situation {
    Situation {
        figure_ns,
        on: JudgedOn::P99,
        band: Policy::default().band(figure_ns),
        durability: Durability::Proved,
        timed_out: false,
    }
}

fn interval(figure_ns: u64) -> Option<String> {
    recommend(&situation(figure_ns)).sync_interval
}

#[test]
fn every_step_is_written_as_the_server_reads_it_and_they_ascend() {
    for (ns, name) in STEPS {
        assert_eq!(parse_duration_ns(name), Ok(ns));
    }
    assert!(STEPS.is_sorted_by(|a, b| a.0 < b.0));
}

#[test]
fn twice_the_figure_is_rounded_up_and_an_exact_step_stays() {
    let cases = [
        (299_893_000, Some("1s")),
        (16_600_000_000, Some("1m")),
        (70_000_000_000, None),
        (250_000_000, Some("500ms")),
        (250_000_001, Some("1s")),
        (5_000_000, Some("100ms")),
        (50_000_000, Some("100ms")),
        (50_000_001, Some("200ms")),
        (60_000_000_000, Some("2m")),
        (60_000_000_001, None),
        (u64::MAX, None),
    ];
    for (ns, expected) in cases {
        assert_eq!(interval(ns).as_deref(), expected, "{ns}");
    }
}

#[test]
fn ideal_and_good_keep_always_and_have_no_stall() {
    for ns in [0, 999_999, 4_999_999] {
        let r = recommend(&situation(ns));
        assert_eq!(r.sync_interval.as_deref(), Some("always"));
        assert_eq!((r.stall_share, r.clean_interval), (None, None));
    }
    assert_eq!(interval(5_000_000).as_deref(), Some("100ms"));
}

#[test]
fn the_price_is_stated() {
    let r = recommend(&situation(230_000_000));
    assert_eq!(r.sync_interval.as_deref(), Some("500ms"));
    let share = r.stall_share.unwrap();
    assert!((share - 230.0 / 730.0).abs() < 1e-12, "{share}");
    assert_eq!(r.clean_interval.as_deref(), Some("30s"));
    assert!(r.reason.contains("may lose the last 500ms of acknowledged"), "{}", r.reason);
    assert!(r.reason.contains("each node that loses power"), "{}", r.reason);
}

#[test]
fn the_clean_step_keeps_the_share_strictly_under_one_percent() {
    // 10 s / 99 = 101.0101 ms: just below it is clean at 10 s, just above is not.
    assert_eq!(clean_step(101_010_101), Some("10s"));
    assert_eq!(clean_step(101_010_102), Some("20s"));
    // Exactly 1 %: 99 x 1 s of interval would do, 1 % is not under 1 %.
    assert_eq!(STEPS.iter().filter(|s| stall_share(s.0, 101_010_101) < 0.01).count(), 5);
    assert_eq!(clean_step(1_212_121_212), Some("2m"));
    assert_eq!(clean_step(1_212_121_213), None);
    assert_eq!(clean_step(u64::MAX), None);
    let r = recommend(&situation(2_000_000_000));
    assert_eq!((r.sync_interval.as_deref(), r.clean_interval), (Some("5s"), None));
    assert!(r.reason.contains("no step up to 2m"), "{}", r.reason);
    assert!(r.reason.starts_with("fix the storage; until then"), "{}", r.reason);
}

#[test]
fn storage_that_no_interval_helps_gets_advice_and_no_number() {
    let good = situation(2_000_000);
    let cases = [
        Situation { durability: Durability::NotDurable, ..good },
        Situation { timed_out: true, ..good },
        situation(70_000_000_000),
    ];
    for case in cases {
        let r = recommend(&case);
        assert_eq!((&r.sync_interval, r.stall_share, &r.clean_interval), (&None, None, &None));
        assert!(r.reason.contains("fix the storage"), "{}", r.reason);
        assert_eq!(config_line(&r), None);
    }
}

#[test]
fn an_unproved_flush_is_said_with_every_number() {
    for ns in [1_000_000, 230_000_000] {
        let case = Situation { durability: Durability::Unproved, ..situation(ns) };
        assert!(recommend(&case).reason.ends_with("is not proved"));
    }
}

#[test]
fn the_config_line_takes_the_servers_form() {
    let line = |ns| config_line(&recommend(&situation(ns))).unwrap();
    assert_eq!(line(230_000_000), "jetstream { sync_interval: \"500ms\" }");
    assert_eq!(line(1), "jetstream { sync_interval: \"always\" }");
}
