//! The work directory: made without touching anything that exists, marked, held, and removed.
//!
//! A marker file held under flock tells a living run from a dead one. It is locked under another name
//! and renamed, so that at no moment there is a marker that nobody holds.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::Flock;
use synctail_bench::{Fault, PROBE_FILE};
use synctail_sys::{DirHandle, OpenMode, SysError, lock_exclusive};

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
    parent: DirHandle,
    handle: Arc<DirHandle>,
    /// Unlocked when the process ends, however it ends.
    _held: Flock<File>,
}

impl Directory {
    /// Makes `.synctail-XXXX` with mode 0700 in `parent`.
    pub fn create(parent: &Path) -> Result<Directory, Fault> {
        let parent = DirHandle::open(parent)?;
        let handle = make_in(&parent)?;
        match hold_marker(&handle) {
            Ok(held) => Ok(Directory { parent, handle: Arc::new(handle), _held: held }),
            Err(error) => {
                // Why it could not be removed matters less than why it could not be used.
                let _ = remove_ours(&parent, &handle);
                Err(error.into())
            }
        }
    }

    /// Where files are made.
    pub fn handle(&self) -> &Arc<DirHandle> {
        &self.handle
    }

    /// The path's bytes.
    pub fn path_bytes(&self) -> Vec<u8> {
        self.handle.path().as_os_str().as_bytes().to_vec()
    }

    /// Removes the directory and our files in it.
    pub fn remove(&self) -> Result<(), SysError> {
        remove_ours(&self.parent, &self.handle)
    }
}

/// A new directory with a name that nobody has.
fn make_in(parent: &DirHandle) -> Result<DirHandle, SysError> {
    let mut failure = None;
    // What is made is no file, so that the builder could not remove it: `remove_ours` does.
    let made = tempfile::Builder::new().prefix(PREFIX).disable_cleanup(true).make_in(
        parent.path(),
        |path| {
            let made = parent.make_dir(path.file_name().unwrap_or_default());
            made.map_err(|error| {
                let errno = io::Error::from_raw_os_error(error.errno);
                failure = Some(error);
                errno
            })
        },
    );
    match (made, failure) {
        (Ok(made), _) => Ok(made.into_parts().0),
        (Err(_), Some(failure)) => Err(failure),
        (Err(error), None) => Err(SysError::new("mkdir", parent.path().to_string_lossy(), &error)),
    }
}

fn hold_marker(dir: &DirHandle) -> Result<Flock<File>, SysError> {
    let (unlocked, marker) = (OsStr::new(MARKER_UNLOCKED), OsStr::new(MARKER));
    let mut file = dir.create(unlocked, OpenMode::default())?;
    // A full filesystem may have no room for the text; the name and the lock are what counts.
    let _ = file.write_all(MARKER_TEXT.as_bytes());
    let object = || dir.path().join(MARKER_UNLOCKED).to_string_lossy().into_owned();
    let held =
        lock_exclusive(file).ok_or_else(|| SysError::of("flock", object(), Errno::EWOULDBLOCK))?;
    dir.rename(unlocked, marker)?;
    Ok(held)
}

/// Whether a file in a work directory was made by us.
fn is_ours(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    let digits = |part: &[u8]| part.len() >= 5 && part.iter().all(u8::is_ascii_digit);
    // Of a worker, or of the load: one that is being made, one that is complete.
    let segment = bytes.split_first().filter(|(first, _)| b"wlr".contains(first));
    let segment = segment.and_then(|(_, rest)| {
        let dash = rest.iter().position(|&b| b == b'-')?;
        Some(digits(&rest[..dash]) && digits(&rest[dash + 1..]))
    });
    let single = [MARKER, MARKER_UNLOCKED, PROBE_FILE].iter().any(|ours| name == *ours);
    single || segment == Some(true)
}

/// Removes our files and then the directory; where a file is not ours, it stays, and so do marker and
/// directory. The marker goes last, so that a removal that is cut short can be finished by `--clean`.
///
/// # Errors
/// The first of them; what else can be removed is.
fn remove_ours(parent: &DirHandle, dir: &DirHandle) -> Result<(), SysError> {
    let mut result = Ok(());
    for name in dir.names()? {
        let removed = match name.as_os_str() {
            name if name == MARKER => continue,
            name if is_ours(name) => dir.remove(name),
            _ => Err(SysError::of("rmdir", dir.path().to_string_lossy(), Errno::ENOTEMPTY)),
        };
        result = result.and(removed);
    }
    result?;
    dir.remove(OsStr::new(MARKER))?;
    parent.remove_dir(dir)
}

/// Looks for work directories whose run is dead, and removes them if asked.
pub fn leftovers(parent: &Path, clean: bool) -> Leftovers {
    let mut leftovers = Leftovers::default();
    let Ok(parent) = DirHandle::open(parent) else { return leftovers };
    let names = parent.names().unwrap_or_default();
    for name in names.iter().filter(|name| name.as_bytes().starts_with(PREFIX.as_bytes())) {
        let Ok(dir) = parent.open_dir(name) else { continue };
        // Held until it is removed, so that two cleaning runs do not meet.
        let Some(_held) = lock_dead(&dir) else { continue };
        let shown = dir.path().to_string_lossy().into_owned();
        if clean && remove_ours(&parent, &dir).is_ok() {
            leftovers.removed.push(shown);
        } else {
            leftovers.found.push(shown);
        }
    }
    leftovers
}

/// The marker's lock, if there is a marker of ours and nobody holds it.
fn lock_dead(dir: &DirHandle) -> Option<Flock<File>> {
    let mut marker = dir.read(OsStr::new(MARKER)).ok()?;
    let mut text = String::new();
    (&mut marker).take(4_096).read_to_string(&mut text).ok()?;
    let ours = text == MARKER_TEXT || text.is_empty();
    if ours { lock_exclusive(marker) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
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
    fn a_directory_whose_parent_was_renamed_is_removed_all_the_same() {
        let above = tempfile::tempdir().unwrap();
        let (before, after) = (above.path().join("before"), above.path().join("after"));
        fs::create_dir(&before).unwrap();
        let ours = Directory::create(&before).unwrap();
        fs::write(ours.handle().path().join("w00000-000000"), "x").unwrap();
        fs::rename(&before, &after).unwrap();
        ours.remove().unwrap();
        assert_eq!(fs::read_dir(&after).unwrap().count(), 0);
    }

    #[test]
    fn one_thing_that_cannot_be_removed_does_not_keep_the_rest() {
        let parent = tempfile::tempdir().unwrap();
        let ours = Directory::create(parent.path()).unwrap();
        let path = ours.handle().path().to_owned();
        for number in 0..20 {
            fs::write(path.join(format!("w00000-{number:06}")), "x").unwrap();
        }
        fs::create_dir(path.join("w00000-009999")).unwrap();
        assert!(ours.remove().unwrap_err().to_string().contains("w00000-009999"));
        let mut left: Vec<_> =
            fs::read_dir(&path).unwrap().flatten().map(|e| e.file_name()).collect();
        left.sort();
        assert_eq!(left, [MARKER, "w00000-009999"]);
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
        for name in [
            "marker",
            "marker.new",
            "probe",
            "w00000-000000",
            "w12345-1234567",
            "l00001-000002",
            "r00001-000002",
        ] {
            assert!(is_ours(OsStr::new(name)), "{name}");
        }
        for name in ["w", "w-", "w0-0", "wx0000-000000", "w00000-000000x", "precious", ""] {
            assert!(!is_ours(OsStr::new(name)), "{name}");
        }
    }
}
