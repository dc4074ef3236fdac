//! Linked pairs against two system calls, through the page cache, on each filesystem.

use std::path::Path;

use anyhow::Result;

use crate::Options;
use crate::contest::{Bar, Contestant, P50, P99, hold};
use crate::figures::is_trial;
use crate::place::{LoopMount, directory};
use crate::tool::{check, figures, skip};

/// All of it.
pub fn run(options: &Options) -> Result<()> {
    let dir = directory(options.disk())?;
    contests("ext4", dir.path(), Bar::AtMost(1.2), options)?;
    let bars = [("ext4", Bar::None), ("xfs", Bar::AtMost(1.2)), ("btrfs", Bar::AtMost(1.15))];
    for (filesystem, bar) in bars {
        // Each needs half a gigabyte of writes before the first figure.
        if is_trial() {
            break;
        }
        match LoopMount::new(filesystem, dir.path()) {
            Ok(mount) => {
                let name = format!("{filesystem} on a loop device");
                contests(&name, &mount.path(), bar, options)?;
            }
            Err(error) => skip(filesystem, &format!("{error:#}"))?,
        }
    }
    crate::enters::run(options)
}

fn contests(name: &str, dir: &Path, bar: Bar, options: &Options) -> Result<()> {
    let duration = format!("{}ms", options.run_ms(500));
    for layout in ["overwrite", "append"] {
        let run = |arm: &'static str| {
            let duration = &duration;
            move || {
                let args = ["--arm", arm, "--duration", duration, "--layout", layout];
                let bounds = ["--pin", "0", "--max-bytes", "128MiB"];
                figures(&check(dir, &[&args[..], &bounds].concat(), options.fifo)?, "total")
            }
        };
        let contestants = [
            Contestant { name: "uring-linked", run: Box::new(run("uring-linked/fdatasync")) },
            Contestant { name: "syscall", run: Box::new(run("syscall/fdatasync")) },
        ];
        let title = format!("{name}, {layout}, total");
        let contest = hold(&title, &contestants, options.rounds())?;
        contest.compare(0, 1, P50, bar);
        contest.compare(0, 1, P99, Bar::None);
    }
    Ok(())
}
