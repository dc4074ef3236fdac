//! Names of arms: what parses prints as it was written, and nothing else parses.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::{Arm, BARRIERS, ENGINES};
use crate::cases::config;

/// Any combination, also those that do not exist.
fn combination() -> impl Strategy<Value = Arm> {
    (select(&ENGINES[..]), select(&BARRIERS[..]), any::<bool>())
        .prop_map(|((_, engine), (_, barrier), direct)| Arm { engine, barrier, direct })
}

/// Text that may be an arm, often all but one character of it.
fn text() -> impl Strategy<Value = String> {
    let damage = (any::<Index>(), 0..=1usize, "( |[a-z/+_-])?");
    let damaged = (combination(), damage).prop_map(|(arm, (at, length, with))| {
        let mut name = arm.to_string();
        let at = at.index(name.len() + 1);
        name.replace_range(at..(at + length).min(name.len()), &with);
        name
    });
    let pieced =
        " ?(syscall|uring|uring-linked|Syscall)(/|/|)(fsync|dsync|none|o_sync|)(\\+direct){0,2} ?";
    prop_oneof![damaged, pieced, any::<String>()]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_arm_parses_back_if_it_exists_and_is_read_from_a_record_in_any_case(arm in combination()) {
        let name = arm.to_string();
        let exists = Arm::all().contains(&arm);
        prop_assert_eq!(name.parse::<Arm>().ok(), exists.then_some(arm));
        prop_assert_eq!(Arm::parse(&name), Ok(arm));
    }

    #[test]
    fn text_that_parses_is_the_arms_own_name(text in text()) {
        match text.parse::<Arm>() {
            Ok(arm) => prop_assert_eq!(arm.to_string(), &*text),
            Err(why) => prop_assert!(why.starts_with("no such arm"), "{why}"),
        }
        if let Ok(arm) = Arm::parse(&text) {
            prop_assert_eq!(arm.to_string(), text);
        }
    }
}
