//! The most memory that a run takes: both processes' private pages, and what they share once.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::tool::{SYNCTAIL, record};

/// Bytes of one process at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Resident {
    private: u64,
    shared: u64,
}

/// The largest values seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Peak {
    /// The parent's resident set.
    pub parent: u64,
    /// The child's.
    pub child: u64,
    /// Both at one moment, with the shared pages counted once.
    pub together: u64,
}

/// How often the processes are looked at: a phase that holds much memory is far longer.
const INTERVAL: Duration = Duration::from_millis(5);

/// Runs a check and watches it.
pub fn watched(dir: &Path, args: &[&str]) -> Result<(Value, Peak)> {
    // Not a pipe: a record of a thousand workers would fill it while nobody reads.
    let (out, err) = (dir.join("out.json"), dir.join("err.txt"));
    let mut running = Command::new(SYNCTAIL)
        .arg("check")
        .arg(dir)
        .args(args)
        .args(["--format", "json", "--quiet"])
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .spawn()?;
    let mut peak = Peak::default();
    let status = loop {
        if let Some(status) = running.try_wait()? {
            break status;
        }
        peak.look(running.id());
        std::thread::sleep(INTERVAL);
    };
    let output = Output { status, stdout: std::fs::read(out)?, stderr: std::fs::read(err)? };
    Ok((record(&output)?, peak))
}

impl Peak {
    fn look(&mut self, parent: u32) {
        let child = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
        let child = child.ok().and_then(|list| list.split_whitespace().next()?.parse().ok());
        let of = |pid: u32| resident(pid).unwrap_or_default();
        let (parent, child) = (of(parent), child.map(of).unwrap_or_default());
        self.parent = self.parent.max(parent.private + parent.shared);
        self.child = self.child.max(child.private + child.shared);
        let together = parent.private + child.private + parent.shared.max(child.shared);
        self.together = self.together.max(together);
    }
}

/// From /proc/PID/status; nothing once the process is gone.
fn resident(pid: u32) -> Result<Resident> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let kib = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_suffix("kB"));
        let kib = line.and_then(|number| number.trim().parse::<u64>().ok());
        kib.map(|kib| kib << 10).with_context(|| format!("no {key}"))
    };
    Ok(Resident { private: kib("RssAnon:")?, shared: kib("RssShmem:")? })
}
