//! The work directory: made without touching anything that exists, marked, held, and removed.
//!
//! A marker file held under flock tells a living run from a dead one. It is locked under another name
//! and renamed, so that at no moment there is a marker that nobody holds.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::{Flock, OFlag};
use synctail_bench::Fault;
use synctail_sys::{SysError, WorkDir, lock_exclusive};

use super::event::Leftovers;
use crate::record::Facts;

const PREFIX: &str = ".synctail-";
const MARKER: &str = "marker";
const MARKER_UNLOCKED: &str = "marker.new";
const MARKER_TEXT: &str = "work directory of synctail; removed by synctail check --clean\n";

/// The path in `facts`.
pub fn path_of(facts: &Facts) -> PathBuf {
    PathBuf::from(OsString::from_vec(facts.path.clone()))
}

/// The directory of this run.
#[derive(Debug)]
pub struct Directory {
    handle: Arc<WorkDir>,
    /// Unlocked when the process ends, however it ends.
    _held: Flock<File>,
}

impl Directory {
    /// Makes `.synctail-XXXX` with mode 0700 in `parent`.
    pub fn create(parent: &Path) -> Result<Directory, Fault> {
        let failed = |operation| {
            move |error: io::Error| SysError::new(operation, parent.to_string_lossy(), &error)
        };
        // `tempdir_in` would wrap the error and lose its errno. What is made here is no file, so that
        // the builder could not remove it either: `remove` does, and can say why it could not.
        let made = tempfile::Builder::new()
            .prefix(PREFIX)
            .disable_cleanup(true)
            .make_in(parent, |path| DirBuilder::new().mode(0o700).create(path))
            .map_err(failed("mkdir"))?;
        let ready = || -> Result<Directory, Fault> {
            let held = hold_marker(made.path()).map_err(failed("create the marker"))?;
            Ok(Directory { handle: Arc::new(WorkDir::open(made.path())?), _held: held })
        };
        ready().inspect_err(|_| drop(remove_ours(made.path())))
    }

    /// Where files are made.
    pub fn handle(&self) -> &Arc<WorkDir> {
        &self.handle
    }

    /// The path's bytes.
    pub fn path_bytes(&self) -> Vec<u8> {
        self.handle.path().as_os_str().as_bytes().to_vec()
    }

    /// Removes the directory and our files in it.
    pub fn remove(&self) -> Result<(), SysError> {
        remove_ours(self.handle.path())
    }
}

fn hold_marker(dir: &Path) -> io::Result<Flock<File>> {
    let unlocked = dir.join(MARKER_UNLOCKED);
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&unlocked)?;
    // A full filesystem may have no room for the text; the name and the lock are what counts.
    let _ = file.write_all(MARKER_TEXT.as_bytes());
    let held = lock_exclusive(file).ok_or_else(|| io::Error::from(io::ErrorKind::WouldBlock))?;
    fs::rename(&unlocked, dir.join(MARKER))?;
    Ok(held)
}

/// Whether a file in a work directory was made by us.
fn is_ours(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    let digits = |part: &[u8]| part.len() >= 5 && part.iter().all(u8::is_ascii_digit);
    let segment = bytes.strip_prefix(b"w").and_then(|rest| {
        let dash = rest.iter().position(|&b| b == b'-')?;
        Some(digits(&rest[..dash]) && digits(&rest[dash + 1..]))
    });
    name == MARKER || name == MARKER_UNLOCKED || segment == Some(true)
}

/// Removes our files and then the directory; where a file is not ours, it stays, and so do marker and
/// directory. The marker goes last, so that a removal that is cut short can be finished by `--clean`.
fn remove_ours(dir: &Path) -> Result<(), SysError> {
    let failed = |operation, path: &Path| {
        let object = path.to_string_lossy().into_owned();
        move |error: io::Error| SysError::new(operation, object, &error)
    };
    // Opened without following a link, and unlinked from by handle: a link that was put in our place
    // must not lead to somebody else's files.
    let work = WorkDir::open(dir)?;
    let entries = fs::read_dir(dir).map_err(failed("readdir", dir))?;
    let mut foreign = false;
    for entry in entries.flatten() {
        if !is_ours(&entry.file_name()) {
            foreign = true;
        } else if entry.file_name() != MARKER {
            work.remove(&entry.file_name())?;
        }
    }
    if foreign {
        return Err(failed("rmdir", dir)(Errno::ENOTEMPTY.into()));
    }
    work.remove(OsStr::new(MARKER))?;
    fs::remove_dir(dir).map_err(failed("rmdir", dir))
}

