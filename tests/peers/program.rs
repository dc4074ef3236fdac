//! The programs of the table: their versions, their arguments, one run of each.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::tool::{SYNCTAIL, command};

/// A program with its arguments, run in the directory that is measured.
#[derive(Clone, Debug)]
pub struct Program {
    /// Program and arguments, as typed.
    pub argv: Vec<String>,
    /// A line that begins so is the last that is wanted; the program is ended then.
    pub enough: Option<&'static str>,
}

impl Program {
    /// From the words of a command line, pinned as everybody is.
    pub fn pinned(line: &str) -> Program {
        Program::new(&format!("taskset -c 0 {line}"))
    }

    /// From the words of a command line.
    pub fn new(line: &str) -> Program {
        let argv = line.split_whitespace().map(str::to_owned).collect();
        Program { argv, enough: None }
    }

    /// What it prints in one run.
    pub fn run(&self, dir: &Path, fifo: bool) -> Result<String> {
        let (name, args) = self.argv.split_first().context("an empty command line")?;
        let name = if name == "synctail" { SYNCTAIL } else { name };
        let mut command = command(name, fifo);
        command.args(args).current_dir(dir).stdin(Stdio::null());
        match self.enough {
            Some(last) => until(command, last),
            None => whole(command, name == SYNCTAIL),
        }
        .with_context(|| self.argv.join(" "))
    }
}

/// Until it ends. A verdict of ours that is no pass is a result too.
fn whole(mut command: Command, ours: bool) -> Result<String> {
    let output = command.output()?;
    let code = output.status.code();
    if code != Some(0) && !(ours && matches!(code, Some(1 | 4))) {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("{}: {}", output.status, complaint.trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Until the line that is wanted has come.
fn until(mut command: Command, last: &str) -> Result<String> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut printed = String::new();
    let mut lines = BufReader::new(child.stdout.take().context("no pipe")?);
    loop {
        let before = printed.len();
        if lines.read_line(&mut printed)? == 0 || printed[before..].trim().starts_with(last) {
            break;
        }
    }
    // It would go on with a dozen rows that nobody asked for. Its file goes with the directory.
    child.kill()?;
    child.wait()?;
    Ok(printed)
}

/// The first line that a program prints about itself, or why there is none.
pub fn version(program: &str, argument: &str) -> Result<String> {
    let output = Command::new(program).arg(argument).stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = printed.lines().find(|line| !line.trim().is_empty());
    line.map(|line| line.trim().to_owned()).with_context(|| format!("{program} tells no version"))
}

/// Debian keeps it out of the search path, one for each version of the server: the newest.
pub fn pg_test_fsync() -> String {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let numbered = versions.filter_map(|entry| {
        let path = entry.path().join("bin/pg_test_fsync");
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((number, path.exists().then_some(path)?))
    });
    let newest = numbered.max_by_key(|&(number, _)| number);
    newest.map_or("pg_test_fsync".to_owned(), |(_, path)| path.display().to_string())
}
