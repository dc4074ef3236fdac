//! The folder of a qualification: what is in it survives a crash, or is not there at all.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use nix::fcntl::Flock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use synctail_sys::lock_exclusive;
use tempfile::NamedTempFile;

use super::spec::hex;
use crate::refusal::Refusal;

const STATE: &str = "state.json";
const LOCK: &str = "lock";
const RECORDS: &str = "records";

/// The folder, held by this process alone.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    _held: Flock<File>,
}

fn refused(operation: &str, path: &Path, error: &io::Error) -> Refusal {
    let text = format!("{operation} {}: {error}", path.display());
    Refusal::cannot("output", operation, text, "give a folder that can be written with --state")
}

impl Store {
    /// Makes the folder if it is not there, and holds it.
    ///
    /// # Errors
    /// Where it cannot be made, or another process holds it.
    pub fn open(folder: &Path) -> Result<Store, Refusal> {
        let made = fs::create_dir_all(folder.join(RECORDS));
        made.map_err(|error| refused("mkdir", folder, &error))?;
        let lock = folder.join(LOCK);
        let opened = File::options().create(true).append(true).open(&lock);
        let opened = opened.map_err(|error| refused("open", &lock, &error))?;
        let held = lock_exclusive(opened).ok_or_else(|| {
            let text = format!("{} is in use by another qualification", folder.display());
            Refusal::cannot("prepare", "flock", text, "wait for its end, or give another --state")
        })?;
        Ok(Store { folder: folder.to_owned(), _held: held })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The saved state, if there is one.
    ///
    /// # Errors
    /// Where it cannot be read or is none.
    pub fn state<T: DeserializeOwned>(&self) -> Result<Option<T>, Refusal> {
        let path = self.folder.join(STATE);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused("read", &path, &error)),
            Ok(text) => text,
        };
        serde_json::from_slice(&text)
            .map(Some)
            .map_err(|error| refused("read", &path, &io::Error::other(error)))
    }

    /// Saves the state: atomically, and synced before this returns.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn save_state(&self, state: &impl Serialize) -> Result<(), Refusal> {
        let text = serde_json::to_string_pretty(state).unwrap_or_default();
        self.save(STATE, &text)
    }

    /// The same for any file.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn save(&self, name: &str, text: &str) -> Result<(), Refusal> {
        let path = self.folder.join(name);
        let written = NamedTempFile::new_in(&self.folder).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.write_all(if text.ends_with('\n') { b"" } else { b"\n" })?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)?;
            sync_folder(&self.folder)
        });
        written.map_err(|error| refused("write", &path, &error))
    }

    /// Where the record of a round belongs, relative to the folder.
    pub fn record_name(step: usize, round: u64, load: Option<&str>) -> String {
        let load = load.map_or(String::new(), |name| format!("-{name}"));
        format!("{RECORDS}/{:03}-{round:03}{load}.json", step + 1)
    }

    /// Makes what another process wrote durable; its digest.
    ///
    /// # Errors
    /// Where it is not there.
    pub fn seal(&self, name: &str) -> Result<String, Refusal> {
        let path = self.folder.join(name);
        let sealed = File::open(&path).and_then(|file| file.sync_all());
        sealed
            .and_then(|()| sync_folder(&self.folder.join(RECORDS)))
            .and_then(|()| digest(&path))
            .map_err(|error| refused("sync", &path, &error))
    }

    /// The content of a file whose digest is known.
    ///
    /// # Errors
    /// Where it is gone or has changed.
    pub fn read(&self, name: &str, sha256: &str) -> Result<Vec<u8>, Refusal> {
        let path = self.folder.join(name);
        let bytes = fs::read(&path).map_err(|error| refused("read", &path, &error))?;
        if hex(&Sha256::digest(&bytes)) == sha256 {
            return Ok(bytes);
        }
        let why = io::Error::other("it has changed since it was saved (sha256)");
        Err(refused("read", &path, &why))
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn digest(path: &Path) -> io::Result<String> {
    let (mut file, mut sum, mut buffer) = (File::open(path)?, Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&sum.finalize())),
            bytes => sum.update(&buffer[..bytes]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_owner_and_notices_what_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/b");
        let store = Store::open(&folder).unwrap();
        assert!(Store::open(&folder).unwrap_err().report.message.contains("in use"));
        assert_eq!(store.state::<u64>().unwrap(), None);
        store.save_state(&7).unwrap();
        assert_eq!(store.state::<u64>().unwrap(), Some(7));
        let name = Store::record_name(0, 1, Some("mixed"));
        assert!(store.seal(&name).is_err());
        fs::write(folder.join(&name), "abc").unwrap();
        let sum = store.seal(&name).unwrap();
        // The digest of "abc" in FIPS 180-4.
        assert!(sum.starts_with("ba7816bf") && sum.ends_with("f20015ad"), "{sum}");
        assert_eq!(store.read(&name, &sum).unwrap(), b"abc");
        fs::write(folder.join(&name), "abd").unwrap();
        assert!(store.read(&name, &sum).unwrap_err().report.message.contains("has changed"));
        drop(store);
        Store::open(&folder).unwrap();
    }
}
