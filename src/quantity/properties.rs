//! The parsers of quantities against arithmetic in whole numbers, and on text that means nothing.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use synctail_bench::Rate;

use super::{parse_count, parse_duration_ns, parse_rate, parse_size_bytes};
use crate::cases::config;
use crate::human;

const SIZES: [(&str, u32); 10] = [
    ("", 0),
    ("B", 0),
    ("k", 10),
    ("K", 10),
    ("KB", 10),
    ("KiB", 10),
    ("M", 20),
    ("MiB", 20),
    ("GiB", 30),
    ("TiB", 40),
];

const TIMES: [(&str, u128); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// Numbers of every length.
fn number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64u32).prop_map(|(number, shift)| number >> shift)
}

/// What a slip of the finger makes of a quantity, very long numbers, and anything at all.
fn text() -> impl Strategy<Value = String> {
    let quantity = "[ +-]?[0-9_]{0,22}[.,]?[0-9_]{0,22}(e[+-]?[0-9]{0,11})? ?[a-zA-Zµ/]{0,4} ?";
    let most = "(18446744073709551615|1844674407370955161|9{18,40})[.]?[0-9]{0,3}(k|ns|s|/s|)";
    prop_oneof![quantity, most, "([0-9]{1,20}(ns|us|ms|s|m|h|d|y|weeks)){1,4}", any::<String>()]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn sizes_are_exact(bytes in number(), (unit, shift) in select(&SIZES[..]), space in " ?") {
        prop_assert_eq!(parse_size_bytes(&human::bytes(bytes)), Ok(bytes));
        let exact = u64::try_from(u128::from(bytes) << shift).ok();
        prop_assert_eq!(parse_size_bytes(&format!("{bytes}{space}{unit}")).ok(), exact);
    }

    /// Part of a byte is rounded to the nearest.
    #[test]
    fn decimals_of_sizes_are_rounded_once(
        whole in 0..1_000_000u128, thousandths in 0..1_000u128, (unit, shift) in select(&SIZES[..]),
    ) {
        let bytes = (((whole * 1_000 + thousandths) << shift) + 500) / 1_000;
        let text = format!("{whole}.{thousandths:03}{unit}");
        prop_assert_eq!(parse_size_bytes(&text), Ok(bytes as u64), "{}", text);
    }

    #[test]
    fn times_are_the_sum_of_their_spans(
        spans in vec((0..1_000_000u64, select(&TIMES[..])), 1..4), space in " ?",
    ) {
        let text: String =
            spans.iter().map(|(number, (unit, _))| format!("{number}{unit}{space}")).collect();
        let ns: u128 = spans.iter().map(|(number, (_, ns))| u128::from(*number) * ns).sum();
        prop_assert_eq!(parse_duration_ns(&text).ok(), u64::try_from(ns).ok(), "{}", text);
    }

    #[test]
    fn every_number_of_nanoseconds_can_be_said(ns in number()) {
        prop_assert_eq!(parse_duration_ns(&format!("{ns}ns")), Ok(ns));
        let text = humantime::format_duration(std::time::Duration::from_nanos(ns)).to_string();
        prop_assert_eq!(parse_duration_ns(&text), Ok(ns), "{}", text);
        // Nothing is nothing in every unit.
        prop_assert_eq!(parse_duration_ns(&ns.to_string()).is_ok(), ns == 0);
    }

    #[test]
    fn rates_are_exact_to_the_thousandth(any in number(), suffix in "(/s| /s|)") {
        let text = format!("{}.{:03}{suffix}", any / 1_000, any % 1_000);
        let possible = (Rate::LEAST.0..=Rate::MOST.0).contains(&any);
        prop_assert_eq!(parse_rate(&text).ok(), possible.then_some(Rate(any)), "{}", text);
        if possible {
            prop_assert_eq!(parse_rate(&Rate(any).to_string()), Ok(Rate(any)));
        }
    }

    #[test]
    fn counts_are_whole_with_separators_anywhere(count in number(), at in 0..20usize) {
        let mut text = count.to_string();
        text.insert(at.min(text.len()), '_');
        prop_assert_eq!(parse_count(&text), Ok(count));
        let fraction = format!("{text}.0");
        prop_assert!(parse_count(&fraction).is_err());
        let beyond = u128::from(u64::MAX) + 1 + u128::from(count);
        prop_assert!(parse_count(&beyond.to_string()).is_err());
    }

    #[test]
    fn no_text_is_too_strange(text in text()) {
        let _ = (parse_duration_ns(&text), parse_count(&text));
        if let Ok(rate) = parse_rate(&text) {
            prop_assert!((Rate::LEAST..=Rate::MOST).contains(&rate));
        }
        // Where it is nothing but digits, what parses is what they say.
        let size = parse_size_bytes(&text);
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            prop_assert_eq!(size.ok(), text.parse().ok());
        }
    }
}
