//! macOS barriers by fcntl. Compiled on Linux only in tests, against the recording `libc` below.

use std::os::fd::RawFd;

#[cfg(test)]
use self::fake_libc as libc;
use crate::CallResult;

/// fcntl(F_FULLFSYNC). There is no fall-back to fsync: a file system that does not support it must
/// fail the run, or the figure would be that of a write that is not durable.
#[inline]
pub(crate) fn full_fsync(fd: RawFd) -> CallResult {
    command(fd, libc::F_FULLFSYNC)
}

/// fcntl(F_BARRIERFSYNC): orders writes, does not flush the drive's cache.
#[inline]
pub(crate) fn barrier_fsync(fd: RawFd) -> CallResult {
    command(fd, libc::F_BARRIERFSYNC)
}

#[inline]
fn command(fd: RawFd, command: i32) -> CallResult {
    // SAFETY: both commands take a descriptor and no argument; a descriptor that is not open is
    // answered by EBADF.
    let value = unsafe { libc::fcntl(fd, command) };
    // fcntl promises "a value other than -1", not 0.
    CallResult::from_return(if value == -1 { -1 } else { 0 })
}

#[cfg(test)]
mod fake_libc {
    use std::cell::RefCell;

    pub const F_FULLFSYNC: i32 = 51;
    pub const F_BARRIERFSYNC: i32 = 85;

    thread_local! {
        pub static CALLS: RefCell<Vec<(i32, i32)>> = const { RefCell::new(Vec::new()) };
        pub static ANSWER: RefCell<Result<i32, i32>> = const { RefCell::new(Ok(0)) };
    }

    pub unsafe fn fcntl(fd: i32, command: i32) -> i32 {
        CALLS.with_borrow_mut(|calls| calls.push((fd, command)));
        ANSWER.with_borrow(|answer| match *answer {
            Ok(value) => value,
            Err(errno) => {
                nix::errno::Errno::from_raw(errno).set();
                -1
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(answer: Result<i32, i32>) -> (CallResult, Vec<(i32, i32)>) {
        fake_libc::ANSWER.set(answer);
        fake_libc::CALLS.take();
        (full_fsync(7), fake_libc::CALLS.take())
    }

    #[test]
    fn a_full_flush_is_one_fcntl_and_a_refusal_is_not_replaced_by_fsync() {
        let asked = vec![(7, fake_libc::F_FULLFSYNC)];
        assert_eq!(answered(Ok(0)), (CallResult(0), asked.clone()));
        let refused = CallResult(-::libc::ENOTSUP);
        assert_eq!(answered(Err(::libc::ENOTSUP)), (refused, asked));
    }

    #[test]
    fn any_value_but_minus_one_is_success() {
        assert!(answered(Ok(3)).0.is_success());
    }

    #[test]
    fn the_barrier_is_another_command() {
        fake_libc::ANSWER.set(Ok(0));
        fake_libc::CALLS.take();
        assert!(barrier_fsync(9).is_success());
        assert_eq!(fake_libc::CALLS.take(), [(9, fake_libc::F_BARRIERFSYNC)]);
    }
}
