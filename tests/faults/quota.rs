//! EDQUOT: a quota that is reached in the middle of a run.

use super::{fails_while_measuring, has_errno};
use crate::support::{ARMS, Cmd, Filesystem, Make, heavy, rings_are_used, system_line};

#[test]
fn a_quota_that_is_reached_ends_every_arm_with_what_was_measured() {
    let (_heavy, _rings) = (heavy(), rings_are_used());
    let Some(fs) = Filesystem::new(Make::BTRFS) else { return };
    let root = fs.path().display();
    system_line(&format!("btrfs quota enable {root}"));
    for arm in ARMS {
        // One for each arm: what a run frees is counted again only later.
        let place = fs.path().join(arm.replace('/', "-"));
        system_line(&format!("btrfs subvolume create {}", place.display()));
        system_line(&format!("btrfs qgroup limit 1M {}", place.display()));
        let cmd = Cmd::check_json(&place).args("--warmup 1 --arm").arg(arm);
        let record = fails_while_measuring(cmd, &place);
        has_errno(&record, 122, "EDQUOT");
        let remedy = record["error"]["remedy"].as_str().unwrap();
        assert!(remedy.contains("quota"), "{arm}: {remedy}");
        assert_eq!(record["substrate"]["filesystem"], "btrfs");
    }
}
