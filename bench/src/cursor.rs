//! Where each write goes: in order through a segment, with other data each time.

use synctail_sys::Place;

/// Walks through segments block by block.
#[derive(Clone, Debug)]
pub struct Cursor {
    block_bytes: u64,
    first_offset: u64,
    end_offset: u64,
    next_offset: u64,
    data: usize,
    data_stride: usize,
    data_span: usize,
}

impl Cursor {
    /// Blocks of `block_bytes` (at least 1, at most `segment_bytes`) with data offsets below or at
    /// `data_span` that are multiples of `data_alignment`.
    pub fn new(
        block_bytes: u64,
        segment_bytes: u64,
        data_span: usize,
        data_alignment: usize,
    ) -> Cursor {
        // One cache line further than a multiple of the page each time: a block repeats only after
        // the whole arena was walked, and then never at the same alignment within a page.
        let stride = if data_alignment <= 64 { 4_096 + 64 } else { data_alignment };
        Cursor {
            block_bytes,
            first_offset: 0,
            end_offset: segment_bytes,
            next_offset: 0,
            data: 0,
            data_stride: stride,
            data_span,
        }
    }

    /// The same walk in pairs of `writes` blocks, which lie whole in a segment.
    pub fn in_pairs_of(self, writes: u64) -> Cursor {
        let pair_bytes = self.block_bytes.saturating_mul(writes);
        let length = self.end_offset - self.first_offset;
        Cursor { end_offset: self.first_offset + length / pair_bytes * pair_bytes, ..self }
    }

    /// The same walk through a segment that begins at `first_offset`.
    pub fn beginning_at(self, first_offset: u64) -> Cursor {
        let end_offset = first_offset + (self.end_offset - self.first_offset);
        Cursor { first_offset, end_offset, next_offset: first_offset, ..self }
    }

    /// The next block; nothing when the segment is full.
    #[inline]
    pub fn next_place(&mut self) -> Option<Place> {
        let offset = self.next_offset;
        if offset + self.block_bytes > self.end_offset {
            return None;
        }
        self.next_offset = offset + self.block_bytes;
        let data = self.data;
        self.data = data + self.data_stride;
        if self.data > self.data_span {
            // Starting over one line later keeps an unaligned walk from repeating itself.
            self.data = if self.data_stride % 4_096 == 64 { (self.data % 4_096) & !63 } else { 0 };
        }
        Some(Place { offset, data })
    }

    /// Starts at the beginning of a segment, with the data going on.
    pub fn restart(&mut self) {
        self.next_offset = self.first_offset;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_segment_is_written_in_order_and_holds_whole_blocks_only() {
        let mut cursor = Cursor::new(2_300, 10_000, 1 << 20, 1);
        let offsets: Vec<u64> =
            std::iter::from_fn(|| cursor.next_place()).map(|p| p.offset).collect();
        assert_eq!(offsets, [0, 2_300, 4_600, 6_900]);
        cursor.restart();
        assert_eq!(cursor.next_place().unwrap().offset, 0);
        let mut area = Cursor::new(2_300, 5_000, 1 << 20, 1).beginning_at(8_192);
        for _ in 0..2 {
            let offsets: Vec<u64> =
                std::iter::from_fn(|| area.next_place()).map(|p| p.offset).collect();
            assert_eq!(offsets, [8_192, 10_492]);
            area.restart();
        }
    }

    #[test]
    fn no_pair_of_several_writes_lies_in_two_segments() {
        let mut cursor = Cursor::new(1_000, 10_000, 1 << 20, 1).in_pairs_of(3);
        let offsets: Vec<u64> =
            std::iter::from_fn(|| cursor.next_place()).map(|p| p.offset).collect();
        assert_eq!(offsets.len(), 9);
        cursor.restart();
        assert_eq!(cursor.next_place().unwrap().offset, 0);
    }

    #[test]
    fn data_differs_from_write_to_write_and_stays_within_the_arena() {
        let span = 1 << 20;
        let mut cursor = Cursor::new(4_096, u64::MAX >> 2, span, 1);
        let data: Vec<usize> = (0..4_000).map(|_| cursor.next_place().unwrap().data).collect();
        assert!(data.iter().all(|&d| d <= span));
        assert_eq!(data.iter().collect::<HashSet<_>>().len(), data.len());
        let mut aligned = Cursor::new(4_096, u64::MAX >> 2, span, 512);
        let data: Vec<usize> = (0..4_000).map(|_| aligned.next_place().unwrap().data).collect();
        assert!(data.iter().all(|&d| d <= span && d % 512 == 0));
        assert!(data.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
