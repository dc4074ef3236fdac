//! Two locks for parallel tests of one machine.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static HEAVY: Mutex<()> = Mutex::new(());
static RINGS: RwLock<()> = RwLock::new(());

/// Held by tests that keep a CPU or the disk busy for long, so that two CPUs are enough. Taken before
/// the lock of the rings where both are needed.
pub fn heavy() -> MutexGuard<'static, ()> {
    // A test that failed with the lock has broken nothing that the next one relies on.
    HEAVY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Held by every test of this binary, those on the FUSE rig too, while it runs an arm with a ring:
/// `kernel.io_uring_disabled` is one value for the whole machine, and a test sets it.
pub fn rings_are_used() -> RwLockReadGuard<'static, ()> {
    RINGS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Held while io_uring is forbidden on the whole machine.
pub fn rings_may_be_forbidden() -> RwLockWriteGuard<'static, ()> {
    RINGS.write().unwrap_or_else(PoisonError::into_inner)
}

/// A file of /proc/sys with another value until this is dropped.
#[derive(Debug)]
pub struct Sysctl {
    file: PathBuf,
    before: String,
}

impl Sysctl {
    /// Writes `value`; nothing where the kernel has no such file.
    pub fn set(file: &str, value: &str) -> Option<Sysctl> {
        let file = PathBuf::from(file);
        let before = fs::read_to_string(&file).ok()?;
        let guard = Sysctl { file, before };
        fs::write(&guard.file, value).expect("root may write it");
        Some(guard)
    }
}

impl Drop for Sysctl {
    fn drop(&mut self) {
        fs::write(&self.file, &self.before).expect("the value that it had");
    }
}
