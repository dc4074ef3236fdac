use super::*;
use crate::args::{Cli, Command};
use clap::Parser;

fn request(flags: &[&str]) -> Result<Request, Refusal> {
    request_under(flags, &Policy::default())
}

fn request_under(flags: &[&str], policy: &Policy) -> Result<Request, Refusal> {
    let args = ["synctail", "check"].iter().chain(flags);
    let Command::Check(check) = Cli::parse_from(args).command else { panic!("not a check") };
    Request::new(&check.work, &check.device, policy)
}

fn plan(flags: &[&str]) -> Resolved {
    request(flags).unwrap().plan(Room::Free(Some(1 << 40)), &[0, 1]).unwrap()
}

#[test]
fn defaults_are_those_of_the_design() {
    let resolved = plan(&[]);
    let plan = &resolved.plan;
    assert_eq!(plan.arm.to_string(), Arm::DEFAULT.to_string());
    assert_eq!((plan.block_size_bytes, plan.workers, plan.depth), (4_096, 1, 1));
    assert_eq!((plan.length, plan.layout), (Length::Iterations(500), Layout::Append));
    assert_eq!((plan.segment_bytes, plan.segments_kept), (8 << 20, 128));
    assert_eq!(resolved.bytes_on_disk, 505 * 4_096);
    assert_eq!(resolved.bytes_written, Some(505 * 4_096));
    assert_eq!(resolved.memory_bytes, 500 * 64);
}

#[test]
fn flags_win_over_the_policy_and_the_policy_over_defaults() {
    let etcd = Policy::named("etcd").unwrap();
    let of = |flags: &[&str]| {
        request_under(flags, &etcd)
            .unwrap()
            .plan(Room::Free(None), &[0])
            .unwrap()
            .plan
            .block_size_bytes
    };
    assert_eq!((of(&[]), of(&["--block-size", "512"])), (2_300, 512));
}

#[test]
fn ring_options_without_a_ring_are_refused_with_the_flag() {
    for flag in [&["--depth", "4"][..], &["--sqpoll"], &["--registered"], &["--iowq", "any"]] {
        let refusal = request(flag).unwrap_err();
        assert!(refusal.report.message.starts_with(flag[0]), "{}", refusal.report.message);
        assert_eq!(refusal.exit_code, 2);
        let with_ring = [flag, &["--arm", "uring/fsync"]].concat();
        assert!(request(&with_ring).is_ok());
    }
}

#[test]
fn what_a_pair_cannot_be_made_of_is_refused_with_the_flag() {
    for flags in [
        &["--writes-per-barrier", "2", "--arm", "uring/fsync"][..],
        &["--writes-per-barrier", "2", "--block-size", "200MiB", "--max-bytes", "1GiB"],
        &["--sync-fd", "other", "--arm", "syscall/dsync"],
        &["--sync-fd", "after-close", "--arm", "uring/fsync"],
        &["--sync-fd", "other", "--writes-per-barrier", "2"],
    ] {
        let refusal = request(flags).unwrap_err();
        assert!(refusal.report.message.starts_with(flags[0]), "{}", refusal.report.message);
        assert_eq!(refusal.exit_code, 2);
    }
    let device = ["--sync-fd", "other", "--device", "/dev/null", "--destroy-data"];
    assert!(request(&device).unwrap_err().report.message.starts_with("--sync-fd"));
    let several = plan(&["--writes-per-barrier", "3", "--block-size", "1000", "--iters", "10"]);
    assert_eq!(several.plan.segment_bytes, (8 << 20) / 3_000 * 3_000);
    assert_eq!(several.bytes_written, Some(15 * 3_000));
    several.plan.check().unwrap();
}

#[test]
fn more_than_half_of_the_free_space_is_refused_unless_a_bound_was_given() {
    let needs = 505 * 4_096;
    let asked = request(&[]).unwrap();
    assert!(asked.plan(Room::Free(Some(needs * 2)), &[0]).is_ok());
    assert_eq!(asked.plan(Room::Free(Some(needs * 2 - 2)), &[0]).unwrap_err().exit_code, 3);
    assert!(request(&["--max-bytes", "1GiB"]).unwrap().plan(Room::Free(Some(10)), &[0]).is_ok());
    assert!(asked.plan(Room::Free(None), &[0]).is_ok());
    let by_time = request(&["--duration", "1s"]).unwrap();
    assert_eq!(by_time.plan(Room::Free(Some(2 << 30)), &[0]).unwrap().bytes_on_disk, 1 << 30);
    assert!(by_time.plan(Room::Free(Some((2 << 30) - 2)), &[0]).is_err());
}

#[test]
fn the_budget_bounds_all_files_together() {
    let many = plan(&["--workers", "1000", "--layout", "overwrite"]);
    assert_eq!(many.plan.segment_bytes, (1 << 30) / 1_000 / 4_096 * 4_096);
    assert!(many.bytes_on_disk <= 1 << 30);
    let refusal = request(&["--workers", "1000", "--layout", "overwrite", "--file-size", "16MiB"]);
    assert!(refusal.unwrap_err().report.message.starts_with("--file-size"));
    let small = request(&["--max-bytes", "1KiB"]).unwrap_err();
    assert!(small.report.message.starts_with("--max-bytes"), "{}", small.report.message);
    let block = request(&["--file-size", "4KiB", "--block-size", "8KiB"]).unwrap_err();
    assert!(block.report.message.starts_with("--file-size"));
    let large = plan(&["--block-size", "32MiB", "--iters", "2", "--max-bytes", "64MiB"]);
    assert_eq!((large.plan.segment_bytes, large.plan.segments_kept), (32 << 20, 2));
}

#[test]
fn workers_go_round_the_allowed_cpus() {
    let cpus = |flags: &[&str], allowed: &[u64]| {
        request(flags).unwrap().plan(Room::Free(None), allowed).unwrap().plan.cpus
    };
    assert_eq!(cpus(&["--workers", "3"], &[2, 5]), [Some(2), Some(5), Some(2)]);
    assert_eq!(cpus(&["--workers", "2", "--pin", "none"], &[2, 5]), [None, None]);
    assert_eq!(cpus(&["--workers", "2", "--pin", "7"], &[2, 5]), [Some(7), Some(7)]);
    assert_eq!(cpus(&["--workers", "2"], &[]), [None, None]);
}

#[test]
fn samples_are_bounded_before_the_run() {
    let refusal = request(&["--iters", "30000000"]).unwrap_err();
    assert!(refusal.report.message.contains("--max-samples"));
    assert!(request(&["--iters", "30000000", "--max-samples", "30000000"]).is_ok());
    let by_time =
        request(&["--duration", "1s", "--workers", "4", "--max-samples", "1000"]).unwrap();
    assert_eq!(by_time.board_size().samples_per_worker, 250);
}

#[test]
fn more_pairs_than_samples_are_refused_for_a_rate_as_for_a_number() {
    let refusal = request(&["--rate", "10000000/s", "--duration", "12s"]).unwrap_err();
    assert!(refusal.report.message.starts_with("--rate: 120000000 pairs"), "{refusal:?}");
    assert!(request(&["--rate", "1000/s", "--duration", "12s"]).is_ok());
}
