//! The rig by hand: mounts until SIGINT or SIGTERM, then writes the ledger.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Parser;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;
use synctail_rig::{Rig, Script};

/// Mounts a file system that delays and fails by a script (format: README.md)
#[derive(Parser)]
struct Arguments {
    /// An existing directory
    mountpoint: PathBuf,
    /// What to do, as TOML; without it everything succeeds at once
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Write the ledger there at the end, and on SIGUSR1
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Handler threads: at least the operations in flight at once
    #[arg(long, value_name = "N", default_value_t = 4)]
    threads: usize,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let script = match &arguments.script {
        Some(path) => read_script(path)?,
        None => Script::default(),
    };
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGUSR1])?;
    let mountpoint = &arguments.mountpoint;
    let rig = Rig::mount_at(mountpoint, &script, arguments.threads)
        .with_context(|| format!("mount at {}", mountpoint.display()))?;
    let control = rig.path().join(".rig");
    eprintln!(
        "rig: mounted at {0}; commands and ledger: {1}",
        rig.path().display(),
        control.display()
    );
    for signal in signals.forever() {
        write_ledger(&rig, arguments.ledger.as_deref())?;
        if signal != SIGUSR1 {
            break;
        }
    }
    Ok(())
}

fn read_script(path: &Path) -> anyhow::Result<Script> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    Script::parse(&text).with_context(|| path.display().to_string())
}

fn write_ledger(rig: &Rig, path: Option<&Path>) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, rig.ledger().to_tsv()).with_context(|| format!("write {}", path.display()))
}
