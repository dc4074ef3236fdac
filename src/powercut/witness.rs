//! The witness: it keeps what was acknowledged, on a machine that does not lose its power.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use nix::errno::Errno;

use super::store::Store;
use super::wire::{Acknowledged, END, Entry, GREETING, LINE_BYTES_MAX, NO, OK, Request};

/// A connection that says nothing for this long is closed: a machine without power says no goodbye.
const SILENCE_MAX: Duration = Duration::from_secs(600);
/// Who does not say the token within this is not let in.
const GREETING_MAX: Duration = Duration::from_secs(10);
/// After a connection could not be taken.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);
/// More connections than a thousand workers and a few who only ask.
const CONNECTIONS_MAX: usize = 1_100;

/// What the connections share.
#[derive(Debug)]
pub struct Witness {
    token: String,
    store: Mutex<Store>,
}

impl Witness {
    /// A witness that lets in who knows `token`.
    pub fn new(token: String, store: Store) -> Witness {
        Witness { token, store: Mutex::new(store) }
    }

    /// Takes connections until the listener is none; each has a thread.
    ///
    /// # Errors
    /// What the listener says.
    pub fn serve(self, listener: &TcpListener) -> io::Result<()> {
        let shared = Arc::new(self);
        loop {
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if is_lasting(&error) => return Err(error),
                // Too many open files, no memory, a network that went: whoever waits is taken later.
                Err(_) => {
                    thread::sleep(ACCEPT_AGAIN);
                    continue;
                }
            };
            // Each thread holds one reference, and this function another.
            if Arc::strong_count(&shared) > CONNECTIONS_MAX {
                continue;
            }
            let witness = Arc::clone(&shared);
            let spawned = thread::Builder::new().name("connection".into()).spawn(move || {
                // A connection that breaks is the other side's matter.
                let _ = witness.talk(&stream);
            });
            drop(spawned);
        }
    }

    fn talk(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(GREETING_MAX))?;
        stream.set_write_timeout(Some(GREETING_MAX))?;
        let (mut answers, mut requests) = (stream, BufReader::new(stream));
        let greeting = next_line(&mut requests)?.unwrap_or_default();
        if !greeting.strip_prefix(GREETING).is_some_and(|token| same(token, &self.token)) {
            return answer(&mut answers, &format!("{NO}the token or the version is another"));
        }
        answer(&mut answers, OK)?;
        stream.set_read_timeout(Some(SILENCE_MAX))?;
        while let Some(line) = next_line(&mut requests)? {
            match Request::parse(&line) {
                Ok(request) => self.serve_request(request, &mut answers)?,
                Err(why) => answer(&mut answers, &format!("{NO}{why}"))?,
            }
        }
        Ok(())
    }

    fn serve_request(&self, request: Request, answers: &mut impl Write) -> io::Result<()> {
        let Some(entry) = entry(&request) else {
            return self.tell(answers, |entry| asked_for(&request, entry));
        };
        match self.add(&entry) {
            Ok(()) => answer(answers, OK),
            Err(error) => answer(answers, &format!("{NO}it cannot be stored: {error}")),
        }
    }

    fn add(&self, entry: &Entry) -> io::Result<()> {
        // A thread that panicked left whole lines, or a half one that is passed over.
        self.store.lock().unwrap_or_else(PoisonError::into_inner).add(entry)
    }

    fn tell(&self, answers: &mut impl Write, wanted: impl Fn(&Entry) -> bool) -> io::Result<()> {
        let mut text = Vec::new();
        let mut failed = Ok(());
        self.store.lock().unwrap_or_else(PoisonError::into_inner).each(|entry| {
            if failed.is_ok() && wanted(&entry) {
                failed = serde_json::to_writer(&mut text, &entry).map_err(io::Error::from);
                text.push(b'\n');
            }
        })?;
        failed?;
        text.extend(END.as_bytes());
        text.push(b'\n');
        answers.write_all(&text)
    }
}

/// The next line without its end; nothing at the end of what is said.
///
/// # Errors
/// Where the connection breaks, or the line is longer than any that is meant.
pub fn next_line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let read = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(String::from_utf8_lossy(&line).into_owned())),
        Some(_) if read as u64 == LINE_BYTES_MAX => Err(io::ErrorKind::InvalidData.into()),
        // Half a line: whoever wrote it is gone.
        Some(_) => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// What is to be stored; nothing where something is only asked for.
pub fn entry(request: &Request) -> Option<Entry> {
    match request.clone() {
        Request::Run(plan) => Some(Entry::Run(plan)),
        Request::Acknowledge(Acknowledged { run, worker, sequence }) => {
            Some(Entry::Ack { run, worker, sequence, at_ms: now_ms() })
        }
        Request::End(run) => Some(Entry::End { run }),
        Request::Read(_) | Request::List => None,
    }
}

/// Whether an entry is part of the answer.
pub fn asked_for(request: &Request, entry: &Entry) -> bool {
    match request {
        Request::Read(run) => entry.run() == run,
        Request::List => matches!(entry, Entry::Run(_)),
        _ => false,
    }
}

/// Whether every further try says the same: this is no socket, or it does not listen.
fn is_lasting(error: &io::Error) -> bool {
    let lasting = [Errno::EBADF, Errno::EINVAL, Errno::ENOTSOCK, Errno::EOPNOTSUPP];
    lasting.iter().any(|errno| error.raw_os_error() == Some(*errno as i32))
}

fn answer(stream: &mut impl Write, line: &str) -> io::Result<()> {
    stream.write_all(format!("{line}\n").as_bytes())
}

/// Whether two tokens are the same, in a time that does not tell how far.
fn same(given: &str, wanted: &str) -> bool {
    let differences = given.bytes().zip(wanted.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == wanted.len() && differences == 0
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_token_is_the_same() {
        assert!(same("abc", "abc"));
        for other in ["", "ab", "abd", "abcd", "Abc"] {
            assert!(!same(other, "abc"), "{other}");
        }
    }

    #[test]
    fn a_half_line_is_not_taken_for_a_whole_one() {
        let mut text = &b"one\ntwo"[..];
        assert_eq!(next_line(&mut text).unwrap().as_deref(), Some("one"));
        assert_eq!(next_line(&mut text).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(next_line(&mut &b""[..]).unwrap(), None);
        let endless = vec![b'x'; LINE_BYTES_MAX as usize + 9];
        let error = next_line(&mut &endless[..]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
