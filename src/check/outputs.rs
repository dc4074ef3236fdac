//! Where results go: opened before the run, so that a run is not lost at its end.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::args::OutputArgs;
use crate::record::Record;
use crate::refusal::Refusal;
use crate::report;

/// One place that takes a document.
#[derive(Debug)]
enum Sink {
    Stdout,
    /// A new file that takes its name only when it is complete.
    File {
        /// As typed, for messages.
        path: PathBuf,
        /// Without links: it is the file that is replaced, never a link to it such as /dev/stdout.
        target: PathBuf,
        temporary: Option<NamedTempFile>,
    },
    /// A device or pipe that exists, such as /dev/full.
    Special {
        path: PathBuf,
    },
}

/// The result, and the record if it is to be saved.
#[derive(Debug)]
pub struct Outputs {
    result: Sink,
    save: Option<Sink>,
}

impl Outputs {
    /// Opens what was asked for.
    ///
    /// # Errors
    /// Where a file cannot be created, or where one file is to hold both documents.
    pub fn open(args: &OutputArgs) -> Result<Outputs, Refusal> {
        let result =
            args.output.as_deref().map_or(Ok(Sink::Stdout), |p| Sink::open("--output", p))?;
        let save = args.save.as_deref().map(|p| Sink::open("--save", p)).transpose()?;
        if let (Sink::File { target, .. }, Some(Sink::File { target: other, .. })) =
            (&result, &save)
            && target == other
        {
            return Err(Refusal::usage(
                "--save: the same file as --output, which it would replace",
            ));
        }
        Ok(Outputs { result, save })
    }

    /// Standard output alone, to say that the others could not be opened.
    pub fn stdout() -> Outputs {
        Outputs { result: Sink::Stdout, save: None }
    }

    /// Writes both documents.
    ///
    /// # Errors
    /// Where one of them cannot be written; a closed standard output is none.
    pub fn write(&mut self, text: &str, record: &Record) -> Result<(), Refusal> {
        // A run that failed has no text for a person; an older result is not replaced by nothing.
        if !text.is_empty() {
            self.result.write("--output", text)?;
        }
        match &mut self.save {
            Some(sink) => sink.write("--save", &report::json::render(record, true)),
            None => Ok(()),
        }
    }
}

fn refused(flag: &str, path: &Path, error: &io::Error) -> Refusal {
    let message = format!("{flag}: write {}: {error}", path.display());
    Refusal::cannot("output", "write", message, "give a file in a directory that can be written")
}

/// The place of a file that may not exist yet, absolute and without links.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    if path.is_symlink() {
        return path.canonicalize();
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(folder.unwrap_or(Path::new(".")).canonicalize()?.join(name))
}

impl Sink {
    fn open(flag: &str, path: &Path) -> Result<Sink, Refusal> {
        let path = path.to_owned();
        let is_special = path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir());
        if is_special {
            return Ok(Sink::Special { path });
        }
        if path.is_dir() {
            let error = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(refused(flag, &path, &error));
        }
        let made = resolved(&path).and_then(|target| {
            let folder = target.parent().unwrap_or(Path::new("/"));
            // As open(2) makes one: readable as far as the umask allows.
            let ordinary = Permissions::from_mode(0o666);
            let file = tempfile::Builder::new().permissions(ordinary).tempfile_in(folder)?;
            Ok((file, target))
        });
        match made {
            Ok((file, target)) => Ok(Sink::File { path, target, temporary: Some(file) }),
            Err(error) => Err(refused(flag, &path, &error)),
        }
    }

    fn write(&mut self, flag: &str, text: &str) -> Result<(), Refusal> {
        match self {
            Sink::Stdout => write_stdout(text),
            Sink::Special { path } => {
                let written = OpenOptions::new().write(true).open(&*path);
                let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
                written.map_err(|error| refused(flag, path, &error))
            }
            Sink::File { path, target, temporary } => {
                let Some(mut file) = temporary.take() else { return Ok(()) };
                let written = file.write_all(text.as_bytes()).and_then(|()| file.flush());
                written.map_err(|error| refused(flag, path, &error))?;
                let kept = file.persist(&*target);
                kept.map(drop).map_err(|error| refused(flag, path, &error.error))
            }
        }
    }
}

/// Writes to standard output; a reader that has seen enough (`| head`) is no error.
///
/// # Errors
/// Where it cannot be written for another reason, such as a full disk.
pub fn write_stdout(text: &str) -> Result<(), Refusal> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let message = format!("write standard output: {error}");
            Err(Refusal::cannot("output", "write", message, "give it a place that can be written"))
        }
        _ => Ok(()),
    }
}

/// One line on standard error; there is nobody to tell where that is closed.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_only_when_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.json");
        let mut sink = Sink::open("--output", &path).unwrap();
        assert!(!path.exists());
        sink.write("--output", "{}\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
        drop(Sink::open("--output", &path).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_stays_and_its_file_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&file, "older").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        Sink::open("--output", &link).unwrap().write("--output", "newer").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "newer");
    }

    #[test]
    fn a_place_that_cannot_be_written_is_found_before_the_run_where_it_can() {
        let dir = tempfile::tempdir().unwrap();
        for path in [dir.path().join("none/out"), dir.path().to_owned()] {
            let refusal = Sink::open("--save", &path).unwrap_err();
            assert_eq!(refusal.exit_code, 3);
            assert!(refusal.report.message.starts_with("--save: write"));
        }
        let full = Sink::open("--output", Path::new("/dev/full")).unwrap().write("--output", "x");
        assert!(full.unwrap_err().report.message.contains("/dev/full"));
    }
}
