//! O_DIRECT: what it needs is named, and a memory filesystem that accepts it proves nothing.

use crate::support::{ARMS, Cmd, Filesystem, Folder, Make, heavy, rings_are_used};

fn direct_arms() -> impl Iterator<Item = &'static str> {
    ARMS.into_iter().filter(|arm| arm.ends_with("+direct"))
}

fn refused_for_alignment(place: &std::path::Path, arm: &str, block: &str, needed: &str) {
    let cmd = Cmd::check_json(place).args("--iters 20 --arm").arg(arm).args("--block-size");
    let record = cmd.arg(block).run().failure();
    let error = &record["error"];
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(&format!("multiples of {needed} bytes")), "{arm}: {message}");
    let remedy = error["remedy"].as_str().unwrap();
    assert!(remedy.contains("--block-size") && remedy.contains("without +direct"), "{remedy}");
    assert!(record.get("distributions").is_none(), "{arm}: nothing was measured buffered");
    crate::support::assert_clean(place);
}

#[test]
fn a_block_that_fits_no_sector_names_the_alignment() {
    let (_heavy, _rings) = (heavy(), rings_are_used());
    let Some(fs) = Filesystem::new(Make::EXT4) else { return };
    for arm in direct_arms() {
        refused_for_alignment(fs.path(), arm, "2300", "512");
    }
    let cmd = Cmd::check_json(fs.path()).args("--iters 20 --block-size 512 --arm");
    let outcome = cmd.arg("syscall/fdatasync+direct").run();
    let record = outcome.json();
    assert_eq!(record["status"], "complete", "{}", outcome.all());
    assert_eq!(record["effective"]["direct_alignment_bytes"], 512);
}

#[test]
fn large_sectors_need_large_blocks() {
    let (_heavy, _rings) = (heavy(), rings_are_used());
    for make in [Make::EXT4, Make::XFS] {
        let Some(fs) = Filesystem::new(Make { sector_bytes: 4_096, ..make }) else { return };
        for arm in direct_arms() {
            refused_for_alignment(fs.path(), arm, "512", "4096");
            let cmd = Cmd::check_json(fs.path()).args("--iters 5 --arm").arg(arm);
            let outcome = cmd.run();
            let record = outcome.json();
            assert_eq!(record["status"], "complete", "{}", outcome.all());
            assert_eq!(record["effective"]["direct_alignment_bytes"], 4_096, "{arm}");
        }
        let block = &fs_block(&fs);
        assert_eq!(block["logical_block_size_bytes"], 4_096, "{block}");
    }
}

fn fs_block(fs: &Filesystem) -> serde_json::Value {
    let record = Cmd::check_json(fs.path()).args("--iters 1").run().json();
    record["substrate"]["block"][0].clone()
}

#[test]
fn memory_stays_not_durable_whatever_open_says() {
    let _rings = rings_are_used();
    let folder = Folder::in_memory();
    for arm in direct_arms() {
        let outcome = Cmd::check_json(folder.path()).args("--iters 20 --arm").arg(arm).run();
        let record = outcome.json();
        if record["status"] == "failed" {
            // Kernels before 6.6 refuse it on tmpfs.
            let message = record["error"]["message"].as_str().unwrap();
            let remedy = record["error"]["remedy"].as_str().unwrap();
            assert!(message.contains("direct") || message.contains("EINVAL"), "{message}");
            assert!(remedy.contains("without +direct"), "{remedy}");
            continue;
        }
        assert_eq!(record["verdict"]["durability"], "not_durable", "{}", outcome.all());
        assert_eq!(record["plan"]["arm"], arm);
        outcome.exits(4);
    }
    folder.is_clean();
}

#[test]
fn a_block_below_every_sector_is_refused_where_nobody_tells_the_alignment() {
    let (_heavy, _rings) = (heavy(), rings_are_used());
    let Some(fs) = Filesystem::new(Make::BTRFS) else { return };
    let memory = Folder::in_memory();
    for arm in direct_arms() {
        refused_for_alignment(fs.path(), arm, "1000", "512");
        refused_for_alignment(memory.path(), arm, "1000", "512");
    }
    let cmd = Cmd::check_json(fs.path()).args("--iters 20 --arm syscall/fdatasync+direct");
    let record = cmd.run().json();
    let told = record["effective"].get("direct_alignment_bytes").is_some();
    assert_eq!(told, !says(&record, "direct_unverified"), "{record:#}");
}

fn says(record: &serde_json::Value, code: &str) -> bool {
    record["observations"].as_array().into_iter().flatten().any(|found| found["code"] == code)
}

#[test]
fn files_of_no_whole_number_of_blocks_are_cut_to_one() {
    let (_heavy, _rings) = (heavy(), rings_are_used());
    let Some(fs) = Filesystem::new(Make::EXT4) else { return };
    for (sizes, bytes) in [("--file-size 10000", 8_192), ("--workers 3 --max-bytes 40000", 12_288)]
    {
        for layout in ["overwrite", "unwritten", "append"] {
            let cmd = Cmd::check_json(fs.path()).args("--iters 20 --layout").arg(layout);
            let cmd = cmd.args("--arm syscall/fdatasync+direct").args(sizes);
            let outcome = cmd.run();
            let record = outcome.json();
            assert_eq!(record["status"], "complete", "{layout}: {}", outcome.all());
            assert_eq!(record["plan"]["file_size_bytes"], bytes, "{layout}: {}", outcome.all());
        }
    }
}
