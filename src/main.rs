//! The `synctail` program: measures how long storage takes to make a write durable, and judges it.

mod args;
#[cfg(test)]
#[path = "../bench/src/cases.rs"]
mod cases;
mod check;
mod child;
mod clock;
mod device;
mod evidence;
mod human;
mod import;
mod inspect;
mod judge;
mod load;
mod outputs;
mod policy;
mod powercut;
mod program;
mod qualify;
mod quantity;
mod record;
mod refusal;
mod report;
mod rerender;
mod resolve;
mod substrate;
mod supervise;
mod sweep;
mod trace;
mod verdict;

use std::ffi::OsString;
use std::process::exit;

use args::{Cli, Command};
use clap::Parser;

fn main() {
    let command: Vec<OsString> = std::env::args_os().collect();
    let code = match Cli::try_parse_from(&command) {
        Ok(Cli { command: Command::Check(args) }) => check::run(&args, &command),
        Ok(Cli { command: Command::Inspect(args) }) => inspect::run(&args, &command),
        Ok(Cli { command: Command::Judge(args) }) => judge::run(&args, &command),
        Ok(Cli { command: Command::Report(args) }) => rerender::run(&args),
        Ok(Cli { command: Command::Powercut(command) }) => powercut::run(&command),
        Ok(Cli { command: Command::Qualify(args) }) => qualify::run(&args, &command),
        Ok(Cli { command: Command::Sweep(args) }) => sweep::run(&args, &command),
        Ok(Cli { command: Command::Load }) => load::serve(),
        Ok(Cli { command: Command::Identify { device } }) => device::identify(&device),
        Err(error) => check::refuse_usage(&error, &command),
    };
    exit(code);
}
