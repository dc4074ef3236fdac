//! Reads the trace while the run goes on, so that the kernel's memory for it does not fill up.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::event::Event;
use super::line::{self, Names};

/// Between two looks; a busy disk fills the buffer in many seconds.
const INTERVAL: Duration = Duration::from_millis(100);
/// Longest time to read on once the run is over: the parent has to end.
const LAST_READ: Duration = Duration::from_millis(600);
/// About 200 MB.
const EVENTS_MAX: usize = 4_000_000;
const CHUNK_BYTES: usize = 256 << 10;
/// No line of the kernel is longer.
const LINE_BYTES_MAX: usize = 8 << 10;

/// What was read.
#[derive(Debug, Default)]
pub struct Collected {
    /// Ascending in time.
    pub events: Vec<Event>,
    /// Who asked for requests.
    pub names: Names,
    /// Events for which there was no room.
    pub dropped: u64,
    rest: Vec<u8>,
}

/// The thread that reads.
#[derive(Debug)]
pub struct Reader {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Collected>>,
}

impl Reader {
    /// Begins to read `pipe`, which never waits.
    ///
    /// # Errors
    /// Where the thread cannot be made.
    pub fn start(pipe: File) -> std::io::Result<Reader> {
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let thread =
            thread::Builder::new().name("trace".to_owned()).spawn(move || collect(pipe, &told))?;
        Ok(Reader { over, thread: Some(thread) })
    }

    /// Reads what is left and ends.
    pub fn finish(mut self) -> Collected {
        self.end()
    }

    fn end(&mut self) -> Collected {
        self.over.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return Collected::default() };
        thread.thread().unpark();
        thread.join().unwrap_or_default()
    }
}

impl Drop for Reader {
    /// The kernel removes no instance that is being read.
    fn drop(&mut self) {
        self.end();
    }
}

fn collect(mut pipe: impl Read, over: &AtomicBool) -> Collected {
    let mut all = Collected::default();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut deadline = None;
    loop {
        if over.load(Ordering::Relaxed) {
            deadline.get_or_insert_with(|| Instant::now() + LAST_READ);
        }
        if deadline.is_some_and(|at| Instant::now() >= at) {
            break;
        }
        match pipe.read(&mut chunk) {
            Ok(0) => break,
            Ok(bytes) => all.take(&chunk[..bytes]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock && deadline.is_none() => {
                thread::park_timeout(INTERVAL);
            }
            // All was read, or it can be read no more.
            Err(_) => break,
        }
    }
    // Each CPU's events are in order; where they are joined a late one may stand behind.
    all.events.sort_by_key(|event| event.tick);
    all
}

impl Collected {
    fn take(&mut self, bytes: &[u8]) {
        let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
        if !self.rest.is_empty() {
            self.rest.extend_from_slice(lines.next().unwrap_or_default());
            if self.rest.ends_with(b"\n") || self.rest.len() > LINE_BYTES_MAX {
                let line = std::mem::take(&mut self.rest);
                self.line(&line);
            }
        }
        for line in lines {
            match line.ends_with(b"\n") {
                true => self.line(line),
                false => self.rest = line.to_vec(),
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let Some(event) = line::event(line, &mut self.names) else { return };
        if self.events.len() < EVENTS_MAX {
            self.events.push(event);
        } else {
            self.dropped += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::event::What;

    /// Gives its text in pieces of odd lengths, as a pipe may.
    struct Pieces(Vec<u8>, usize);

    impl Read for Pieces {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Err(ErrorKind::WouldBlock.into());
            }
            let bytes = self.1.min(self.0.len()).min(into.len());
            into[..bytes].copy_from_slice(&self.0[..bytes]);
            self.0.drain(..bytes);
            Ok(bytes)
        }
    }

    #[test]
    fn lines_are_whole_however_they_arrive() {
        let line = |tick: u64| {
            format!(
                "      jbd2/vda-8-230     [001] ..... {tick}: jbd2_end_commit: dev 254,0 head 1\n"
            )
        };
        let text = format!("{}# noise\n{}{}", line(30), line(10), line(20));
        for piece in [1, 7, 64, 100_000] {
            let over = AtomicBool::new(true);
            let all = collect(Pieces(text.clone().into_bytes(), piece), &over);
            let ticks: Vec<u64> = all.events.iter().map(|event| event.tick).collect();
            assert_eq!(ticks, [10, 20, 30], "pieces of {piece}");
            assert!(all.events.iter().all(|event| event.what == What::Journal(false)));
        }
    }

    #[test]
    fn a_line_without_an_end_is_not_kept_for_ever() {
        let mut all = Collected::default();
        for _ in 0..10 {
            all.take(&[b'x'; LINE_BYTES_MAX]);
        }
        assert!(all.rest.len() <= LINE_BYTES_MAX + 1);
    }
}
