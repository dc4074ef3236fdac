//! Programs that tell what no file does. They may be missing, may hang on a pool that does not answer,
//! and may say anything: none of that stops a run.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What is slower than this is left alone.
const PATIENCE: Duration = Duration::from_secs(2);
/// More than any of them says of one dataset or pool.
const OUTPUT_BYTES_MAX: u64 = 1 << 20;

/// Runs `program` in the C locale and returns its standard output, or in a sentence why there is none.
pub fn output(program: &str, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(args).env("LC_ALL", "C").stdin(Stdio::null()).stderr(Stdio::null());
    let spawned = command.stdout(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|error| format!("run {program}: {error}"))?;
    let deadline = Instant::now() + PATIENCE;
    // Its answer is a page, which fits the pipe: it is read when the program has ended.
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) => {
                // One that the kernel holds does not die; nobody waits for it.
                let _ = child.kill();
                return Err(format!("{program} did not answer within 2s"));
            }
            Err(error) => return Err(format!("wait for {program}: {error}")),
        }
    };
    if !status.success() {
        return Err(format!("{program} failed ({status})"));
    }
    let mut text = Vec::new();
    let read = child.stdout.take().map(|pipe| pipe.take(OUTPUT_BYTES_MAX).read_to_end(&mut text));
    match read {
        Some(Ok(_)) => Ok(String::from_utf8_lossy(&text).into_owned()),
        _ => Err(format!("{program} said nothing that could be read")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_comes_back_and_everything_else_is_a_reason() {
        assert_eq!(output("echo", &["a b", "c"]), Ok("a b c\n".to_owned()));
        assert!(output("false", &[]).unwrap_err().starts_with("false failed"));
        assert!(output("no-such-program-here", &[]).unwrap_err().contains("no-such-program-here"));
        assert!(output("sleep", &["60"]).unwrap_err().contains("did not answer"));
    }
}
