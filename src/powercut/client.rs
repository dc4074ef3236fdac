//! The way to whoever keeps the acknowledgements: a witness over the network, or a file on another disk.

use std::io::{self, BufReader, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::store::Store;
use super::wire::{END, Entry, GREETING, NO, OK, Request};
use super::witness::{asked_for, entry, next_line};

const CONNECT_MAX: Duration = Duration::from_secs(5);
/// A witness syncs before it answers; a disk that takes longer is no witness.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// How long a broken network is waited for: a cable put back, a switch that restarts its port.
const RECONNECT_MAX: Duration = Duration::from_secs(20);
const RECONNECT_EVERY: Duration = Duration::from_millis(500);

/// Where acknowledgements go.
#[derive(Clone, Debug)]
pub enum Keeper {
    /// A witness.
    Remote {
        /// `host:port`.
        address: String,
        /// The secret that both know.
        token: String,
    },
    /// A file on a disk that keeps its power, or that is trusted.
    Local {
        /// Its path.
        path: PathBuf,
        /// It, open.
        store: Arc<Mutex<Store>>,
    },
}

impl Keeper {
    /// A file that keeps them.
    ///
    /// # Errors
    /// Where it cannot be opened.
    pub fn local(path: &Path) -> io::Result<Keeper> {
        let store = Arc::new(Mutex::new(Store::open(path)?));
        Ok(Keeper::Local { path: path.to_owned(), store })
    }

    /// Opens a way to it; one for each worker.
    ///
    /// # Errors
    /// Where it is not reached, or does not let in.
    pub fn open(&self) -> io::Result<Line> {
        match self {
            Keeper::Remote { address, token } => {
                let stream = connect(address, token)?;
                Ok(Line::Remote { stream, keeper: self.clone() })
            }
            Keeper::Local { store, .. } => Ok(Line::Local(Arc::clone(store))),
        }
    }

    /// What it is, for a message.
    pub fn name(&self) -> String {
        match self {
            Keeper::Remote { address, .. } => format!("the witness at {address}"),
            Keeper::Local { path, .. } => path.display().to_string(),
        }
    }
}

/// An open way.
#[derive(Debug)]
pub enum Line {
    /// To a witness.
    Remote {
        /// The connection, which has been greeted.
        stream: BufReader<TcpStream>,
        /// To connect again.
        keeper: Keeper,
    },
    /// To a file.
    Local(Arc<Mutex<Store>>),
}

impl Line {
    /// Asks for something to be stored and returns once it is. A broken connection is made again for a while,
    /// as long as `goes_on` says so; storing the same twice changes nothing.
    ///
    /// # Errors
    /// Where it is not stored, with the last reason.
    pub fn store(&mut self, request: &Request, goes_on: impl Fn() -> bool) -> io::Result<()> {
        let began = Instant::now();
        loop {
            let error = match self.try_store(request) {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            // What was refused is refused again.
            let refused = error.kind() == io::ErrorKind::PermissionDenied;
            if refused || !goes_on() || began.elapsed() > RECONNECT_MAX {
                return Err(error);
            }
            thread::sleep(RECONNECT_EVERY);
            if let Line::Remote { stream, keeper: Keeper::Remote { address, token } } = self
                && let Ok(again) = connect(address, token)
            {
                *stream = again;
            }
        }
    }

    fn try_store(&mut self, request: &Request) -> io::Result<()> {
        match self {
            Line::Remote { stream, .. } => {
                send(stream, &request.line())?;
                expect_ok(stream)
            }
            Line::Local(store) => {
                let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
                entry(request).map_or(Ok(()), |entry| store.add(&entry))
            }
        }
    }

    /// Everything that is kept of a run, or all runs.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read(&mut self, request: &Request, mut each: impl FnMut(Entry)) -> io::Result<()> {
        match self {
            Line::Remote { stream, .. } => {
                send(stream, &request.line())?;
                while let Some(line) = next_line(stream)? {
                    match serde_json::from_str(&line) {
                        Ok(entry) => each(entry),
                        Err(_) if line == END => return Ok(()),
                        Err(_) => return Err(refused(&line)),
                    }
                }
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            Line::Local(store) => {
                store.lock().unwrap_or_else(PoisonError::into_inner).each(|entry| {
                    if asked_for(request, &entry) {
                        each(entry);
                    }
                })
            }
        }
    }
}

fn connect(address: &str, token: &str) -> io::Result<BufReader<TcpStream>> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for place in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&place, CONNECT_MAX) {
            Ok(stream) => return greet(stream, token),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn greet(stream: TcpStream, token: &str) -> io::Result<BufReader<TcpStream>> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    stream.set_write_timeout(Some(ANSWER_MAX))?;
    let mut stream = BufReader::new(stream);
    send(&mut stream, &format!("{GREETING}{token}"))?;
    expect_ok(&mut stream)?;
    Ok(stream)
}

fn send(stream: &mut BufReader<TcpStream>, line: &str) -> io::Result<()> {
    stream.get_mut().write_all(format!("{line}\n").as_bytes())
}

fn expect_ok(stream: &mut BufReader<TcpStream>) -> io::Result<()> {
    match next_line(stream)?.as_deref() {
        Some(OK) => Ok(()),
        Some(line) => Err(refused(line)),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn refused(line: &str) -> io::Error {
    let why = line.strip_prefix(NO).unwrap_or("the other side is no witness of this version");
    io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned())
}
