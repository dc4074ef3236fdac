//! The measuring child: forked, so that it shares the sample memory, before any thread exists.

use std::fs::OpenOptions;

use nix::errno::Errno;
use nix::unistd::{ForkResult, dup2_stderr, dup2_stdin, dup2_stdout};

use crate::SysError;

/// Which side of [`fork`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fork {
    /// The caller, with the child's process id.
    Parent(i32),
    /// The new process.
    Child,
}

/// Forks. Refused with EBUSY when other threads exist: locks that they hold would stay locked in the
/// child for ever.
pub fn fork() -> Result<Fork, SysError> {
    let refused = |errno| SysError::of("fork", "the measuring process", errno);
    if thread_count().is_some_and(|threads| threads > 1) {
        return Err(refused(Errno::EBUSY));
    }
    // SAFETY: this process has one thread, so the child inherits no lock in a held state and may go on
    // to use the allocator and the standard library.
    match unsafe { nix::unistd::fork() } {
        Ok(ForkResult::Parent { child }) => Ok(Fork::Parent(child.as_raw())),
        Ok(ForkResult::Child) => Ok(Fork::Child),
        Err(errno) => Err(refused(errno)),
    }
}

/// Threads of this process, where /proc tells.
fn thread_count() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

/// Points standard input, output and error at /dev/null: a child that must be left behind may not keep
/// the terminal or a pipe of the caller's open.
pub fn detach_stdio() -> Result<(), SysError> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null");
    let null = null.map_err(|error| SysError::new("open", "/dev/null", &error))?;
    let failed = |errno| SysError::of("dup2", "/dev/null", errno);
    dup2_stdin(&null).map_err(failed)?;
    dup2_stdout(&null).map_err(failed)?;
    dup2_stderr(&null).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_threads_is_not_forked() {
        // The test harness runs this in a thread of its own, so there are two.
        if thread_count().is_some() {
            assert_eq!(fork().unwrap_err().errno, libc::EBUSY);
        }
    }
}
