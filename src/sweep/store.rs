//! The state file: whole and synced, or the one before.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::document::{SCHEMA, Sweep};
use crate::refusal::Refusal;

fn refused(operation: &str, path: &Path, error: &io::Error) -> Refusal {
    let message = format!("--save: {operation} {}: {error}", path.display());
    Refusal::cannot("output", operation, message, "give a file in a directory that can be written")
}

/// Replaces the file by the state of `sweep`.
///
/// # Errors
/// Where it cannot be written.
pub fn save(path: &Path, sweep: &Sweep) -> Result<(), Refusal> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let written = NamedTempFile::new_in(folder).and_then(|mut file| {
        serde_json::to_writer(&mut file, sweep).map_err(io::Error::other)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()
    });
    written.map_err(|error| refused("write", path, &error))
}

/// The sweep in the file; nothing where there is no file.
///
/// # Errors
/// Where it cannot be read or holds something else.
pub fn load(path: &Path) -> Result<Option<Sweep>, Refusal> {
    let text = match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused("read", path, &error)),
        Ok(text) => text,
    };
    let sweep = serde_json::from_slice::<Sweep>(&text).map_err(io::Error::other);
    let sweep = sweep.and_then(|sweep| match sweep.schema == SCHEMA {
        true => Ok(sweep),
        false => Err(io::Error::other(format!("schema {:?}, not {SCHEMA:?}", sweep.schema))),
    });
    sweep.map(Some).map_err(|error| {
        let message = format!("--save: {} holds no sweep: {error}", path.display());
        Refusal::usage(message)
    })
}
