//! Marks of filesystems, pools and partition tables.
//!
//! Two looks: the well-known marks here, which need no program, and `wipefs`, which knows far more, where
//! it is installed. What neither knows may still be somebody's data.

use super::RawDevice;
use super::uses::Family;
use crate::substrate;

/// Bytes that stand at an offset from the start, or, where that is negative, from the end.
struct Mark {
    name: &'static str,
    at: i64,
    bytes: &'static [u8],
}

const fn mark(name: &'static str, at: i64, bytes: &'static [u8]) -> Mark {
    Mark { name, at, bytes }
}

/// Offsets and bytes as in util-linux' libblkid/src.
const MARKS: [Mark; 29] = [
    mark("an ext2, ext3 or ext4 filesystem", 0x438, b"\x53\xef"),
    mark("an XFS filesystem", 0, b"XFSB"),
    mark("a btrfs member", 0x1_0040, b"_BHRfS_M"),
    mark("an f2fs filesystem", 1_024, b"\x10\x20\xf5\xf2"),
    mark("a bcache or bcachefs member", 4_120, b"\xc6\x85\x73\xf6"),
    mark("a swap area", 4_086, b"SWAPSPACE2"),
    mark("a swap area", 65_526, b"SWAPSPACE2"),
    mark("a LUKS container", 0, b"LUKS\xba\xbe"),
    mark("an LVM physical volume", 0, b"LABELONE"),
    mark("an LVM physical volume", 512, b"LABELONE"),
    mark("an LVM physical volume", 1_024, b"LABELONE"),
    mark("an LVM physical volume", 1_536, b"LABELONE"),
    mark("an md RAID member", 0, b"\xfc\x4e\x2b\xa9"),
    mark("an md RAID member", 4_096, b"\xfc\x4e\x2b\xa9"),
    mark("an md RAID member", -8_192, b"\xfc\x4e\x2b\xa9"),
    mark("an md RAID member", -65_536, b"\xfc\x4e\x2b\xa9"),
    mark("a GPT partition table", 512, b"EFI PART"),
    mark("a GPT partition table", 4_096, b"EFI PART"),
    mark("a GPT partition table", -512, b"EFI PART"),
    mark("a GPT partition table", -4_096, b"EFI PART"),
    mark("an MBR partition table or boot sector", 510, b"\x55\xaa"),
    mark("an NTFS filesystem", 3, b"NTFS    "),
    mark("an exFAT filesystem", 3, b"EXFAT   "),
    mark("an ISO 9660 filesystem", 32_769, b"CD001"),
    mark("a squashfs image", 0, b"hsqs"),
    mark("an EROFS image", 1_024, b"\xe2\xe1\xf5\xe0"),
    mark("a JFS filesystem", 32_768, b"JFS1"),
    mark("a Ceph BlueStore device", 0, b"bluestore block device"),
    mark("an Oracle ASM disk", 32, b"ORCLDISK"),
];

/// How much of the start is read, which also shows whether there is data at all.
pub const START_BYTES: usize = 1 << 20;
/// How much of the end is read.
pub const END_BYTES: usize = 64 << 10;

/// The uberblocks of a ZFS label: a ring of 128 KiB behind its first half, one each KiB at least, in
/// either byte order.
const UBERBLOCKS: std::ops::Range<usize> = 128 << 10..256 << 10;
const UBERBLOCK_BYTES: usize = 1 << 10;
const UBERBLOCK: [[u8; 8]; 2] = [0x00ba_b10c_u64.to_le_bytes(), 0x00ba_b10c_u64.to_be_bytes()];

/// What the well-known marks say of a device whose first [`START_BYTES`] are `start` and whose last
/// [`END_BYTES`] are `end`, each as long as there is device.
pub fn signatures(start: &[u8], end: &[u8]) -> Vec<String> {
    let is_there = |mark: &&Mark| {
        let (text, from) = match usize::try_from(mark.at) {
            Ok(from) => (start, Some(from)),
            Err(_) => (end, end.len().checked_sub(mark.at.unsigned_abs() as usize)),
        };
        let rest = from.and_then(|from| text.get(from..));
        rest.is_some_and(|rest| rest.starts_with(mark.bytes))
    };
    let mut found: Vec<String> =
        MARKS.iter().filter(is_there).map(|mark| mark.name.to_owned()).collect();
    let ring = start.get(UBERBLOCKS).unwrap_or_default();
    let is_uberblock = |block: &[u8]| UBERBLOCK.iter().any(|magic| block.starts_with(magic));
    if ring.chunks(UBERBLOCK_BYTES).any(is_uberblock) {
        found.push("a ZFS pool member".to_owned());
    }
    found.dedup();
    found
}

/// Everything that is known of what is on a device.
#[derive(Debug, Default)]
pub struct Found {
    /// In words.
    pub known: Vec<String>,
    /// Why there may be more.
    pub unknown: Option<String>,
}

/// Our marks, the partitions that the kernel shows, and the word of wipefs.
pub fn all(device: &RawDevice, family: &Family, shown: &str) -> Found {
    let mut found = Found { known: device.signatures.clone(), unknown: None };
    if !family.partitions.is_empty() {
        found.known.push(format!("the partitions {}", family.partitions.join(", ")));
    }
    match substrate::program_output("wipefs", &["--noheadings", "--output", "TYPE", shown]) {
        Ok(text) => {
            let types: Vec<&str> = text.split_whitespace().collect();
            if !types.is_empty() {
                found.known.push(format!("{} (by wipefs)", types.join(" and ")));
            }
        }
        Err(why) => {
            found.unknown = Some(format!("only the best known signatures were looked for: {why}"));
        }
    }
    found
}
