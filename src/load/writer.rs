//! A neighbour that writes and never syncs.

use std::io::{Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use synctail_sys::{OpenMode, SysError};

use super::neighbour::Place;

/// The file is written over and over.
pub const FILE_BYTES: u64 = 256 << 20;
/// What it leaves dirty behind itself. The kernel alone would leave all of it for 30 s and write nothing.
const DIRTY_BYTES: u64 = 64 << 20;
/// Fast enough for any disk to have always something to write, slow enough to leave a CPU alone.
const BYTES_PER_S_MAX: f64 = 200.0 * 1_048_576.0;

/// Writes in order, round and round.
pub fn live(place: &Place) -> Result<(), SysError> {
    let mut file = place.dir.create(&place.name('l', 0), OpenMode::default())?;
    let (began, mut written, mut at) = (Instant::now(), 0u64, 0u64);
    while !place.tally.stopping() {
        if at + place.data.len() as u64 > place.file_bytes {
            file.seek(SeekFrom::Start(0)).map_err(|e| place.error("lseek", &e))?;
            at = 0;
        }
        file.write_all(place.data).map_err(|e| place.error("write", &e))?;
        place.tally.wrote(place.data.len());
        at += place.data.len() as u64;
        written += place.data.len() as u64;
        // Dropping dirty pages begins to write them and waits for nothing; the next pass drops them.
        let behind = (at + place.file_bytes - DIRTY_BYTES.min(place.file_bytes)) % place.file_bytes;
        let chunk = place.data.len() as i64;
        let _ = posix_fadvise(&file, behind as i64, chunk, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
        let due = Duration::from_secs_f64(written as f64 / BYTES_PER_S_MAX);
        place.tally.rest(due.saturating_sub(began.elapsed()));
    }
    Ok(())
}
