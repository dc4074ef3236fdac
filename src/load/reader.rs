//! Neighbours that read what is not in the page cache.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use synctail_sys::{OpenMode, SysError};

use super::neighbour::Place;

/// Size of the file that is read.
pub const FILE_BYTES: u64 = 128 << 20;
/// What one read in order takes.
const CHUNK_BYTES: u64 = 1 << 20;
/// What one read anywhere takes.
const BLOCK_BYTES: u64 = 4 << 10;

/// Writes the file and syncs it: only clean pages can be dropped.
pub fn prepare(place: &Place) -> Result<(), SysError> {
    let name = place.name('l', 0);
    let mut file = place.dir.create(&name, OpenMode::default())?;
    let mut written = 0;
    while written + place.data.len() as u64 <= place.file_bytes && !place.tally.stopping() {
        file.write_all(place.data).map_err(|e| place.error("write", &e))?;
        written += place.data.len() as u64;
    }
    place.dir.sync(&name, &file)
}

/// Reads from begin to end, again and again. The whole file is dropped before each pass: the cache may hold
/// it in pieces larger than a read, and drops only whole ones.
pub fn read_in_order(place: &Place) -> Result<(), SysError> {
    let file: File = place.dir.read(&place.name('l', 0))?;
    let mut buffer = vec![0; CHUNK_BYTES as usize];
    while !place.tally.stopping() {
        advise(&file, 0, place.file_bytes, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
        let offsets = (0..place.file_bytes / CHUNK_BYTES).map(|chunk| chunk * CHUNK_BYTES);
        for offset in offsets.take_while(|_| !place.tally.stopping()) {
            read(place, &file, &mut buffer, offset)?;
        }
    }
    Ok(())
}

/// Reads single blocks.
pub fn read_anywhere(place: &Place) -> Result<(), SysError> {
    let file: File = place.dir.read(&place.name('l', 0))?;
    let mut buffer = vec![0; BLOCK_BYTES as usize];
    let mut random = fastrand::Rng::with_seed(place.seed);
    advise(&file, 0, place.file_bytes, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
    advise(&file, 0, place.file_bytes, PosixFadviseAdvice::POSIX_FADV_RANDOM);
    while !place.tally.stopping() {
        let offset = random.u64(0..(place.file_bytes / BLOCK_BYTES).max(1)) * BLOCK_BYTES;
        read(place, &file, &mut buffer, offset)?;
        advise(&file, offset, BLOCK_BYTES, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
    }
    Ok(())
}

fn read(place: &Place, file: &File, buffer: &mut [u8], offset: u64) -> Result<(), SysError> {
    let bytes = file.read_at(buffer, offset).map_err(|e| place.error("read", &e))?;
    place.tally.read(bytes);
    Ok(())
}

/// A filesystem that takes no advice reads from memory: a load all the same, of another kind.
fn advise(file: &File, offset: u64, bytes: u64, advice: PosixFadviseAdvice) {
    let _ = posix_fadvise(file, offset as i64, bytes as i64, advice);
}
