//! Limits and signal dispositions of the measuring child.

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigHandler, Signal, signal};

use crate::SysError;

/// Raises the limit of open files to the hard limit and returns it: a thousand rings need more than
/// two thousand descriptors.
pub fn raise_open_files_limit() -> Result<u64, SysError> {
    let object = "RLIMIT_NOFILE";
    let failed = |operation| move |errno: Errno| SysError::of(operation, object, errno);
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(failed("getrlimit"))?;
    if soft < hard {
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).map_err(failed("setrlimit"))?;
    }
    Ok(hard)
}

/// Makes the child deaf to what the parent coordinates (interrupt, terminate, hang-up, quit) and turns
/// the two signals that kill by default into errors: SIGXFSZ into EFBIG, SIGPIPE into EPIPE. Ignored
/// signals interrupt no system call, so none of them can end a measured one early.
pub fn ignore_signals() -> Result<(), SysError> {
    let ignored = [
        Signal::SIGINT,
        Signal::SIGTERM,
        Signal::SIGHUP,
        Signal::SIGQUIT,
        Signal::SIGXFSZ,
        Signal::SIGPIPE,
    ];
    for which in ignored {
        // SAFETY: SIG_IGN installs no handler, so no code can run in a signal's context.
        let done = unsafe { signal(which, SigHandler::SigIgn) };
        done.map_err(|errno| SysError::of("signal", which.as_str(), errno))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_hard_one_afterwards() {
        let raised = raise_open_files_limit().unwrap();
        assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).unwrap().0, raised);
    }
}