/// Looks for work directories whose run is dead, and removes them if asked.
pub fn leftovers(parent: &Path, clean: bool) -> Leftovers {
    let mut leftovers = Leftovers::default();
    let Ok(entries) = fs::read_dir(parent) else { return leftovers };
    for entry in entries.flatten() {
        let dir = entry.path();
        let named = entry.file_name().as_bytes().starts_with(PREFIX.as_bytes());
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !named || !is_dir {
            continue;
        }
        // Held until it is removed, so that two cleaning runs do not meet.
        let Some(_held) = lock_dead(&dir) else { continue };
        let shown = dir.to_string_lossy().into_owned();
        if clean && remove_ours(&dir).is_ok() {
            leftovers.removed.push(shown);
        } else {
            leftovers.found.push(shown);
        }
    }
    leftovers
}

/// The marker's lock, if there is a marker of ours and nobody holds it.
fn lock_dead(dir: &Path) -> Option<Flock<File>> {
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let mut marker = File::options().read(true).custom_flags(flags).open(dir.join(MARKER)).ok()?;
    let mut text = String::new();
    (&mut marker).take(4_096).read_to_string(&mut text).ok()?;
    let ours = text == MARKER_TEXT || text.is_empty();
    if ours { lock_exclusive(marker) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_living_run_is_left_alone_and_a_dead_one_is_found_and_removed() {
        let parent = tempfile::tempdir().unwrap();
        let living = Directory::create(parent.path()).unwrap();
        let path = living.handle().path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(leftovers(parent.path(), true), Leftovers::default());
        fs::write(path.join("w00000-000003"), "x").unwrap();
        drop(living);
        let name = path.to_string_lossy().into_owned();
        let found = Leftovers { found: vec![name.clone()], removed: vec![] };
        assert_eq!(leftovers(parent.path(), false), found);
        assert_eq!(
            leftovers(parent.path(), true),
            Leftovers { found: vec![], removed: vec![name] }
        );
        assert!(!path.exists());
    }

    #[test]
    fn a_directory_that_cannot_be_made_keeps_its_errno() {
        let parent = tempfile::tempdir().unwrap();
        let fault = Directory::create(&parent.path().join("none")).unwrap_err();
        assert_eq!(fault.cause, synctail_bench::Cause::Errno(Errno::ENOENT as i32));
    }

    #[test]
    fn a_link_in_our_place_does_not_lead_to_other_files() {
        let parent = tempfile::tempdir().unwrap();
        let victim = parent.path().join("victim");
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("w00000-000000"), "keep").unwrap();
        let ours = Directory::create(parent.path()).unwrap();
        let path = ours.handle().path().to_owned();
        fs::rename(&path, parent.path().join("moved")).unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        assert!(ours.remove().is_err());
        assert!(victim.join("w00000-000000").exists());
    }

    #[test]
    fn what_is_not_ours_is_never_removed() {
        let parent = tempfile::tempdir().unwrap();
        let unmarked = parent.path().join(".synctail-unmarked");
        let foreign = parent.path().join(".synctail-foreign");
        for dir in [&unmarked, &foreign] {
            fs::create_dir(dir).unwrap();
            fs::write(dir.join("w00000-000000"), "keep").unwrap();
        }
        fs::write(foreign.join(MARKER), "somebody else's\n").unwrap();
        let target = parent.path().join("target");
        fs::create_dir(&target).unwrap();
        fs::write(target.join(MARKER), MARKER_TEXT).unwrap();
        std::os::unix::fs::symlink(&target, parent.path().join(".synctail-link")).unwrap();
        assert_eq!(leftovers(parent.path(), true), Leftovers::default());
        assert!(unmarked.join("w00000-000000").exists() && foreign.join(MARKER).exists());
        assert!(target.join(MARKER).exists());
    }

    #[test]
    fn a_foreign_file_in_a_dead_directory_stays_and_is_reported() {
        let parent = tempfile::tempdir().unwrap();
        let dead = Directory::create(parent.path()).unwrap();
        let path = dead.handle().path().to_owned();
        drop(dead);
        fs::write(path.join("precious"), "keep").unwrap();
        assert_eq!(leftovers(parent.path(), true).found, [path.to_string_lossy()]);
        assert_eq!(fs::read(path.join("precious")).unwrap(), b"keep");
        assert!(path.join(MARKER).exists(), "a later --clean must still know it");
    }

    #[test]
    fn only_names_that_we_give_are_ours() {
        for name in ["marker", "marker.new", "w00000-000000", "w12345-1234567"] {
            assert!(is_ours(OsStr::new(name)), "{name}");
        }
        for name in ["w", "w-", "w0-0", "wx0000-000000", "w00000-000000x", "precious", ""] {
            assert!(!is_ours(OsStr::new(name)), "{name}");
        }
    }
}
