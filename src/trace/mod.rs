//! `--trace`: what each of the worst pairs waited for, by the kernel's own trace.
//!
//! Events of the block layer, the journal and the scheduler, stamped by the clock that times the run, are
//! laid beside its pairs: [`line`] reads the text, [`activity`] says what the devices were doing, [`threads`]
//! what the workers were doing, [`waits`] splits a pair's time, [`summary`] makes the record's part.

mod activity;
mod event;
mod instance;
mod line;
mod reader;
mod summary;
mod threads;
mod waits;

pub use summary::{Pair, Run};

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use activity::Device;
use instance::{Failed, Instance};
use reader::Reader;

use crate::record::{Block, Trace};
use crate::refusal::Refusal;

/// A trace that is ready, or already recorded.
#[derive(Debug)]
pub struct Tracing {
    clock: &'static str,
    // Before the instance: the kernel removes none that is being read.
    reader: Option<Reader>,
    instance: Instance,
}

impl Tracing {
    /// Makes it ready.
    ///
    /// # Errors
    /// Where this kernel or this user has no tracefs.
    pub fn prepare(root: &Path) -> Result<Tracing, Refusal> {
        let instance =
            Instance::create(root, std::process::id()).map_err(|failed| refusal(&failed))?;
        Ok(Tracing { clock: "", reader: None, instance })
    }

    /// Begins, on the kernel's own reading of the clock `source` of the run.
    ///
    /// # Errors
    /// Where the kernel has no such clock, or nothing can be read.
    pub fn start(&mut self, source: &str) -> Result<(), Refusal> {
        self.clock = if source == "tsc" { "x86-tsc" } else { "mono" };
        let pipe = self.instance.pipe().map_err(|failed| refusal(&failed))?;
        self.instance.start(self.clock).map_err(|failed| refusal(&failed))?;
        let reader = Reader::start(pipe).map_err(|error| {
            Refusal::cannot(
                "prepare",
                "clone",
                format!("clone the reader of the trace: {error}"),
                "",
            )
        })?;
        self.reader = Some(reader);
        Ok(())
    }

    /// Ends, and matches what was recorded with `run`.
    pub fn finish(self, run: &Run) -> Option<Trace> {
        self.instance.stop();
        let collected = self.reader?.finish();
        let trace = summary::summary(&collected.events, &collected.names, run);
        Some(Trace {
            clock: self.clock.to_owned(),
            events_lost: collected.dropped + self.instance.overwritten(),
            ..trace
        })
    }
}

fn refusal(failed: &Failed) -> Refusal {
    let Failed { operation, path, error } = failed;
    let text = format!("--trace: {operation} {}: {error}", path.display());
    let remedy = "it needs root and tracefs: mount -t tracefs tracefs /sys/kernel/tracing";
    Refusal::cannot("prepare", operation, text, remedy)
}

/// The numbers of `blocks` below `root`, and the disk of each partition among them.
pub fn devices(
    root: &Path,
    blocks: &[Block],
) -> (HashMap<Device, String>, HashMap<Device, Device>) {
    let number = |name: &str| {
        let text = fs::read_to_string(root.join("sys/class/block").join(name).join("dev")).ok()?;
        let (major, minor) = text.trim().split_once(':')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    let nodes = blocks.iter().filter_map(|block| Some((number(&block.name)?, block.name.clone())));
    let partitions = blocks.iter().filter(|block| block.kind == "partition");
    let disks = partitions.filter_map(|partition| {
        Some((number(&partition.name)?, number(partition.below.first()?)?))
    });
    (nodes.collect(), disks.collect())
}
