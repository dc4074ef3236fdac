//! Where acknowledgements are kept: a file of lines that is only ever appended to and synced each time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use nix::fcntl::Flock;
use synctail_sys::lock_exclusive;

use super::wire::Entry;

/// The file.
#[derive(Debug)]
pub struct Store {
    file: File,
    /// Bytes of the lines that are whole and synced.
    whole_bytes: u64,
    /// Whether something may stand behind them.
    torn: bool,
    /// Absent where it is only read.
    _held: Option<Flock<File>>,
}

impl Store {
    /// Opens the file, or makes it, and keeps others from adding to it.
    ///
    /// # Errors
    /// Where it cannot be opened, somebody else adds to it, or it ends in a line that is not whole and cannot be cut.
    pub fn open(path: &Path) -> io::Result<Store> {
        let mut file =
            File::options().read(true).append(true).create(true).truncate(false).open(path)?;
        let held = lock_exclusive(file.try_clone()?);
        if held.is_none() {
            return Err(io::Error::other("another synctail adds to it"));
        }
        let whole_bytes = cut_half_line(&mut file)?;
        sync_name(path);
        Ok(Store { file, whole_bytes, torn: false, _held: held })
    }

    /// Opens the file to be read only.
    ///
    /// # Errors
    /// Where it is not there, or cannot be opened.
    pub fn read(path: &Path) -> io::Result<Store> {
        Ok(Store { file: File::open(path)?, whole_bytes: 0, torn: false, _held: None })
    }

    /// Adds an entry and returns once it is durable.
    ///
    /// # Errors
    /// Where it cannot be written or synced: the entry does not count then, and leaves nothing behind that would
    /// spoil the next.
    pub fn add(&mut self, entry: &Entry) -> io::Result<()> {
        if self.torn {
            self.file.set_len(self.whole_bytes)?;
        }
        let mut line = serde_json::to_string(entry)?;
        line.push('\n');
        self.torn = true;
        self.file.write_all(line.as_bytes())?;
        self.file.sync_data()?;
        self.torn = false;
        self.whole_bytes += line.len() as u64;
        Ok(())
    }

    /// Calls `each` with every entry in order; a line that is none is passed over.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn each(&self, mut each: impl FnMut(Entry)) -> io::Result<()> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(0))?;
        for line in BufReader::new(file).split(b'\n') {
            if let Ok(entry) = serde_json::from_slice(&line?) {
                each(entry);
            }
        }
        Ok(())
    }
}

/// A line that was being written when its machine stopped was never answered for. Returns the bytes that are left.
fn cut_half_line(file: &mut File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let tail_bytes = length.min(super::wire::LINE_BYTES_MAX + 1);
    file.seek(SeekFrom::Start(length - tail_bytes))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let after = tail.iter().rposition(|&byte| byte == b'\n').map_or(0, |place| place + 1);
    let kept = length - tail_bytes + after as u64;
    if kept != length {
        file.set_len(kept)?;
    }
    Ok(kept)
}

/// A file on the machine that loses its power needs its name, too. A place whose directory cannot be synced
/// (a pipe, some network filesystems) keeps names by itself or not at all.
fn sync_name(path: &Path) {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let _ = File::open(parent.unwrap_or(Path::new("."))).and_then(|directory| directory.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(sequence: u64) -> Entry {
        Entry::Ack { run: "a".into(), worker: 0, sequence, at_ms: 5 }
    }

    fn all(store: &Store) -> Vec<Entry> {
        let mut entries = Vec::new();
        store.each(|entry| entries.push(entry)).unwrap();
        entries
    }

    #[test]
    fn what_was_added_is_there_after_it_is_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        let mut store = Store::open(&path).unwrap();
        store.add(&ack(1)).unwrap();
        store.add(&ack(2)).unwrap();
        assert_eq!(all(&store), [ack(1), ack(2)]);
        assert!(Store::open(&path).is_err(), "two that add would cut each other's lines");
        assert_eq!(all(&Store::read(&path).unwrap()), [ack(1), ack(2)]);
        drop(store);
        let mut again = Store::open(&path).unwrap();
        again.add(&ack(3)).unwrap();
        assert_eq!(all(&again), [ack(1), ack(2), ack(3)]);
    }

    #[test]
    fn a_half_line_at_the_end_does_not_swallow_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        Store::open(&path).unwrap().add(&ack(1)).unwrap();
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"ack\":{\"run\"").unwrap();
        let mut store = Store::open(&path).unwrap();
        store.add(&ack(2)).unwrap();
        assert_eq!(all(&store), [ack(1), ack(2)]);
    }

    #[test]
    fn what_could_not_be_added_does_not_swallow_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        let mut store = Store::open(&path).unwrap();
        store.add(&ack(1)).unwrap();
        // As a full disk leaves it: a part is written, then an error.
        File::options().append(true).open(&path).unwrap().write_all(b"{\"ack\":{\"run\"").unwrap();
        store.torn = true;
        store.add(&ack(2)).unwrap();
        store.add(&ack(3)).unwrap();
        assert_eq!(all(&store), [ack(1), ack(2), ack(3)]);
    }

    #[test]
    fn a_file_that_is_no_store_has_no_entries() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        std::fs::write(&path, b"\xff\xfe\n{}\nhello\n").unwrap();
        assert_eq!(all(&Store::open(&path).unwrap()), []);
    }
}
