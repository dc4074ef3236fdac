//! What is done to a filesystem before it is measured: filled, written over, aged.

use std::io::Write;
use std::os::unix::fs::FileExt;

use nix::errno::Errno;
use synctail_sys::{OpenMode, SysError};

use super::message::Precondition;
use super::neighbour::Place;

/// What one overwrite takes.
const BLOCK_BYTES: u64 = 4 << 10;
/// Written before it is synced: the device is to do the work now, not the kernel later.
const SYNC_BYTES: u64 = 64 << 20;
/// Files that age a filesystem are up to so large.
const AGED_BYTES_MAX: usize = 64 << 10;
/// What must stay free for the measurement itself.
const FREE_SHARE: f64 = 0.05;

/// Makes the files; the bytes that they hold.
pub fn make(place: &Place, wanted: &Precondition, free: Option<u64>) -> Result<u64, SysError> {
    let no_room = || SysError::of("statfs", "the room of the preconditioning", Errno::ENOSPC);
    let bytes = |room: super::Room| room.bytes(free).ok_or_else(no_room);
    let fill = wanted.fill.map(bytes).transpose()?.unwrap_or(0);
    let overwrite = wanted.random_overwrite.map(bytes).transpose()?.unwrap_or(0);
    let aged = wanted.age_files.unwrap_or(0);
    let most = fill.saturating_add(aged.saturating_mul(AGED_BYTES_MAX as u64));
    if free.is_some_and(|free| most as f64 > free as f64 * (1.0 - FREE_SHARE)) {
        return Err(no_room());
    }
    if fill > 0 {
        fill_and_overwrite(place, fill, overwrite)?;
    }
    Ok(fill + age(place, aged)?)
}

fn fill_and_overwrite(place: &Place, fill: u64, overwrite: u64) -> Result<(), SysError> {
    let name = place.name('l', 0);
    let mut file = place.dir.create(&name, OpenMode::default())?;
    let mut dirty = Dirty::default();
    let mut left = fill;
    while left > 0 && !place.tally.stopping() {
        let piece = &place.data[..left.min(place.data.len() as u64) as usize];
        file.write_all(piece).map_err(|e| place.error("write", &e))?;
        place.tally.wrote(piece.len());
        left -= piece.len() as u64;
        dirty.more(piece.len() as u64, || place.dir.sync(&name, &file))?;
    }
    let mut random = fastrand::Rng::with_seed(place.seed);
    let mut left = overwrite.div_ceil(BLOCK_BYTES);
    while left > 0 && !place.tally.stopping() {
        let at = random.u64(0..(fill / BLOCK_BYTES).max(1)) * BLOCK_BYTES;
        let from = random.usize(0..=place.data.len() - BLOCK_BYTES as usize);
        let block = &place.data[from..from + BLOCK_BYTES as usize];
        file.write_all_at(block, at).map_err(|e| place.error("write", &e))?;
        place.tally.wrote(block.len());
        left -= 1;
        dirty.more(BLOCK_BYTES, || place.dir.sync(&name, &file))?;
    }
    place.dir.sync(&name, &file)
}

/// Bytes that were written and not synced yet.
#[derive(Default)]
struct Dirty(u64);

impl Dirty {
    fn more(
        &mut self,
        bytes: u64,
        sync: impl FnOnce() -> Result<(), SysError>,
    ) -> Result<(), SysError> {
        self.0 += bytes;
        if self.0 < SYNC_BYTES {
            return Ok(());
        }
        self.0 = 0;
        sync()
    }
}

/// Small files, of which every second one goes when all are there: what is free is then in small pieces.
fn age(place: &Place, files: u64) -> Result<u64, SysError> {
    let mut random = fastrand::Rng::with_seed(place.seed);
    let mut kept = 0;
    for number in 0..files {
        if place.tally.stopping() {
            break;
        }
        let (name, bytes) = (place.name('r', number), random.usize(1..=AGED_BYTES_MAX));
        let mut file = place.dir.create(&name, OpenMode::default())?;
        file.write_all(&place.data[..bytes]).map_err(|e| place.error("write", &e))?;
        place.dir.sync(&name, &file)?;
        place.tally.wrote(bytes);
        place.tally.made_file();
        kept += if number % 2 == 0 { bytes as u64 } else { 0 };
    }
    for number in (1..files).step_by(2) {
        place.dir.remove(&place.name('r', number))?;
    }
    Ok(kept)
}
