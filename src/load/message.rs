//! What the load's process and its owner say to each other, in lines of JSON.

use serde::{Deserialize, Serialize};

use super::Mix;
use crate::record::LoadReport;

/// The owner's first line; after it each line asks for [`Said::Counted`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The path's bytes.
    pub path: Vec<u8>,
    /// First remove what dead runs left behind there.
    pub clean: bool,
    /// What to do.
    pub work: Work,
    /// Seed of everything random.
    pub seed: u64,
}

/// What a process of this kind can do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Be a bad neighbour.
    Neighbours(Mix),
    /// Make files and keep them.
    Precondition(Precondition),
}

/// What is done to a filesystem before it is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Precondition {
    /// Written in order.
    pub fill: Option<Room>,
    /// Then written over, anywhere in what was filled.
    pub random_overwrite: Option<Room>,
    /// Small files made, of which every second one is removed.
    pub age_files: Option<u64>,
}

/// A size, or a share of what is free.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Room {
    /// So many.
    Bytes(u64),
    /// So much of the free space, in percent.
    Percent(f64),
}

impl Room {
    /// In bytes, where so many are free; a share of nothing known is nothing.
    pub fn bytes(self, free: Option<u64>) -> Option<u64> {
        match self {
            Room::Bytes(bytes) => Some(bytes),
            Room::Percent(share) => Some((free? as f64 * share / 100.0) as u64),
        }
    }
}

/// The process's lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// It works at full strength from here on.
    Ready {
        /// The most bytes that its files hold at once.
        max_bytes: u64,
    },
    /// What it did since it was ready.
    Counted(LoadReport),
    /// It could not begin.
    Failed {
        /// What was attempted, on what, why it failed.
        message: String,
        /// The call.
        operation: String,
    },
    /// It has ended and removed its files.
    Ended {
        /// Why something is left, if something is.
        left: Option<String>,
    },
}
