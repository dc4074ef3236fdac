//! `synctail powercut`: do acknowledged writes survive when the power goes?
//!
//! A writer puts numbered records that say whose they are, and tells a witness on another machine of each one
//! after its barrier returned. When the power is back, every record that the witness knows must be there.

mod block;
mod client;
mod connection;
mod files;
mod plan;
mod refusals;
mod report;
mod result;
mod store;
mod token;
mod verify;
mod verifying;
mod wire;
mod witness;
mod witnessing;
mod write;
mod writing;

use crate::args::{FormatArg, PowercutCommand};
use crate::check::complain;
use crate::outputs::write_stdout;
use crate::refusal::Refusal;

use report::Report;

/// Runs the command and returns its exit code.
pub fn run(command: &PowercutCommand) -> i32 {
    crate::supervise::survive_file_size_limit();
    match command {
        PowercutCommand::Witness(args) => match witnessing::serve(args) {
            Ok(()) => 0,
            Err(refusal) => {
                complain(&refusal.report);
                refusal.exit_code
            }
        },
        PowercutCommand::Write(args) => answer(args.format, "write", writing::write(args)),
        PowercutCommand::Verify(args) => answer(args.format, "verify", verifying::verify(args)),
    }
}

fn answer(format: FormatArg, action: &'static str, result: Result<(Report, i32), Refusal>) -> i32 {
    let (report, code) = result.unwrap_or_else(|refusal| {
        complain(&refusal.report);
        (Report::failed(action, *refusal.report), refusal.exit_code)
    });
    let text = match format {
        FormatArg::Json => report.json(),
        FormatArg::Text => report.text(),
    };
    match write_stdout(&text) {
        Ok(()) => code,
        Err(refusal) => {
            complain(&refusal.report);
            refusal.exit_code
        }
    }
}
