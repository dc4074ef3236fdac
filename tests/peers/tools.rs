//! Every peer there is on one directory: the same work, round by round, and docs/peers.md.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::Options;
use crate::contest::order;
use crate::figures::is_trial;
use crate::lineup::{Entry, entries, prepare};
use crate::place::directory;
use crate::report::document;
use crate::table::{Row, text};
use crate::tool::skip;

/// Long enough for a percentile of 99 on a disk of ten milliseconds.
const RUN_MS: u64 = 2_000;

/// What one entry printed in each round, or why there is nothing.
pub type Outputs = Vec<Result<String, String>>;

/// All of it.
pub fn run(options: &Options) -> Result<()> {
    let parent = options.path.as_deref().unwrap_or(Path::new("/var/tmp"));
    let dir = directory(parent)?;
    let run_ms = options.run_ms(RUN_MS);
    let mut entries = entries(dir.path(), run_ms)?;
    let mut skipped = Vec::new();
    for entry in &mut entries {
        prepare(entry, dir.path());
        // Said once for all runs of a program.
        if let (Err(why), false) = (&entry.version, skipped.contains(&entry.key)) {
            skip(entry.key, why)?;
            skipped.push(entry.key);
        }
    }
    let outputs = rounds(&entries, dir.path(), options)?;
    let rows = rows(&entries, &outputs)?;
    let table = text(&rows);
    println!("\npeers side by side, {} rounds of {run_ms} ms each\n\n{table}", options.rounds());
    let document = document(&entries, &outputs, &table, options.rounds(), run_ms)?;
    // A trial's figures must not stand where real ones did.
    let file = if is_trial() {
        dir.path().join("peers.md")
    } else {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/peers.md")
    };
    std::fs::write(&file, document).with_context(|| format!("cannot write {}", file.display()))?;
    println!("written: {}", file.display());
    Ok(())
}

/// Every entry once a round. A peer that fails has no figure; we must not fail.
fn rounds(entries: &[Entry], dir: &Path, options: &Options) -> Result<Vec<Outputs>> {
    let mut outputs: Vec<Outputs> = vec![Vec::new(); entries.len()];
    for round in 0..options.rounds() {
        for which in order(round, entries.len()) {
            let entry = &entries[which];
            let printed = match &entry.version {
                Ok(_) => one(entry, dir, options.fifo).map_err(|error| format!("{error:#}")),
                Err(why) => Err(why.clone()),
            };
            if let (Err(why), "synctail") = (&printed, entry.key) {
                bail!("synctail: {why}");
            }
            outputs[which].push(printed);
        }
    }
    Ok(outputs)
}

/// What the one before left dirty is not paid by this one.
fn one(entry: &Entry, dir: &Path, fifo: bool) -> Result<String> {
    nix::unistd::syncfs(File::open(dir)?).context("cannot sync the filesystem")?;
    entry.program.run(dir, fifo)
}

fn rows(entries: &[Entry], outputs: &[Outputs]) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    for (entry, outputs) in entries.iter().zip(outputs) {
        for part in &entry.parts {
            let mut notes: Vec<String> = part.notes.iter().map(|&note| note.to_owned()).collect();
            let mut figures = Vec::new();
            for output in outputs {
                let read = output
                    .as_ref()
                    .map_err(Clone::clone)
                    .and_then(|printed| (part.read)(printed).map_err(|error| format!("{error:#}")));
                if let (Err(why), true) = (&read, notes.len() == part.notes.len()) {
                    notes.push(format!("{}: {why}", entry.key));
                }
                figures.push(read.ok());
            }
            let against = part.against.map(|name| {
                let ours = rows.iter().position(|row| (row.name, row.times) == name);
                ours.with_context(|| format!("no row {name:?} before {}", part.name))
            });
            rows.push(Row {
                name: part.name,
                times: part.times,
                block: part.block,
                rounds: figures,
                against: against.transpose()?,
                notes,
            });
        }
    }
    Ok(rows)
}
