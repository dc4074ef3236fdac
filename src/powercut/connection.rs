//! A connection to a witness: no answer is waited for without an end, and after a signal hardly at all.

use std::io::{self, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::wire::{GREETING, NO, OK};
use super::witness::next_line;
use crate::program::Waiting;

/// How long somebody is waited for who is not there.
pub const CONNECT_MAX: Duration = Duration::from_secs(5);
/// A witness syncs before it answers; a disk that takes longer is no witness.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// The same after a signal: whoever pressed Ctrl-C waits too.
const ANSWER_MAX_SIGNALLED: Duration = Duration::from_secs(1);
/// How often a signal is looked for meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A connection that has been greeted.
#[derive(Debug)]
pub struct Connection(BufReader<Patient>);

impl Connection {
    /// Connects within `patience` to one of the addresses of `host:port` and says the token.
    ///
    /// # Errors
    /// Where nobody is reached, or does not let in.
    pub fn open(
        address: &str,
        token: &str,
        waiting: Option<&Waiting>,
        patience: Duration,
    ) -> io::Result<Connection> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for place in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&place, patience) {
                Ok(stream) => return Connection::greet(stream, token, waiting),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn greet(stream: TcpStream, token: &str, waiting: Option<&Waiting>) -> io::Result<Connection> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LOOK_EVERY))?;
        stream.set_write_timeout(Some(ANSWER_MAX))?;
        let patient = Patient { stream, waiting: waiting.cloned() };
        let mut connection = Connection(BufReader::new(patient));
        connection.send(&format!("{GREETING}{token}"))?;
        connection.expect_ok()?;
        Ok(connection)
    }

    /// Says a line.
    ///
    /// # Errors
    /// Where the connection is broken.
    pub fn send(&mut self, line: &str) -> io::Result<()> {
        self.0.get_mut().stream.write_all(format!("{line}\n").as_bytes())
    }

    /// The next line of the answer; nothing at its end.
    ///
    /// # Errors
    /// Where the connection is broken, or nothing comes.
    pub fn line(&mut self) -> io::Result<Option<String>> {
        next_line(&mut self.0)
    }

    /// Waits for a yes.
    ///
    /// # Errors
    /// Where none comes; `PermissionDenied` where a no does.
    pub fn expect_ok(&mut self) -> io::Result<()> {
        match self.line()?.as_deref() {
            Some(OK) => Ok(()),
            Some(line) => Err(refused(line)),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// What an answer says that is neither a yes nor what was asked for.
pub fn refused(line: &str) -> io::Error {
    let why = line.strip_prefix(NO).unwrap_or("the other side is no witness of this version");
    io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned())
}

/// A network that swallows everything breaks no connection: only time tells.
#[derive(Debug)]
struct Patient {
    /// Its reads end after [`LOOK_EVERY`].
    stream: TcpStream,
    waiting: Option<Waiting>,
}

impl Read for Patient {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let began = Instant::now();
        let mut signalled: Option<Instant> = None;
        loop {
            match self.stream.read(into) {
                Err(error) if is_timeout(&error) => {}
                read => return read,
            }
            if self.waiting.as_ref().is_some_and(|waiting| waiting.signal().is_some()) {
                let since = *signalled.get_or_insert_with(Instant::now);
                if since.elapsed() > ANSWER_MAX_SIGNALLED {
                    return Err(silent("it had not answered when the signal came"));
                }
            }
            if began.elapsed() > ANSWER_MAX {
                return Err(silent("it has not answered for 10 s"));
            }
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn silent(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, why.to_owned())
}
