//! The question on a terminal. Where there is none, `--destroy-data` was the answer.

use std::io::{BufRead, IsTerminal, stderr, stdin};

use super::RawDevice;
use super::signature::Found;
use super::uses::Family;
use crate::human;
use crate::outputs::say;
use crate::refusal::Refusal;
use crate::supervise::signals_kill;

/// What is to be shown.
pub struct Device<'a> {
    pub shown: &'a str,
    pub device: &'a RawDevice,
    pub family: &'a Family,
    pub found: &'a Found,
}

/// Shows what is on the device and lets a person at a terminal decide.
///
/// # Errors
/// Anything but yes.
pub fn ask(device: &Device) -> Result<(), Refusal> {
    if let Some(why) = &device.found.unknown {
        say(&format!("synctail: {}: {why}", device.shown));
    }
    if !stdin().is_terminal() || !stderr().is_terminal() {
        return Ok(());
    }
    description(device).iter().for_each(|line| say(line));
    say(&format!("all data on {} will be lost; type yes to go on:", device.shown));
    // Nothing has been written yet: whoever interrupts here wants it to end at once.
    signals_kill(true);
    let mut answer = String::new();
    let read = stdin().lock().read_line(&mut answer);
    signals_kill(false);
    if read.is_ok() && answer.trim() == "yes" {
        return Ok(());
    }
    let message = format!("--device: {}: not confirmed, nothing was written", device.shown);
    Err(Refusal::cannot("prepare", "confirm", message, "type yes to overwrite the device"))
}

fn description(device: &Device) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", device.shown, human::bytes(device.device.bytes))];
    let partitions = &device.family.partitions;
    lines.push(match partitions.is_empty() {
        true => "  partitions: none that the kernel shows".to_owned(),
        false => format!("  partitions: {}", partitions.join(", ")),
    });
    let known = &device.found.known;
    lines.push(match (known.is_empty(), device.device.holds_data) {
        (false, _) => format!("  on it: {}", known.join(", ")),
        (true, true) => "  on it: data of a kind that is not known".to_owned(),
        (true, false) => "  on it: its first MiB is empty".to_owned(),
    });
    lines
}
