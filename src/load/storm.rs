//! A neighbour that makes many small files durable: what package managers, builds and tests do to a disk.

use std::collections::VecDeque;
use std::io::Write;

use synctail_sys::{OpenMode, SysError};

use super::neighbour::Place;

/// A file is up to so large.
const FILE_BYTES_MAX: usize = 64 << 10;
/// Files that exist at once; the oldest goes.
const FILES_KEPT: usize = 32;
/// The most that they hold, the one that is being made included.
pub const FILES_BYTES_MAX: u64 = (FILES_KEPT as u64 + 1) * FILE_BYTES_MAX as u64;

/// Makes a file, writes and syncs it, gives it its name, and removes the oldest.
pub fn live(place: &Place) -> Result<(), SysError> {
    let mut random = fastrand::Rng::with_seed(place.seed);
    let mut kept = VecDeque::new();
    let mut number = 0;
    while !place.tally.stopping() {
        let (made, name) = (place.name('l', number), place.name('r', number));
        let bytes = random.usize(1..=FILE_BYTES_MAX.min(place.data.len()));
        let from = random.usize(0..=place.data.len() - bytes);
        let mut file = place.dir.create(&made, OpenMode::default())?;
        file.write_all(&place.data[from..from + bytes]).map_err(|e| place.error("write", &e))?;
        place.tally.wrote(bytes);
        place.dir.sync(&made, &file)?;
        place.tally.synced();
        place.dir.rename(&made, &name)?;
        place.tally.made_file();
        kept.push_back(name);
        if kept.len() > FILES_KEPT
            && let Some(oldest) = kept.pop_front()
        {
            place.dir.remove(&oldest)?;
        }
        number += 1;
    }
    Ok(())
}
