//! tmpfs: storage that costs almost nothing, so that what remains is the tool's own loop.

use std::path::Path;

use anyhow::Result;

use crate::Options;
use crate::contest::{Bar, Contestant, RATE, hold};
use crate::tool::{Fio, check, figures, is_there};

/// One run of ours: pinned to CPU 0, on a file that was written beforehand.
fn ours(dir: &Path, arm: &str, options: &Options) -> Result<crate::contest::Figures> {
    let duration = format!("{}ms", options.run_ms(1_000));
    let args = ["--arm", arm, "--duration", &duration, "--layout", "overwrite", "--pin", "0"];
    figures(&check(dir, &args, options.fifo)?, "total")
}

/// All of it.
pub fn run(options: &Options) -> Result<()> {
    let dir = crate::place::directory(Path::new("/dev/shm"))?;
    let path = dir.path();
    let run_ms = options.run_ms(1_000);
    let of_ours = |name, arm| Contestant { name, run: Box::new(move || ours(path, arm, options)) };
    let mut two = vec![of_ours("synctail syscall", "syscall/fdatasync")];
    let mut ring = vec![
        of_ours("synctail uring", "uring/fdatasync"),
        of_ours("synctail uring-linked", "uring-linked/fdatasync"),
    ];
    let with_fio = is_there("fio")?;
    if with_fio {
        let fio = |engine| -> Result<Contestant> {
            let fio = Fio::prepare(engine, 1, path, run_ms)?.fifo(options.fifo);
            let name = if engine == "psync" { "fio psync" } else { "fio io_uring" };
            Ok(Contestant { name, run: Box::new(move || fio.run()) })
        };
        two.push(fio("psync")?);
        ring.push(fio("io_uring")?);
    }
    let contest = hold("tmpfs, pwrite + fdatasync", &two, options.rounds())?;
    if with_fio {
        contest.compare(0, 1, RATE, Bar::AtLeast(1.35));
    }
    let contest = hold("tmpfs, io_uring, depth 1", &ring, options.rounds())?;
    if with_fio {
        // Two trips are fio's own way: the kernel hands the same two requests to a worker and switches
        // four times a pair for either program, so that little is left to gain: no bar.
        contest.compare(0, 2, RATE, Bar::None);
        contest.compare(1, 2, RATE, Bar::AtLeast(1.3));
    }
    Ok(())
}
