//! Bytes of a file, and how to get back to those that would survive a power cut.

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Content {
    data: Vec<u8>,
    /// Changes since the last honest barrier, oldest first.
    undo: Vec<Undo>,
}

#[derive(Clone, Debug)]
struct Undo {
    length: usize,
    offset: usize,
    replaced: Vec<u8>,
}

impl Content {
    /// Bytes in the file.
    pub fn len(&self) -> u64 {
        self.data.len() as u64
    }

    /// At most `length` bytes from `offset` on.
    pub fn read(&self, offset: u64, length: u64) -> &[u8] {
        let start = self.data.len().min(offset as usize);
        let end = self.data.len().min(start.saturating_add(length as usize));
        &self.data[start..end]
    }

    /// Writes `bytes`; what lies between the end and `offset` is zero.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        let start = offset as usize;
        let end = start + bytes.len();
        self.remember(start, end);
        if self.data.len() < end {
            self.data.resize(end, 0);
        }
        self.data[start..end].copy_from_slice(bytes);
    }

    /// Cuts the file or fills it up with zeros.
    pub fn truncate(&mut self, length: u64) {
        self.remember(length as usize, self.data.len());
        self.data.resize(length as usize, 0);
    }

    /// Makes everything durable.
    pub fn sync(&mut self) {
        self.undo.clear();
    }

    /// Back to what is durable.
    pub fn cut_power(&mut self) {
        while let Some(undo) = self.undo.pop() {
            self.data.resize(undo.length, 0);
            let end = undo.offset + undo.replaced.len();
            if !undo.replaced.is_empty() {
                self.data[undo.offset..end].copy_from_slice(&undo.replaced);
            }
        }
    }

    fn remember(&mut self, start: usize, end: usize) {
        let length = self.data.len();
        let replaced = self.data.get(start..end.min(length)).unwrap_or_default().to_vec();
        self.undo.push(Undo { length, offset: start, replaced });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_cut_takes_back_what_was_not_synced_and_no_more() {
        let mut content = Content::default();
        content.write(0, b"0123456789");
        content.sync();
        let durable = content.clone();
        content.write(8, b"ABCD");
        content.write(0, b"xy");
        content.write(20, b"far");
        assert_eq!(content.read(0, 100), b"xy234567ABCD\0\0\0\0\0\0\0\0far");
        content.truncate(3);
        content.truncate(6);
        assert_eq!(content.read(0, 100), b"xy2\0\0\0");
        content.cut_power();
        assert_eq!(content.read(0, 100), durable.read(0, 100));
        content.cut_power();
        assert_eq!(content.len(), 10);
    }

    #[test]
    fn a_file_that_was_never_synced_is_empty_after_it() {
        let mut content = Content::default();
        content.write(3, b"abc");
        content.cut_power();
        assert_eq!((content.len(), content.read(0, 9)), (0, &b""[..]));
        assert_eq!(content.read(7, 1), b"");
    }
}
