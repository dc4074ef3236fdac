//! A temporary directory that knows whether anything was left in it.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A directory of its own, removed at the end.
#[derive(Debug)]
pub struct Folder(TempDir);

impl Folder {
    /// In cargo's own directory: on a disk, where /tmp may be memory.
    pub fn new() -> Folder {
        Folder::inside(Path::new(env!("CARGO_TARGET_TMPDIR")))
    }

    /// In memory, for what needs no disk and many pairs.
    pub fn in_memory() -> Folder {
        Folder::inside(Path::new("/dev/shm"))
    }

    /// Where any user may come and write.
    pub fn open_to_all() -> Folder {
        let folder = Folder::inside(&std::env::temp_dir());
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        folder
    }

    /// Below a directory that exists.
    pub fn inside(dir: &Path) -> Folder {
        let made = tempfile::Builder::new().prefix("synctail-test-").tempdir_in(dir);
        Folder(made.expect("a temporary directory"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Something in it, whether or not it exists.
    pub fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// A new directory in it.
    pub fn with_dir(&self, name: impl AsRef<Path>) -> PathBuf {
        let dir = self.at(name);
        fs::create_dir(&dir).unwrap();
        dir
    }

    /// A new file in it.
    pub fn with_file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.at(name);
        fs::write(&file, text).unwrap();
        file
    }

    /// Names in it, sorted.
    pub fn names(&self) -> Vec<OsString> {
        names_in(self.path())
    }

    /// Asserts that it is empty.
    #[track_caller]
    pub fn is_clean(&self) {
        assert_clean(self.path());
    }
}

/// Names in `dir`, sorted.
pub fn names_in(dir: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut names: Vec<OsString> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

/// Asserts that no run left anything in `dir`; what mkfs makes may stay.
#[track_caller]
pub fn assert_clean(dir: &Path) {
    let left: Vec<OsString> =
        names_in(dir).into_iter().filter(|name| name != "lost+found").collect();
    assert!(left.is_empty(), "left in {}: {left:?}", dir.display());
}
