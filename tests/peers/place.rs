//! Where things are measured: a directory of its own, or a filesystem of its own on a loop device.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

/// A directory that is removed again.
pub fn directory(parent: &Path) -> Result<TempDir> {
    let made = tempfile::Builder::new().prefix("peers-").tempdir_in(parent);
    made.with_context(|| format!("a directory in {}", parent.display()))
}

/// A filesystem in a file, mounted; unmounted and removed with the value.
pub struct LoopMount {
    dir: TempDir,
    device: Option<String>,
    mounted: bool,
}

const BACKING_BYTES: usize = 512 << 20;

impl LoopMount {
    /// Makes a filesystem of this type in a file below `parent`.
    pub fn new(filesystem: &str, parent: &Path) -> Result<LoopMount> {
        let dir = directory(parent)?;
        let backing = dir.path().join("backing");
        write_all_of(&backing)?;
        let device = run(Command::new("losetup").args(["--find", "--show"]).arg(&backing))?;
        let device = device.trim().to_owned();
        let mut made = LoopMount { dir, device: Some(device.clone()), mounted: false };
        run(Command::new(format!("mkfs.{filesystem}")).args(["-q", &device]))?;
        std::fs::create_dir(made.path())?;
        run(Command::new("mount").arg(&device).arg(made.path()))?;
        made.mounted = true;
        Ok(made)
    }

    /// Where it is mounted.
    pub fn path(&self) -> PathBuf {
        self.dir.path().join("mounted")
    }
}

/// Blocks of the file below are written beforehand: allocating them during the contest would be paid
/// by whoever comes first.
fn write_all_of(backing: &Path) -> Result<()> {
    let mut file = File::create(backing)?;
    let zeroes = vec![0; 1 << 20];
    for _ in 0..BACKING_BYTES / zeroes.len() {
        file.write_all(&zeroes)?;
    }
    Ok(file.sync_all()?)
}

/// Standard output of a command that succeeded.
fn run(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?}: {}: {}", output.status, complaint.trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}

impl Drop for LoopMount {
    fn drop(&mut self) {
        let complain = |done: Result<String>| {
            if let Err(error) = done {
                eprintln!("{error:#}");
            }
        };
        if self.mounted {
            complain(run(Command::new("umount").arg(self.path())));
        }
        if let Some(device) = self.device.take() {
            complain(run(Command::new("losetup").args(["--detach", &device])));
        }
    }
}
