//! The way to whoever keeps the acknowledgements: a witness over the network, or a file on another disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::connection::{CONNECT_MAX, Connection, refused};
use super::store::Store;
use super::wire::{END, Entry, Request};
use super::witness::{asked_for, entry};
use crate::program::Waiting;

/// How long a broken network is waited for: a cable put back, a switch that restarts its port.
const RECONNECT_MAX: Duration = Duration::from_secs(20);
const RECONNECT_EVERY: Duration = Duration::from_millis(500);
/// A try of many; shorter, so that a signal is seen between two.
const RECONNECT_TRY_MAX: Duration = Duration::from_secs(1);

/// Where acknowledgements go.
#[derive(Clone, Debug)]
pub enum Keeper {
    /// A witness.
    Remote {
        /// `host:port`.
        address: String,
        /// The secret that both know.
        token: String,
        /// A signal ends the wait for an answer.
        waiting: Option<Waiting>,
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
    /// A file that keeps them, open for what is wanted of it.
    pub fn local(path: &Path, store: Store) -> Keeper {
        Keeper::Local { path: path.to_owned(), store: Arc::new(Mutex::new(store)) }
    }

    /// Opens a way to it; one for each worker.
    ///
    /// # Errors
    /// Where it is not reached, or does not let in.
    pub fn open(&self) -> io::Result<Line> {
        match self {
            Keeper::Remote { address, token, waiting } => {
                let connection = Connection::open(address, token, waiting.as_ref(), CONNECT_MAX)?;
                Ok(Line::Remote { connection, keeper: self.clone() })
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
        connection: Connection,
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
            if let Line::Remote { connection, keeper } = self
                && let Keeper::Remote { address, token, waiting } = keeper
                && let Ok(again) =
                    Connection::open(address, token, waiting.as_ref(), RECONNECT_TRY_MAX)
            {
                *connection = again;
            }
        }
    }

    fn try_store(&mut self, request: &Request) -> io::Result<()> {
        match self {
            Line::Remote { connection, .. } => {
                connection.send(&request.line())?;
                connection.expect_ok()
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
            Line::Remote { connection, .. } => {
                connection.send(&request.line())?;
                while let Some(line) = connection.line()? {
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
