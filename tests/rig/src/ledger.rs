//! The ledger: every operation that was served, with its own times.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use nix::errno::Errno;

/// What was asked of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Opening a file that exists.
    Open,
    /// Creating one and opening it.
    Create,
    /// A read.
    Read,
    /// A write.
    Write,
    /// fsync of a file.
    Fsync,
    /// fdatasync of a file.
    Fdatasync,
    /// Of a directory.
    Fsyncdir,
    /// A close, seen by the file system.
    Flush,
    /// The last close.
    Release,
    /// Looking a name up.
    Lookup,
    /// Attributes.
    Getattr,
    /// Changing them, and the length.
    Setattr,
    /// Allocating blocks.
    Fallocate,
    /// Free space.
    Statfs,
    /// Removing a file.
    Unlink,
    /// Making a directory.
    Mkdir,
    /// Removing one.
    Rmdir,
    /// Another name.
    Rename,
    /// Listing a directory.
    Readdir,
}

impl Kind {
    /// Whether it is a barrier of a file.
    pub fn is_barrier(self) -> bool {
        matches!(self, Kind::Fsync | Kind::Fdatasync)
    }
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No answer was given yet.
    Pending,
    /// Success; bytes, where bytes were moved, else 0.
    Done(u64),
    /// The kernel was told this.
    Failed(Errno),
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What was asked.
    pub kind: Kind,
    /// Name of the file in its directory; empty for statfs.
    pub file: Arc<str>,
    /// Of reads, writes and allocations.
    pub offset: Option<u64>,
    /// Bytes asked for.
    pub length: Option<u64>,
    /// CLOCK_MONOTONIC when the handler had it in hand.
    pub arrived_ns: u64,
    /// CLOCK_MONOTONIC right before the answer was given, so that whoever asked waited for longer.
    pub replied_ns: Option<u64>,
    /// What came of it.
    pub outcome: Outcome,
}

impl Entry {
    /// How long the handler had it in hand, if it has answered.
    pub fn took_ns(&self) -> Option<u64> {
        Some(self.replied_ns?.saturating_sub(self.arrived_ns))
    }

    /// Whether the script counts it.
    pub fn is_measured(&self) -> bool {
        is_measured(&self.file)
    }
}

/// Whether the script counts operations on a file of this name: on all but `marker*` and `probe*`, which is
/// how a program under test names files that it does not measure.
pub fn is_measured(file: &str) -> bool {
    !file.starts_with("marker") && !file.starts_with("probe")
}

/// All operations in order of their arrival.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: Mutex<Vec<Entry>>,
}

/// Where an entry waits for its end.
#[derive(Clone, Copy, Debug)]
pub struct Token(usize);

impl Ledger {
    /// Notes an arrival.
    pub fn arrive(&self, entry: Entry) -> Token {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.push(entry);
        Token(entries.len() - 1)
    }

    /// Notes an answer that is about to be given.
    pub fn reply(&self, token: Token, replied_ns: u64, outcome: Outcome) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = &mut entries[token.0];
        entry.replied_ns = Some(replied_ns);
        entry.outcome = outcome;
    }

    /// What was noted so far.
    pub fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was noted so far, as tab-separated values with a heading.
    pub fn to_tsv(&self) -> String {
        let mut text =
            "kind\tfile\toffset\tlength\tarrived_ns\treplied_ns\ttook_ns\tresult\n".to_owned();
        for entry in self.entries() {
            text.push_str(&entry.to_string());
            text.push('\n');
        }
        text
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let number = |value: Option<u64>| value.map_or_else(String::new, |n| n.to_string());
        // A name may hold what would look like the next column or line.
        let file = self.file.replace(|c: char| c.is_control(), "?");
        write!(f, "{}\t{file}", format!("{:?}", self.kind).to_lowercase())?;
        write!(f, "\t{}\t{}\t{}", number(self.offset), number(self.length), self.arrived_ns)?;
        write!(f, "\t{}\t{}\t", number(self.replied_ns), number(self.took_ns()))?;
        match self.outcome {
            Outcome::Pending => f.write_str("pending"),
            Outcome::Done(bytes) => write!(f, "{bytes}"),
            Outcome::Failed(errno) => write!(f, "{errno:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_pending_until_it_is_answered() {
        let ledger = Ledger::default();
        let write = Entry {
            kind: Kind::Write,
            file: "w\t1".into(),
            offset: Some(8),
            length: Some(4_096),
            arrived_ns: 100,
            replied_ns: None,
            outcome: Outcome::Pending,
        };
        let first = ledger.arrive(write.clone());
        let second = ledger.arrive(Entry { kind: Kind::Fdatasync, offset: None, ..write });
        ledger.reply(second, 350, Outcome::Failed(Errno::EIO));
        assert_eq!(ledger.entries()[0].took_ns(), None);
        assert_eq!(ledger.entries()[1].took_ns(), Some(250));
        let text = ledger.to_tsv();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines[0], "write\tw?1\t8\t4096\t100\t\t\tpending");
        assert_eq!(lines[1], "fdatasync\tw?1\t\t4096\t100\t350\t250\tEIO");
        ledger.reply(first, 400, Outcome::Done(4_096));
        assert_eq!(ledger.entries()[0].outcome, Outcome::Done(4_096));
    }

    #[test]
    fn markers_are_not_counted() {
        assert!(is_measured("w00000-000001") && is_measured(""));
        assert!(!is_measured("probe") && !is_measured("marker") && !is_measured("marker.new"));
    }
}
