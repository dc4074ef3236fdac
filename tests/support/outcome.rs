//! What came of a command, and what a test may ask of it.

use serde_json::Value;

/// What came of a command.
#[derive(Debug)]
pub struct Outcome {
    /// The command line.
    pub shown: String,
    /// Exit code, unless a signal killed it.
    pub code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// Bytes on standard output.
    pub stdout: Vec<u8>,
    /// Bytes on standard error.
    pub stderr: Vec<u8>,
}

impl Outcome {
    /// Everything, for the message of a failed assertion.
    pub fn all(&self) -> String {
        format!(
            "{}\nexit code {:?}, signal {:?}\n--- stdout\n{}\n--- stderr\n{}\n---",
            self.shown,
            self.code,
            self.signal,
            String::from_utf8_lossy(&self.stdout),
            String::from_utf8_lossy(&self.stderr)
        )
    }

    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Outcome {
        assert_eq!(self.code, Some(code), "exit code of {}", self.all());
        self
    }

    /// Asserts that standard error has `text`.
    #[track_caller]
    pub fn complains(self, text: &str) -> Outcome {
        assert!(self.stderr_text().contains(text), "stderr has no {text:?}: {}", self.all());
        self
    }

    /// Standard output as text.
    #[track_caller]
    pub fn stdout_text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.all()))
    }

    /// Standard error as text.
    #[track_caller]
    pub fn stderr_text(&self) -> &str {
        std::str::from_utf8(&self.stderr).unwrap_or_else(|error| panic!("{error}: {}", self.all()))
    }

    /// Standard output as exactly one JSON document, which ends with a newline.
    #[track_caller]
    pub fn json(&self) -> Value {
        let text = self.stdout_text();
        assert!(text.ends_with("}\n"), "no whole document: {}", self.all());
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {}", self.all()))
    }

    /// The document of a run that failed, with the code for it, its one error and no verdict.
    #[track_caller]
    pub fn failure(self) -> Value {
        let outcome = self.exits(3);
        let record = outcome.json();
        assert_eq!(record["status"], "failed", "{}", outcome.all());
        assert_eq!(record["verdict"], Value::Null, "{}", outcome.all());
        assert!(record["error"]["message"].is_string(), "{}", outcome.all());
        record
    }
}
