//! The data that is written: one shared arena, incompressible, never the same block twice in a row.

use std::ops::Deref;

/// Where the next write goes and which bytes it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Offset in the file.
    pub offset: u64,
    /// Offset in the arena; at most [`Arena::span`].
    pub data: usize,
}

/// Random bytes, generated once and read by every worker. Generating 4 KiB for each pair would cost
/// half a pair on tmpfs; one fixed block would compress and deduplicate away.
///
/// Lives as long as the process: the kernel may still read it for a ring that has been dropped.
#[derive(Clone, Copy, Debug)]
pub struct Arena {
    bytes: &'static [u8],
    block_bytes: usize,
}

impl Arena {
    /// Alignment of the arena in memory; enough for O_DIRECT on every device.
    pub const ALIGNMENT: usize = 4_096;
    const BYTES_MIN: usize = 1 << 20;

    /// Random bytes for blocks of `block_bytes` (at least 1) from `seed`.
    pub fn new(block_bytes: usize, seed: u64) -> Arena {
        let wanted = (Self::BYTES_MIN + block_bytes).next_multiple_of(Self::ALIGNMENT);
        // Vec has no alignment argument: take one unit more and start at the first aligned byte.
        let mut storage = vec![0u8; wanted + Self::ALIGNMENT];
        fastrand::Rng::with_seed(seed).fill(&mut storage);
        let storage: &'static [u8] = storage.leak();
        let skip = storage.as_ptr().align_offset(Self::ALIGNMENT);
        Arena { bytes: &storage[skip..skip + wanted], block_bytes }
    }

    /// Bytes in one block.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Data offsets are below this: a block from there still lies within the arena.
    pub fn span(&self) -> usize {
        self.bytes.len() - self.block_bytes
    }

    /// The block at data offset `data`.
    #[inline]
    pub fn block(&self, data: usize) -> &'static [u8] {
        &self.bytes[data..data + self.block_bytes]
    }
}

impl Deref for Arena {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arena_is_aligned_seeded_and_does_not_compress() {
        let arena = Arena::new(2_300, 7);
        assert_eq!(arena.as_ptr() as usize % Arena::ALIGNMENT, 0);
        assert!(arena.len() >= 1 << 20);
        assert_eq!(arena.block(arena.span()).len(), 2_300);
        assert_eq!(arena[..64], Arena::new(2_300, 7)[..64]);
        assert_ne!(arena[..64], Arena::new(2_300, 8)[..64]);
        let mut seen = [0u32; 256];
        arena.iter().for_each(|&b| seen[b as usize] += 1);
        let mean = arena.len() as u32 / 256;
        assert!(seen.iter().all(|&n| n.abs_diff(mean) < mean / 8), "bytes are not uniform");
    }
}
