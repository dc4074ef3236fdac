//! A folder that stands for `/`, with the parts of /proc and /sys that a test needs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

use crate::record::Facts;

/// Removed when it is dropped.
pub struct FakeRoot(TempDir);

impl FakeRoot {
    /// An empty root.
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// What takes the place of `/`.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file with the folders above it.
    pub fn file(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Makes a link with the folders above it.
    pub fn link(&self, path: &str, target: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    /// A block device at `sys/devices/PLACE`, with the links by number and by name.
    pub fn device(&self, number: &str, place: &str) {
        let name = place.rsplit('/').next().unwrap();
        self.file(&format!("sys/devices/{place}/dev"), format!("{number}\n"));
        self.link(&format!("sys/dev/block/{number}"), &format!("../../devices/{place}"));
        self.link(&format!("sys/class/block/{name}"), &format!("../../devices/{place}"));
    }

    /// The same with the file that marks a partition.
    pub fn partition(&self, number: &str, place: &str) {
        self.device(number, place);
        self.file(&format!("sys/devices/{place}/partition"), "1\n");
    }

    /// Makes the device at `below` one of the members of the device at `place`.
    pub fn member(&self, place: &str, below: &str) {
        let name = below.rsplit('/').next().unwrap();
        let target = self.path().join("sys/devices").join(below);
        let link = format!("sys/devices/{place}/slaves/{name}");
        self.link(&link, target.to_str().unwrap());
    }
}

/// What a child would have found at `path`, by its name alone.
pub fn facts(path: &str) -> Facts {
    Facts {
        path: path.as_bytes().to_vec(),
        mount_id: None,
        device_major: 0,
        device_minor: 0,
        filesystem_magic: None,
        free_bytes: Some(1),
        device: None,
    }
}

/// Small seeded generator; a test that uses it prints the seed.
pub struct XorShift(pub u64);

impl XorShift {
    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap()
    }

    /// Overwrites, removes or doubles a few bytes.
    pub fn mutate(&mut self, text: &[u8]) -> Vec<u8> {
        let mut bytes = text.to_vec();
        for _ in 0..=self.below(8) {
            if bytes.is_empty() {
                break;
            }
            let at = self.below(bytes.len());
            match self.below(4) {
                0 => bytes[at] = u8::try_from(self.below(256)).unwrap(),
                1 => bytes[at] = b" \n\\:/-0C"[self.below(8)],
                2 => {
                    let end = (at + self.below(40)).min(bytes.len());
                    bytes.drain(at..end);
                }
                _ => bytes.insert(at, bytes[at]),
            }
        }
        bytes
    }
}
