//! docs/peers.md: the table with the machine and the command lines. Nothing in it is by hand.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::lineup::Entry;
use crate::program::Program;
use crate::tools::Outputs;

const INTRODUCTION: &str = "# Peers side by side

Written by `make peers`, which installs what is missing and measures; another run replaces all of it.
`make peers PEERS_ARGS=\"--path DIR --rounds 15\"` measures another directory, or longer.

Every program makes one write at a time durable, over a file of 16 MiB that was written beforehand, in
the same directory and on the same CPU. All run once a round, every second round in reverse order, and
the filesystem is synced before each. Figures are medians of the rounds. A ratio is taken within a round,
to the run of synctail that times the same; 1.00 means that both say the same about this disk. A dash is
what a program cannot measure, and the note says why; or a percentile that too few writes would carry.
";

/// The whole file.
pub fn document(
    entries: &[Entry],
    outputs: &[Outputs],
    table: &str,
    rounds: usize,
    run_ms: u64,
) -> Result<String> {
    let first = outputs.first().and_then(|rounds| rounds.first());
    let record = first.and_then(|output| output.as_ref().ok()).context("no run of synctail")?;
    let record = serde_json::from_str(record)?;
    let machine = machine(&record, rounds, run_ms);
    let [machine, table] = [machine.as_str(), table].map(indented);
    let [versions, commands] = [versions(entries), commands(entries)];
    let (versions, commands) = (indented(&versions), indented(&commands));
    Ok(format!(
        "{INTRODUCTION}\n## Result\n\n{table}\n## Machine\n\n{machine}{versions}\n\
         ## Command lines\n\nRun in the directory, in this order; pg_test_fsync is ended after its row \
         fdatasync.\n\n{commands}"
    ))
}

fn machine(record: &Value, rounds: usize, run_ms: u64) -> String {
    let substrate = &record["substrate"];
    let (mount, machine) = (&substrate["mount"], &substrate["machine"]);
    let disk = &substrate["block"][0];
    let lines = [
        ("date", word(&record["started_at"])),
        ("rounds", format!("{rounds} of {run_ms} ms for each program")),
        ("kernel", word(&machine["kernel"])),
        ("cpu", format!("{}, {} CPUs{}", word(&machine["cpu_model"]), cpus(), guest(machine))),
        ("filesystem", format!("{}, {}", word(&substrate["filesystem"]), word(&mount["options"]))),
        ("", word(&mount["super_options"])),
        ("disk", format!("{}, {}", word(&disk["name"]), word(&disk["write_cache"]))),
    ];
    lines.iter().map(|(name, value)| format!("{name:<14} {value}\n")).collect()
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or("unknown").to_owned()
}

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn guest(machine: &Value) -> &'static str {
    if machine["virtualised"] == true { ", virtual machine" } else { "" }
}

/// Each tool once.
fn versions(entries: &[Entry]) -> String {
    let mut text = String::new();
    let mut seen = Vec::new();
    for Entry { key, version, .. } in entries {
        if !seen.contains(key) {
            seen.push(*key);
            let version = version.as_ref().unwrap_or_else(|why| why);
            // A String takes whatever is written.
            let _ = writeln!(text, "{key:<14} {version}");
        }
    }
    text
}

fn commands(entries: &[Entry]) -> String {
    let mut text = String::new();
    let mut prepared = Vec::new();
    // What a shell would expand is quoted, so that a line can be pasted.
    let typed = |word: &String| if word.contains('$') { format!("'{word}'") } else { word.clone() };
    let line =
        |program: &Program| program.argv.iter().map(typed).collect::<Vec<_>>().join(" ") + "\n";
    for entry in entries {
        let preparation = entry.preparation.as_ref().map(line);
        if let Some(preparation) = preparation.filter(|line| !prepared.contains(line)) {
            text += &format!("{} # once, beforehand\n", preparation.trim_end());
            prepared.push(preparation);
        }
        text += &line(&entry.program);
    }
    text
}

/// As a block of text in Markdown.
fn indented(text: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    text.lines().map(line).collect()
}
