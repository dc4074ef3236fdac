//! One record on disk: it says whose it is, and every byte of it can be told from any other's.

/// Bytes that every record needs.
pub const HEADER_BYTES: usize = 48;
/// Smallest part of a record that a device writes whole.
pub const SECTOR_BYTES: usize = 512;

const MAGIC: [u8; 8] = *b"SYNCTAIL";
const CHECKSUM_AT: usize = 44;

/// Which record: a run's, a worker's, and the number within it, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Of the run, random.
    pub run: u128,
    /// From 0.
    pub worker: u32,
    /// From 0, one more for each record.
    pub sequence: u64,
}

/// The record of `identity`, `bytes` long (at least [`HEADER_BYTES`]): magic, run, worker, sequence, length and
/// CRC-32 in little-endian order, then bytes drawn from the identity.
pub fn encode(identity: Identity, bytes: usize) -> Vec<u8> {
    let mut block = Vec::with_capacity(bytes);
    block.extend(MAGIC);
    block.extend(identity.run.to_le_bytes());
    block.extend(identity.worker.to_le_bytes());
    block.extend(identity.sequence.to_le_bytes());
    // A block is at most 256 MiB.
    block.extend((bytes as u64).to_le_bytes());
    block.extend([0; 4]);
    debug_assert_eq!(block.len(), HEADER_BYTES);
    block.resize(bytes, 0);
    draw(identity).fill(&mut block[HEADER_BYTES..]);
    let checksum = crc32fast::hash(&block);
    block[CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
    block
}

fn draw(identity: Identity) -> fastrand::Rng {
    let run = identity.run as u64 ^ (identity.run >> 64) as u64;
    let worker = u64::from(identity.worker).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let sequence = identity.sequence.wrapping_mul(0xd6e8_feb8_6659_fd93);
    fastrand::Rng::with_seed(run ^ worker ^ sequence)
}

/// What lies where a record should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A whole record, of this identity.
    Whole(Identity),
    /// Nothing but zeros.
    Zeros,
    /// Some sectors are those of the record that was looked for, others are not.
    Torn {
        /// Sectors that are right.
        sectors_right: usize,
        /// All sectors.
        sectors: usize,
    },
    /// Something else altogether.
    Foreign,
}

/// Reads `block`, where the record `wanted` should be.
pub fn read(block: &[u8], wanted: Identity) -> Found {
    if block.len() < HEADER_BYTES {
        return Found::Foreign;
    }
    if let Some(identity) = whole(block) {
        return Found::Whole(identity);
    }
    let right = encode(wanted, block.len());
    let sectors = block.chunks(SECTOR_BYTES).zip(right.chunks(SECTOR_BYTES));
    let sectors_right = sectors.clone().filter(|(found, right)| found == right).count();
    match sectors_right {
        0 if block.iter().all(|&byte| byte == 0) => Found::Zeros,
        0 => Found::Foreign,
        _ => Found::Torn { sectors_right, sectors: sectors.count() },
    }
}

/// Whether each sector is that of one or the other record: the later one was being written over the earlier.
pub fn is_mixture(block: &[u8], one: Identity, other: Identity) -> bool {
    let (one, other) = (encode(one, block.len()), encode(other, block.len()));
    let pairs = one.chunks(SECTOR_BYTES).zip(other.chunks(SECTOR_BYTES));
    let mut sectors = block.chunks(SECTOR_BYTES).zip(pairs);
    sectors.all(|(sector, (one, other))| sector == one || sector == other)
}

/// The identity of a record all of whose bytes are right.
fn whole(block: &[u8]) -> Option<Identity> {
    let array = |from: usize| block.get(from..from + 8)?.try_into().ok().map(u64::from_le_bytes);
    if block.get(..8)? != MAGIC || block.len() < HEADER_BYTES {
        return None;
    }
    let identity = Identity {
        run: u128::from(array(16)?) << 64 | u128::from(array(8)?),
        worker: u32::from_le_bytes(block[24..28].try_into().ok()?),
        sequence: array(28)?,
    };
    (array(36)? == block.len() as u64 && encode(identity, block.len()) == block).then_some(identity)
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITY: Identity = Identity { run: 7 << 90 | 3, worker: 2, sequence: 41 };

    #[test]
    fn a_record_is_read_back_as_it_was_written() {
        for bytes in [HEADER_BYTES, 64, 511, 512, 4096, 70_001] {
            let block = encode(IDENTITY, bytes);
            assert_eq!(block.len(), bytes);
            assert_eq!(read(&block, IDENTITY), Found::Whole(IDENTITY));
        }
    }

    #[test]
    fn an_older_record_is_told_from_the_one_looked_for() {
        let older = Identity { sequence: 33, ..IDENTITY };
        assert_eq!(read(&encode(older, 4096), IDENTITY), Found::Whole(older));
    }

    #[test]
    fn half_of_an_older_record_is_torn_and_zeros_are_zeros() {
        let older = encode(Identity { sequence: 33, ..IDENTITY }, 4096);
        let mut block = encode(IDENTITY, 4096);
        block[2048..].copy_from_slice(&older[2048..]);
        assert_eq!(read(&block, IDENTITY), Found::Torn { sectors_right: 4, sectors: 8 });
        let sequence = |sequence| Identity { sequence, ..IDENTITY };
        assert!(
            is_mixture(&block, IDENTITY, sequence(33))
                && !is_mixture(&block, IDENTITY, sequence(49))
        );
        assert_eq!(read(&[0; 4096], IDENTITY), Found::Zeros);
        assert_eq!(read(&[1; 4096], IDENTITY), Found::Foreign);
        assert_eq!(read(&[], IDENTITY), Found::Foreign);
    }

    #[test]
    fn one_wrong_bit_anywhere_is_seen() {
        let block = encode(IDENTITY, 600);
        for place in 0..block.len() {
            let mut wrong = block.clone();
            wrong[place] ^= 0x10;
            assert_ne!(read(&wrong, IDENTITY), Found::Whole(IDENTITY), "byte {place}");
        }
    }
}
