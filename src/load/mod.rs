//! Background load: real noisy neighbours of a measurement, in a process of their own.
//!
//! The process is this binary, started anew: it shares no descriptor with the measuring child, so the end
//! of its one pipe means that whoever wanted it is gone, however that ended. It then stops and removes
//! its files; what a kill leaves behind is a work directory like any other, which `--clean` finds.

mod handle;
mod message;
mod neighbour;
mod precondition;
mod process;
mod reader;
mod storm;
mod tally;
mod writer;

pub use handle::{Load, State};
pub use message::{Order, Precondition, Room, Work};
pub use process::serve;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use neighbour::Kind;

/// Named mixes of neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Mix {
    /// Four that make, sync, rename and remove small files, as a build or test machine does
    CiBurst,
    /// Two that write without ever syncing and keep dirty data high
    Buffered,
    /// One that reads in order and two that read here and there, past the page cache
    Readers,
    /// One that writes, two small-file storms, one of each reader
    Mixed,
}

impl Mix {
    /// The name on the command line, in specs and in records.
    pub fn name(self) -> &'static str {
        match self {
            Mix::CiBurst => "ci-burst",
            Mix::Buffered => "buffered",
            Mix::Readers => "readers",
            Mix::Mixed => "mixed",
        }
    }

    fn kinds(self) -> &'static [Kind] {
        use Kind::{BufferedWriter, FsyncStorm, RandomReader, SequentialReader};
        match self {
            Mix::CiBurst => &[FsyncStorm, FsyncStorm, FsyncStorm, FsyncStorm],
            Mix::Buffered => &[BufferedWriter, BufferedWriter],
            Mix::Readers => &[SequentialReader, RandomReader, RandomReader],
            Mix::Mixed => &[BufferedWriter, FsyncStorm, FsyncStorm, SequentialReader, RandomReader],
        }
    }

    /// One word for each neighbour.
    pub fn neighbours(self) -> Vec<String> {
        self.kinds().iter().map(|kind| kind.name().to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mix_is_typed_saved_and_read_by_one_name() {
        for mix in Mix::value_variants() {
            assert_eq!(Mix::from_str(mix.name(), false), Ok(*mix));
            assert_eq!(serde_json::to_value(mix).unwrap(), mix.name());
            assert!(!mix.neighbours().is_empty());
        }
    }
}
