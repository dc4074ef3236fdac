//! The writes of one pair, one after the other.

use synctail_sys::{CallResult, Place};

use crate::Cursor;

/// How many writes a pair has, as a type, so that a loop of one does not ask.
pub trait Writes {
    /// Takes the places of the next pair: `first`, and what follows it on `cursor`. Not timed.
    fn gather(&mut self, first: Place, cursor: &mut Cursor);
    /// Makes the writes until one is not full; the result of the last one.
    fn make(&self, block_bytes: usize, write: impl FnMut(Place) -> CallResult) -> CallResult;
}

/// A pair of one write.
#[derive(Clone, Copy, Debug)]
pub struct OneWrite(Place);

impl OneWrite {
    pub(super) fn place(self) -> Place {
        self.0
    }
}

impl Default for OneWrite {
    fn default() -> OneWrite {
        OneWrite(Place { offset: 0, data: 0 })
    }
}

impl Writes for OneWrite {
    #[inline(always)]
    fn gather(&mut self, first: Place, _cursor: &mut Cursor) {
        self.0 = first;
    }

    #[inline(always)]
    fn make(&self, _block_bytes: usize, mut write: impl FnMut(Place) -> CallResult) -> CallResult {
        write(self.0)
    }
}

/// A pair of several writes.
#[derive(Clone, Debug)]
pub struct ManyWrites {
    places: Vec<Place>,
    count: usize,
}

impl ManyWrites {
    /// Of `count` writes; at least 1.
    pub fn of(count: u64) -> ManyWrites {
        let count = count as usize;
        ManyWrites { places: Vec::with_capacity(count), count }
    }
}

impl Writes for ManyWrites {
    fn gather(&mut self, first: Place, cursor: &mut Cursor) {
        self.places.clear();
        self.places.push(first);
        // A cursor in pairs of so many has all that follow a first one.
        self.places.extend((1..self.count).map_while(|_| cursor.next_place()));
    }

    /// One compare a write: a pair whose writes were not all full does not count, and what follows the
    /// first that was not is not made.
    #[inline(always)]
    fn make(&self, block_bytes: usize, mut write: impl FnMut(Place) -> CallResult) -> CallResult {
        let mut result = CallResult(0);
        for &place in &self.places {
            result = write(place);
            if !result.is_full(block_bytes) {
                break;
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_write_that_was_not_full_is_not_made() {
        let mut cursor = Cursor::new(8, 64, 1 << 20, 1).in_pairs_of(4);
        let mut writes = ManyWrites::of(4);
        let first = cursor.next_place().unwrap();
        writes.gather(first, &mut cursor);
        let mut made = Vec::new();
        let result = writes.make(8, |place| {
            made.push(place.offset);
            CallResult(if made.len() == 3 { 5 } else { 8 })
        });
        assert_eq!((made, result), (vec![0, 8, 16], CallResult(5)));
        assert!(writes.make(8, |_| CallResult(8)).is_full(8));
        assert_eq!(cursor.next_place().unwrap().offset, 32);
    }
}
