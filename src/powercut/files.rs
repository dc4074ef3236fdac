//! A worker's files on the storage that loses its power.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::FileExt;

use synctail_bench::{Arm, Barrier, Engine, Layout};
use synctail_sys::{DirHandle, DurableFile, OpenMode, SysError, Way};

use super::plan::{Location, Worker};

/// Written at once where a file is filled beforehand.
const FILL_BYTES: usize = 1 << 20;

/// The files of one worker; the one that is written is open.
#[derive(Debug)]
pub struct Files<'a> {
    dir: &'a DirHandle,
    number: usize,
    worker: Worker,
    open: Option<(u64, DurableFile)>,
}

impl<'a> Files<'a> {
    /// None exists yet.
    pub fn new(dir: &'a DirHandle, number: usize, worker: Worker) -> Files<'a> {
        Files { dir, number, worker, open: None }
    }

    /// Writes `block` where record `sequence` belongs, and returns once it is durable: its file's name too.
    ///
    /// # Errors
    /// What the storage says; nothing may be written after it.
    pub fn put(&mut self, sequence: u64, block: &[u8]) -> Result<(), SysError> {
        let Location { file, offset_bytes } = self.worker.location(sequence);
        if self.open.as_ref().is_none_or(|(open, _)| *open != file) {
            self.enter(file)?;
        }
        let Some((_, durable)) = &mut self.open else { unreachable!("the file was just opened") };
        durable.put(offset_bytes, block)
    }

    fn enter(&mut self, file: u64) -> Result<(), SysError> {
        let name = OsString::from(Worker::file_name(self.number, file));
        let created = self.make(&name)?;
        // A name is durable only once its directory is: what is lost after this was promised.
        sync_directory(self.dir)?;
        match &mut self.open {
            Some((open, durable)) => {
                durable.use_file(created);
                *open = file;
            }
            None => {
                // A block is at most 256 MiB.
                let bytes = self.worker.block_size_bytes as usize;
                self.open = Some((file, DurableFile::new(created, way(self.worker.arm), bytes)?));
            }
        }
        if let Some(old) = self.worker.retired(file) {
            self.dir.remove(OsStr::new(&Worker::file_name(self.number, old)))?;
        }
        Ok(())
    }

    fn make(&self, name: &OsStr) -> Result<File, SysError> {
        let arm = self.worker.arm;
        let mode = OpenMode {
            direct: arm.direct,
            dsync: arm.barrier == Barrier::ODsync,
            sync: arm.barrier == Barrier::OSync,
        };
        let file = self.dir.create(name, mode)?;
        match self.worker.layout {
            Layout::Append => {}
            Layout::Unwritten => self.dir.allocate(name, &file, self.worker.file_size_bytes)?,
            Layout::Overwrite => self.fill(name)?,
        }
        self.dir.sync(name, &file)?;
        Ok(file)
    }

    /// Zeros, so that what a record finds is known; through the page cache whatever the arm.
    fn fill(&self, name: &OsStr) -> Result<(), SysError> {
        let path = self.dir.path().join(name);
        let failed = |error: std::io::Error| SysError::new("write", path.to_string_lossy(), &error);
        let file = File::options().write(true).open(&path).map_err(failed)?;
        let zeros = vec![0; FILL_BYTES];
        let mut offset = 0;
        while offset < self.worker.file_size_bytes {
            let length = (self.worker.file_size_bytes - offset).min(FILL_BYTES as u64);
            file.write_all_at(&zeros[..length as usize], offset).map_err(failed)?;
            offset += length;
        }
        Ok(())
    }
}

/// Makes the names in a directory durable.
///
/// # Errors
/// What the storage says.
pub fn sync_directory(dir: &DirHandle) -> Result<(), SysError> {
    let this = dir.read(OsStr::new("."))?;
    dir.sync(OsStr::new(""), &this)
}

fn way(arm: Arm) -> Way {
    let datasync = arm.barrier == Barrier::Fdatasync;
    match (arm.engine, arm.barrier) {
        (Engine::Syscall, Barrier::Fdatasync | Barrier::Fsync) => Way::Calls { datasync },
        (Engine::Syscall, Barrier::Dsync) => Way::Dsync,
        (Engine::Syscall, Barrier::FFullfsync) => Way::FullFsync,
        (Engine::Syscall, Barrier::FBarrierfsync) => Way::BarrierFsync,
        (Engine::Syscall, Barrier::ODsync | Barrier::OSync | Barrier::None) => Way::WriteOnly,
        (Engine::UringLinked, _) => Way::Ring { datasync, linked: true },
        (Engine::Uring, Barrier::Fdatasync | Barrier::Fsync) => {
            Way::Ring { datasync, linked: false }
        }
        (Engine::Uring, barrier) => Way::RingWriteOnly { dsync: barrier == Barrier::Dsync },
    }
}
