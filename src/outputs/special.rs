//! Writing to a pipe or device that may have no reader, or a slow one: it may wait, until a signal comes.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::supervise::{let_signals_kill, signal_was_heard};

/// A program that was told to end gives a reader so long for all of a result.
const GRACE: Duration = Duration::from_millis(500);

/// Writes `text` to what lies at `path`. From here on a signal ends the process; where one ended the
/// run already, the write waits no longer than the grace.
pub fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let_signals_kill();
    if signal_was_heard() {
        hurried(path, text)
    } else {
        OpenOptions::new().write(true).open(path)?.write_all(text)
    }
}

fn hurried(path: &Path, mut text: &[u8]) -> io::Result<()> {
    let deadline = Instant::now() + GRACE;
    let opened = OpenOptions::new().write(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path);
    let mut file =
        opened.map_err(|error| match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
            Errno::ENXIO => nobody_reads(),
            _ => error,
        })?;
    while !text.is_empty() {
        match file.write(text) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => text = &text[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(nobody_reads());
                }
                wait_for_room(&file, left);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn wait_for_room(file: &File, at_most: Duration) {
    let mut fds = [PollFd::new(file.as_fd(), PollFlags::POLLOUT)];
    // Rounded up, so that the last millisecond is not spent in a busy loop.
    let patience = PollTimeout::try_from(at_most + Duration::from_millis(1));
    let _ = poll(&mut fds, patience.unwrap_or(PollTimeout::MAX));
}

fn nobody_reads() -> io::Error {
    io::Error::new(ErrorKind::TimedOut, "nobody reads it, and a signal asked for the end")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    const NONBLOCK: i32 = OFlag::O_NONBLOCK.bits();

    fn fifo() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        (dir, path)
    }

    #[test]
    fn without_a_reader_or_with_one_that_reads_nothing_it_is_given_up() {
        let (_dir, path) = fifo();
        assert_eq!(hurried(&path, b"result").unwrap_err().kind(), ErrorKind::TimedOut);
        let idle = OpenOptions::new().read(true).custom_flags(NONBLOCK).open(&path);
        let _idle = idle.unwrap();
        assert_eq!(hurried(&path, &[0; 1 << 20]).unwrap_err().kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn a_reader_gets_all_of_a_result_that_is_longer_than_a_pipe() {
        let (_dir, path) = fifo();
        let reading = OpenOptions::new().read(true).custom_flags(NONBLOCK).open(&path);
        let mut reading = reading.unwrap();
        let all = std::thread::scope(|scope| {
            let reader = scope.spawn(move || {
                let (mut all, mut buffer) = (Vec::<u8>::new(), [0; 65_536]);
                while all.len() < 1 << 20 {
                    let mut fds = [PollFd::new(reading.as_fd(), PollFlags::POLLIN)];
                    poll(&mut fds, PollTimeout::NONE).unwrap();
                    let bytes = reading.read(&mut buffer).unwrap();
                    all.extend(&buffer[..bytes]);
                }
                all
            });
            hurried(&path, &[7; 1 << 20]).unwrap();
            reader.join().unwrap()
        });
        assert!(all.len() == 1 << 20 && all.iter().all(|&byte| byte == 7));
    }
}
