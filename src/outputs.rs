//! Where results go: opened before the run, so that a run is not lost at its end.

mod special;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::args::{OutputArgs, PlotArgs};
use crate::record::Record;
use crate::refusal::Refusal;
use crate::report;
use crate::report::plot::PlotOptions;
use crate::supervise::{let_signals_kill, signals_kill};

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
    },
    /// A device or pipe that exists, such as /dev/full.
    Special {
        path: PathBuf,
    },
}

/// The result, and the record if it is to be saved or drawn.
#[derive(Debug)]
pub struct Outputs {
    result: Sink,
    save: Option<Sink>,
    report: Option<Sink>,
}

impl Outputs {
    /// Tries what was asked for.
    ///
    /// # Errors
    /// Where a file cannot be created, or where one place is to hold both documents.
    pub fn open(args: &OutputArgs) -> Result<Outputs, Refusal> {
        let result =
            args.output.as_deref().map_or(Ok(Sink::Stdout), |p| Sink::open("--output", p))?;
        let save = args.save.as_deref().map(|p| Sink::open("--save", p)).transpose()?;
        let report = args.report.as_deref().map(|p| Sink::open("--report", p)).transpose()?;
        let all =
            [("--output", Some(&result)), ("--save", save.as_ref()), ("--report", report.as_ref())];
        let all: Vec<(&str, &Sink)> =
            all.into_iter().filter_map(|(flag, sink)| Some((flag, sink?))).collect();
        for (i, (flag, sink)) in all.iter().enumerate() {
            for (earlier, other) in &all[..i] {
                sink.apart_from(flag, other, earlier)?;
            }
        }
        Ok(Outputs { result, save, report })
    }

    /// Standard output alone, to say that the others could not be opened.
    pub fn stdout() -> Outputs {
        Outputs { result: Sink::Stdout, save: None, report: None }
    }

    /// How to draw in the result: in colour only where a terminal shows it that has colours, and whose
    /// user wants them (no-color.org).
    pub fn plot_options(&self, args: &PlotArgs) -> PlotOptions {
        let var = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let has_colours = var("TERM").is_some_and(|term| term != "dumb");
        let is_seen = matches!(self.result, Sink::Stdout) && io::stdout().is_terminal();
        let colour = is_seen && has_colours && var("NO_COLOR").is_none();
        PlotOptions { ascii: args.ascii, colour }
    }

    /// Saves the record where that was asked: before the result, which says how that ended.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn save(&self, record: &Record) -> Result<(), Refusal> {
        let Some(sink) = &self.save else { return Ok(()) };
        sink.write("--save", &report::json::render(record, true))
    }

    /// Draws the record where that was asked.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn draw(&self, page: impl FnOnce() -> String) -> Result<(), Refusal> {
        self.report.as_ref().map_or(Ok(()), |sink| sink.write("--report", &page()))
    }

    /// Writes the result. A run that failed has no text for a person: an older result is not replaced
    /// by nothing.
    ///
    /// # Errors
    /// Where it cannot be written; a closed standard output is none.
    pub fn write(&self, text: &str) -> Result<(), Refusal> {
        if text.is_empty() { Ok(()) } else { self.result.write("--output", text) }
    }
}

/// Writes one document to where `flag` says.
///
/// # Errors
/// Where it cannot be written.
pub fn write_file(flag: &str, path: &Path, text: &str) -> Result<(), Refusal> {
    Sink::open(flag, path)?.write(flag, text)
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

/// A file with a name of its own beside `target`, as open(2) makes one: readable as far as the umask
/// allows. It goes away unless it is given its name.
fn beside(target: &Path) -> io::Result<NamedTempFile> {
    let folder = target.parent().unwrap_or(Path::new("/"));
    tempfile::Builder::new()
        .make_in(folder, |path| File::options().write(true).create_new(true).mode(0o666).open(path))
}

impl Sink {
    /// Refuses one place for two documents.
    fn apart_from(&self, flag: &str, other: &Sink, earlier: &str) -> Result<(), Refusal> {
        let why = match (self, other) {
            (Sink::File { target, .. }, Sink::File { target: same, .. }) if target == same => {
                format!("the same file as {earlier}, which it would replace")
            }
            (Sink::Stdout, Sink::Stdout) => {
                "standard output carries the result; give a file to one of them".to_owned()
            }
            _ => return Ok(()),
        };
        Err(Refusal::usage(format!("{flag}: {why}")))
    }

    fn open(flag: &str, path: &Path) -> Result<Sink, Refusal> {
        if path == OsStr::new("-") {
            return Ok(Sink::Stdout);
        }
        let path = path.to_owned();
        let is_special = path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir());
        if is_special {
            return Ok(Sink::Special { path });
        }
        if path.is_dir() {
            let error = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(refused(flag, &path, &error));
        }
        // Made and dropped: nothing lies there during the run, whatever ends it.
        let tried = resolved(&path).and_then(|target| beside(&target).map(|_| target));
        match tried {
            Ok(target) => Ok(Sink::File { path, target }),
            Err(error) => Err(refused(flag, &path, &error)),
        }
    }

    fn write(&self, flag: &str, text: &str) -> Result<(), Refusal> {
        match self {
            Sink::Stdout => {
                let_signals_kill();
                let written = write_stdout(text);
                // Who has the whole result shall have its exit code too.
                signals_kill(false);
                written
            }
            Sink::Special { path } => {
                special::write(path, text.as_bytes()).map_err(|error| refused(flag, path, &error))
            }
            Sink::File { path, target } => {
                let written = beside(target).and_then(|mut file| {
                    file.write_all(text.as_bytes())?;
                    file.persist(target).map_err(|error| error.error)
                });
                written.map(drop).map_err(|error| refused(flag, path, &error))
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
        let sink = Sink::open("--output", &path).unwrap();
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
