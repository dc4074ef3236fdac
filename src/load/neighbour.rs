//! One neighbour: what kind it is, how much room it takes, and its life.

use std::ffi::OsString;

use synctail_sys::{DirHandle, SysError};

use super::tally::Tally;
use super::{reader, storm, writer};

/// What a neighbour does all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Writes in order without syncing.
    BufferedWriter,
    /// Makes, syncs, renames and removes small files.
    FsyncStorm,
    /// Reads a large file in order.
    SequentialReader,
    /// Reads single blocks of a large file.
    RandomReader,
}

impl Kind {
    /// The word in a record.
    pub fn name(self) -> &'static str {
        match self {
            Kind::BufferedWriter => "buffered_writer",
            Kind::FsyncStorm => "fsync_storm",
            Kind::SequentialReader => "sequential_reader",
            Kind::RandomReader => "random_reader",
        }
    }

    /// Bytes that its files hold where there is room enough.
    pub fn wanted_bytes(self) -> u64 {
        match self {
            Kind::BufferedWriter => writer::FILE_BYTES,
            Kind::FsyncStorm => storm::FILES_BYTES_MAX,
            Kind::SequentialReader | Kind::RandomReader => reader::FILE_BYTES,
        }
    }
}

/// Where one neighbour works, and with what.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The load's own directory.
    pub dir: &'a DirHandle,
    /// From 0; part of the names of its files.
    pub number: u64,
    /// Of its own file, for those that have one.
    pub file_bytes: u64,
    /// Data that does not compress.
    pub data: &'a [u8],
    /// Of everything random.
    pub seed: u64,
    /// What was done, and whether to end.
    pub tally: &'a Tally,
}

impl Place<'_> {
    /// A name that this neighbour alone uses; the letter tells a file being made from a complete one.
    pub fn name(&self, letter: char, file: u64) -> OsString {
        OsString::from(format!("{letter}{:05}-{file:06}", self.number))
    }

    /// An I/O error of one of its files.
    pub fn error(&self, operation: &'static str, error: &std::io::Error) -> SysError {
        SysError::new(operation, format!("the load's file of neighbour {}", self.number), error)
    }
}

/// Makes what `kind` needs before it can begin.
pub fn prepare(kind: Kind, place: &Place) -> Result<(), SysError> {
    match kind {
        Kind::BufferedWriter | Kind::FsyncStorm => Ok(()),
        Kind::SequentialReader | Kind::RandomReader => reader::prepare(place),
    }
}

/// Works until it is told to stop.
pub fn live(kind: Kind, place: &Place) -> Result<(), SysError> {
    match kind {
        Kind::BufferedWriter => writer::live(place),
        Kind::FsyncStorm => storm::live(place),
        Kind::SequentialReader => reader::read_in_order(place),
        Kind::RandomReader => reader::read_anywhere(place),
    }
}
