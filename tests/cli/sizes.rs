//! Blocks of any length, and how they fill files.

use serde_json::Value;

use crate::support::{Cmd, Folder, rings_are_used};

fn measured(args: &str) -> Value {
    let folder = Folder::in_memory();
    let outcome = Cmd::check_json(folder.path()).args(args).run().exits(4);
    let record = outcome.json();
    assert_eq!(record["status"], "complete", "{}", outcome.all());
    folder.is_clean();
    record
}

#[test]
fn blocks_of_any_length_are_written_whole() {
    let _rings = rings_are_used();
    for arm in ["syscall/fdatasync", "syscall/dsync", "uring/fdatasync", "uring-linked/fdatasync"] {
        for (size, bytes) in [
            ("1", 1u64),
            ("511", 511),
            ("2300", 2_300),
            ("4KiB", 4_096),
            ("4097", 4_097),
            ("1MiB", 1 << 20),
            ("3MiB", 3 << 20),
        ] {
            let record = measured(&format!("--arm {arm} --block-size {size} --iters 12"));
            assert_eq!(record["plan"]["block_size_bytes"], bytes, "{arm} {size}");
            assert_eq!(record["counters"]["bytes_written"], 12 * bytes, "{arm} {size}");
            assert_eq!(record["plan"]["bytes_written"], 17 * bytes, "with 5 pairs of warm-up");
        }
    }
}

#[test]
fn a_block_larger_than_a_segment_gets_a_segment_of_its_own() {
    let record = measured("--block-size 9MiB --iters 3 --warmup 1");
    assert_eq!(record["plan"]["file_size_bytes"], 9 << 20);
    assert_eq!(record["counters"]["segments"], 4);
}

#[test]
fn a_file_size_that_holds_no_block_is_refused() {
    let folder = Folder::in_memory();
    for layout in ["append", "overwrite", "unwritten"] {
        let cmd = Cmd::check(folder.path()).args("--block-size 4097 --file-size 4KiB --layout");
        cmd.arg(layout).run().exits(2).complains("--file-size").complains("4097");
    }
    folder.is_clean();
}

#[test]
fn segments_are_counted_and_bounded_by_the_budget() {
    // Three blocks fit a segment: 12 pairs and 3 of warm-up are 5 segments.
    let record = measured("--block-size 1000 --file-size 3999 --iters 12 --warmup 3");
    assert_eq!(record["counters"]["segments"], 5);
    assert_eq!(record["plan"]["bytes_on_disk"], 15_000);
    // A budget of two segments is kept to, whatever is written.
    let record =
        measured("--block-size 1000 --file-size 4000 --iters 98 --warmup 2 --max-bytes 8000");
    assert_eq!(record["counters"]["segments"], 25);
    assert_eq!(record["plan"]["bytes_on_disk"], 8_000);
}

#[test]
fn a_layout_that_writes_again_keeps_one_file_per_worker() {
    for (layout, segments) in [("overwrite", 2), ("append", 52), ("unwritten", 52)] {
        let args = format!(
            "--layout {layout} --file-size 16KiB --iters 99 --warmup 5 --workers 2 --max-bytes 64KiB"
        );
        let record = measured(&args);
        assert_eq!(record["counters"]["segments"], segments, "{layout}");
        assert_eq!(record["plan"]["layout"], layout);
    }
}

#[test]
fn a_plan_is_known_before_it_is_carried_out() {
    let record = measured("--layout overwrite --file-size 1MiB --workers 3 --iters 10 --warmup 2");
    let plan = &record["plan"];
    assert_eq!(plan["bytes_on_disk"], 3 << 20);
    assert_eq!(plan["bytes_written"], 3 * ((1 << 20) + 12 * 4_096));
    let record = measured("--duration 30ms --max-samples 100000");
    let plan = &record["plan"];
    assert_eq!((&plan["duration_ns"], plan.get("iterations")), (&30_000_000.into(), None));
    assert!(plan.get("bytes_written").is_none(), "not known for a run by time: {plan}");
    let wall = record["wall_ns"].as_u64().unwrap();
    assert!((25_000_000..2_000_000_000).contains(&wall), "wall {wall}");
}

#[test]
fn reaching_the_bound_of_samples_is_said() {
    let record = measured("--duration 20s --max-samples 2000 --workers 2");
    assert_eq!(record["counters"]["pairs"], 2_000);
    let findings = record["verdict"]["findings"].as_array().unwrap();
    assert!(findings.iter().any(|f| f["code"] == "max_samples_reached"), "{findings:?}");
}

#[test]
fn reaching_the_bound_of_time_is_said() {
    let record = measured("--duration 20s --max-duration 100ms");
    let findings = record["verdict"]["findings"].as_array().unwrap();
    assert!(findings.iter().any(|f| f["code"] == "max_duration_reached"), "{findings:?}");
    assert!(record["wall_ns"].as_u64().unwrap() < 5_000_000_000, "{}", record["wall_ns"]);
}

/// However rarely the parent looks: a pair that took longer than the limit is never a pass.
#[test]
fn a_pair_that_exceeded_the_time_out_between_two_looks_counts() {
    let folder = Folder::in_memory();
    let outcome = Cmd::check_json(folder.path()).args("--timeout 1ns --iters 150").run();
    let record = outcome.json();
    assert_eq!(record["status"], "timed_out", "{}", outcome.all());
    if record["verdict"].is_null() {
        // On a busy machine a look falls into the preparation, and sees that exceed the limit.
        assert_eq!(outcome.code, Some(1), "{}", outcome.all());
    } else {
        assert_eq!(outcome.code, Some(4), "{}", outcome.all());
        assert_eq!(record["verdict"]["pass"], false);
        assert_eq!(record["verdict"]["judged_on"], "max");
    }
    assert!(
        record["error"]["message"].as_str().unwrap().contains("--timeout"),
        "{}",
        outcome.all()
    );
    folder.is_clean();
}
