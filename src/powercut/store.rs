//! Where acknowledgements are kept: a file of lines that is only ever appended to and synced each time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::wire::Entry;

/// The file.
#[derive(Debug)]
pub struct Store {
    file: File,
}

impl Store {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// Where it cannot be opened, or ends in a line that is not whole and cannot be cut.
    pub fn open(path: &Path) -> io::Result<Store> {
        let mut file =
            File::options().read(true).append(true).create(true).truncate(false).open(path)?;
        cut_half_line(&mut file)?;
        Ok(Store { file })
    }

    /// Adds an entry and returns once it is durable.
    ///
    /// # Errors
    /// Where it cannot be written or synced: the entry does not count then.
    pub fn add(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_string(entry)?;
        line.push('\n');
        self.file.write_all(line.as_bytes())?;
        self.file.sync_data()
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

/// A line that was being written when its machine stopped was never answered for.
fn cut_half_line(file: &mut File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let tail_bytes = length.min(super::wire::LINE_BYTES_MAX + 1);
    file.seek(SeekFrom::Start(length - tail_bytes))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let after = tail.iter().rposition(|&byte| byte == b'\n').map_or(0, |place| place + 1);
    let kept = length - tail_bytes + after as u64;
    if kept == length { Ok(()) } else { file.set_len(kept) }
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
    fn a_file_that_is_no_store_has_no_entries() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        std::fs::write(&path, b"\xff\xfe\n{}\nhello\n").unwrap();
        assert_eq!(all(&Store::open(&path).unwrap()), []);
    }
}
