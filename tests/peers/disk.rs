//! A real disk: our percentiles and fio's are the same disk's.

use anyhow::Result;

use crate::Options;
use crate::contest::{Bar, Contestant, Figures, P50, P99, RATE, hold};
use crate::place::directory;
use crate::tool::{Fio, check, figures, is_there};

/// All of it. A disk is slower for whoever is alone on a sleeping CPU, so everybody is pinned to the
/// same one; a second run of ours in each round shows what the disk itself does from run to run.
pub fn run(options: &Options) -> Result<()> {
    let dir = directory(options.disk())?;
    let with_fio = is_there("fio")?;
    for workers in [1, 8] {
        let run_ms = options.run_ms(1_500);
        let (count, duration) = (workers.to_string(), format!("{run_ms}ms"));
        let ours = || -> Result<Figures> {
            let args = ["--workers", &count, "--duration", &duration, "--pin", "0"];
            let layout = ["--layout", "overwrite"];
            figures(&check(dir.path(), &[&args[..], &layout].concat(), options.fifo)?, "barrier")
        };
        let mut contestants = vec![
            Contestant { name: "synctail", run: Box::new(ours) },
            Contestant { name: "synctail again", run: Box::new(ours) },
        ];
        if with_fio {
            let fio = Fio::prepare("psync", workers, dir.path(), run_ms)?.fifo(options.fifo);
            let run = Box::new(move || fio.run());
            contestants.insert(1, Contestant { name: "fio --thread", run });
        }
        let record = check(dir.path(), &["--iters", "1"], false)?;
        let filesystem = record["substrate"]["filesystem"].as_str().unwrap_or("?");
        let title = format!("{filesystem}, overwrite, barrier, {workers} workers on CPU 0");
        let contest = hold(&title, &contestants, options.rounds())?;
        let again = contestants.len() - 1;
        if with_fio {
            contest.compare(0, 1, P50, Bar::Within(0.10));
            contest.compare(0, 1, P99, Bar::Within(0.15));
            contest.compare(0, 1, RATE, Bar::None);
        }
        for pick in [P50, P99, RATE] {
            contest.compare(again, 0, pick, Bar::None);
        }
    }
    Ok(())
}
