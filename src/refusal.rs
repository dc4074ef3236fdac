//! What stops a command before or without a measurement: said once, in one style.

use crate::human;
use crate::record::ErrorReport;

/// Exit codes of the program, apart from the verdict's own.
pub mod exit {
    /// A command line that means nothing.
    pub const USAGE: i32 = 2;
    /// Could not measure, cannot tell, or the output could not be written.
    pub const CANNOT_TELL: i32 = 3;
    /// SIGINT.
    pub const INTERRUPTED: i32 = 130;
    /// SIGTERM.
    pub const TERMINATED: i32 = 143;
}

/// A command that does not go on, with its exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What to say.
    pub report: Box<ErrorReport>,
    /// 2 or 3.
    pub exit_code: i32,
}

impl Refusal {
    /// The command line means nothing.
    pub fn usage(message: impl Into<String>) -> Refusal {
        let report = error_report("usage", "parse", message);
        Refusal { report: Box::new(report), exit_code: exit::USAGE }
    }

    /// The path or the machine does not allow it.
    pub fn cannot(
        stage: &str,
        operation: &str,
        message: impl Into<String>,
        remedy: &str,
    ) -> Refusal {
        let remedy = (!remedy.is_empty()).then(|| remedy.to_owned());
        let report = ErrorReport { remedy, ..error_report(stage, operation, message) };
        Refusal { report: Box::new(report), exit_code: exit::CANNOT_TELL }
    }

    /// The plan needs more than half of the free space.
    pub fn too_little_space(needed: u64, free: u64) -> Refusal {
        let message = format!(
            "the plan needs {} on disk, more than half of the {} that are free",
            human::bytes(needed),
            human::bytes(free),
        );
        Refusal::cannot(
            "prepare",
            "plan",
            message,
            "give --max-bytes to bound the files, or free space",
        )
    }
}

/// A report without errno and remedy.
pub fn error_report(stage: &str, operation: &str, message: impl Into<String>) -> ErrorReport {
    ErrorReport {
        stage: stage.to_owned(),
        operation: operation.to_owned(),
        errno: None,
        errno_name: None,
        message: message.into(),
        remedy: None,
    }
}
