//! CPU lists as the kernel writes them, and text that is none.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{CPU_MAX, Pin};
use crate::cases::config;

/// First and last CPU; often one, seldom many, up to the largest.
fn ranges() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let first = prop_oneof![0..64u64, 0..=CPU_MAX];
    vec((first, prop_oneof![Just(0), 0..10u64]), 1..8)
        .prop_map(|all| all.into_iter().map(|(first, more)| (first, first + more)).collect())
}

/// Almost a list, or anything.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["(auto|none|[ 0-9,-]{0,12})", "[0-9]{1,5}-[0-9]{1,22}", any::<String>()]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_list_is_its_ranges_in_order(ranges in ranges()) {
        let range = |&(first, last): &(u64, u64)| match last - first {
            0 => first.to_string(),
            _ => format!("{first}-{last}"),
        };
        let text = ranges.iter().map(range).collect::<Vec<_>>().join(",");
        let possible = ranges.iter().all(|&(_, last)| last <= CPU_MAX);
        let mut expected = Vec::new();
        ranges.iter().for_each(|&(first, last)| expected.extend(first..=last));
        prop_assert_eq!(text.parse().ok(), possible.then_some(Pin::Cpus(expected)), "{}", text);
    }

    #[test]
    fn a_range_that_descends_is_refused(first in 1..=CPU_MAX, less in prop_oneof![1..4u64, 1..=CPU_MAX]) {
        let last = first.saturating_sub(less);
        let text = format!("{first}-{last}");
        prop_assert!(text.parse::<Pin>().is_err());
    }

    #[test]
    fn what_parses_is_printed_so_that_it_parses_again(text in text()) {
        if let Ok(pin) = text.parse::<Pin>() {
            if let Pin::Cpus(cpus) = &pin {
                prop_assert!(!cpus.is_empty() && cpus.iter().all(|&cpu| cpu <= CPU_MAX));
            }
            prop_assert_eq!(pin.to_string().parse(), Ok(pin));
        }
    }
}
