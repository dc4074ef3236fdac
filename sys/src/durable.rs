//! A file whose writes are made durable one by one, with data that the caller chooses.
//!
//! Nothing here is timed. What is written lies in memory of its own that is never freed, so that the
//! kernel never reads what is gone, whatever becomes of a request.

use std::fs::File;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::uio::pwrite;

#[cfg(target_os = "linux")]
use crate::CallResult;
use crate::SysError;

/// Alignment that O_DIRECT can ask on any device in use.
const ALIGNMENT: usize = 4096;

/// How a write becomes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// pwrite, then fdatasync or fsync by the C library.
    Calls {
        /// fdatasync rather than fsync.
        datasync: bool,
    },
    /// pwrite and nothing more: the file was opened with O_DSYNC or O_SYNC, or nothing is to be durable.
    WriteOnly,
    /// One pwritev2 with RWF_DSYNC.
    Dsync,
    /// pwrite, then fcntl(F_FULLFSYNC).
    FullFsync,
    /// pwrite, then fcntl(F_BARRIERFSYNC).
    BarrierFsync,
    /// Write and fsync requests of a ring.
    Ring {
        /// With IORING_FSYNC_DATASYNC.
        datasync: bool,
        /// One submission, the barrier linked to the write; else two round trips.
        linked: bool,
    },
    /// One write request with RWF_DSYNC, or with nothing.
    RingWriteOnly {
        /// With RWF_DSYNC.
        dsync: bool,
    },
}

/// The file, its way and its memory.
pub struct DurableFile {
    file: File,
    way: Way,
    buffer: &'static mut [u8],
    #[cfg(target_os = "linux")]
    ring: Option<io_uring::IoUring>,
    /// A request may still be with the kernel: the memory must not change any more.
    broken: bool,
}

impl std::fmt::Debug for DurableFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DurableFile").field("way", &self.way).finish_non_exhaustive()
    }
}

impl DurableFile {
    /// Takes `file` for writes of up to `block_bytes_max` bytes.
    ///
    /// # Errors
    /// Where a ring cannot be had.
    pub fn new(file: File, way: Way, block_bytes_max: usize) -> Result<DurableFile, SysError> {
        let whole = Box::leak(vec![0; block_bytes_max + ALIGNMENT].into_boxed_slice());
        let skipped = whole.as_ptr().align_offset(ALIGNMENT);
        let buffer = &mut whole[skipped..skipped + block_bytes_max];
        #[cfg(target_os = "linux")]
        let ring = match way {
            Way::Ring { .. } | Way::RingWriteOnly { .. } => {
                let ring = io_uring::IoUring::new(2);
                Some(ring.map_err(|e| SysError::new("io_uring_setup", "a ring", &e))?)
            }
            _ => None,
        };
        Ok(DurableFile {
            file,
            way,
            buffer,
            #[cfg(target_os = "linux")]
            ring,
            broken: false,
        })
    }

    /// Goes on with another file; nothing is in flight between two writes.
    pub fn use_file(&mut self, file: File) {
        self.file = file;
    }

    /// Writes `block` at `offset` and returns once it is durable, as far as the kernel says.
    ///
    /// # Errors
    /// Where the write was not full or the barrier failed: nothing is known of the block then, and nothing
    /// may be written after it.
    pub fn put(&mut self, offset: u64, block: &[u8]) -> Result<(), SysError> {
        if self.broken {
            return Err(SysError::of("write", "the file after an error", Errno::EIO));
        }
        self.buffer[..block.len()].copy_from_slice(block);
        let put = self.put_buffer(offset, block.len());
        self.broken = put.is_err();
        put
    }

    fn put_buffer(&mut self, offset: u64, bytes: usize) -> Result<(), SysError> {
        match self.way {
            Way::WriteOnly => self.pwrite(offset, bytes),
            Way::Calls { datasync } => {
                self.pwrite(offset, bytes)?;
                self.sync_call(datasync)
            }
            Way::FullFsync | Way::BarrierFsync => {
                self.pwrite(offset, bytes)?;
                self.darwin_barrier()
            }
            #[cfg(target_os = "linux")]
            Way::Dsync => self.pwrite_dsync(offset, bytes),
            #[cfg(target_os = "linux")]
            Way::Ring { datasync, linked } => self.ring_pair(offset, bytes, datasync, linked),
            #[cfg(target_os = "linux")]
            Way::RingWriteOnly { dsync } => {
                self.push_write(offset, bytes, dsync, false);
                self.finish(&[("io_uring write", bytes)])
            }
            #[cfg(not(target_os = "linux"))]
            Way::Dsync | Way::Ring { .. } | Way::RingWriteOnly { .. } => {
                Err(SysError::of("write", "an arm of Linux", Errno::ENOSYS))
            }
        }
    }

    fn pwrite(&self, offset: u64, bytes: usize) -> Result<(), SysError> {
        let written = pwrite(&self.file, &self.buffer[..bytes], offset as libc::off_t);
        let written = written.map_err(|errno| SysError::of("pwrite", "the file", errno))?;
        full("pwrite", written, bytes)
    }

    #[cfg(target_os = "linux")]
    fn sync_call(&self, datasync: bool) -> Result<(), SysError> {
        let (name, done) = if datasync {
            ("fdatasync", nix::unistd::fdatasync(&self.file))
        } else {
            ("fsync", nix::unistd::fsync(&self.file))
        };
        done.map_err(|errno| SysError::of(name, "the file", errno))
    }

    #[cfg(not(target_os = "linux"))]
    fn sync_call(&self, _datasync: bool) -> Result<(), SysError> {
        nix::unistd::fsync(&self.file).map_err(|errno| SysError::of("fsync", "the file", errno))
    }

    #[cfg(target_os = "macos")]
    fn darwin_barrier(&self) -> Result<(), SysError> {
        let fd = self.file.as_raw_fd();
        let (name, result) = if self.way == Way::FullFsync {
            ("fcntl(F_FULLFSYNC)", crate::darwin::full_fsync(fd))
        } else {
            ("fcntl(F_BARRIERFSYNC)", crate::darwin::barrier_fsync(fd))
        };
        result.errno().map_or(Ok(()), |e| Err(SysError::of(name, "the file", Errno::from_raw(e))))
    }

    #[cfg(not(target_os = "macos"))]
    fn darwin_barrier(&self) -> Result<(), SysError> {
        Err(SysError::of("fcntl", "a barrier of macOS", Errno::ENOSYS))
    }
}

#[cfg(target_os = "linux")]
impl DurableFile {
    fn pwrite_dsync(&self, offset: u64, bytes: usize) -> Result<(), SysError> {
        let block = &self.buffer[..bytes];
        let io = libc::iovec { iov_base: block.as_ptr().cast_mut().cast(), iov_len: block.len() };
        let (fd, offset) = (self.file.as_raw_fd(), offset as libc::off_t);
        // SAFETY: the descriptor is open as long as `self.file`; the one iovec and the block it names live
        // over the call, and a write never stores through `iov_base`.
        let value = unsafe { libc::pwritev2(fd, &raw const io, 1, offset, libc::RWF_DSYNC) };
        let result = CallResult::from_return(value);
        match result.errno() {
            Some(errno) => Err(SysError::of("pwritev2", "the file", Errno::from_raw(errno))),
            None => full("pwritev2", value as usize, bytes),
        }
    }

    fn ring_pair(
        &mut self,
        offset: u64,
        bytes: usize,
        datasync: bool,
        linked: bool,
    ) -> Result<(), SysError> {
        self.push_write(offset, bytes, false, linked);
        if !linked {
            self.finish(&[("io_uring write", bytes)])?;
        }
        self.push_barrier(datasync);
        let (write, barrier) = (("io_uring write", bytes), ("io_uring fsync", 0));
        if linked { self.finish(&[write, barrier]) } else { self.finish(&[barrier]) }
    }

    fn push_write(&mut self, offset: u64, bytes: usize, dsync: bool, link: bool) {
        let fd = io_uring::types::Fd(self.file.as_raw_fd());
        let flags = if dsync { libc::RWF_DSYNC } else { 0 };
        // A block is at most 256 MiB, checked by the plan.
        let entry = io_uring::opcode::Write::new(fd, self.buffer.as_ptr(), bytes as u32)
            .offset(offset)
            .rw_flags(flags)
            .build();
        let link =
            if link { io_uring::squeue::Flags::IO_LINK } else { io_uring::squeue::Flags::empty() };
        self.push(&entry.flags(link));
    }

    fn push_barrier(&mut self, datasync: bool) {
        use io_uring::types::FsyncFlags;
        let fd = io_uring::types::Fd(self.file.as_raw_fd());
        let flags = if datasync { FsyncFlags::DATASYNC } else { FsyncFlags::empty() };
        self.push(&io_uring::opcode::Fsync::new(fd).flags(flags).build().user_data(1));
    }

    fn push(&mut self, entry: &io_uring::squeue::Entry) {
        let Some(ring) = &mut self.ring else { return };
        // SAFETY: the entry names a descriptor that `self.file` keeps open until the request is answered, and
        // memory that is never freed and not written again before it is.
        let pushed = unsafe { ring.submission().push(entry) };
        // The queue has room for two, and is empty before a pair.
        debug_assert!(pushed.is_ok());
    }

    /// Waits for as many answers as there are names; the user data of each is its place, or 1 of a barrier
    /// that is alone.
    fn finish(&mut self, wanted: &[(&'static str, usize)]) -> Result<(), SysError> {
        let Some(ring) = &mut self.ring else { return Err(no_ring()) };
        let mut outcome = Ok(());
        let mut left = wanted.len();
        while left > 0 {
            if let Err(error) = ring.submit_and_wait(1)
                && error.raw_os_error() != Some(libc::EINTR)
            {
                return Err(SysError::new("io_uring_enter", "the file", &error));
            }
            while let Some(entry) = ring.completion().next() {
                left -= 1;
                let place = (entry.user_data() as usize).min(wanted.len() - 1);
                let (name, bytes) = wanted[place];
                // Of a broken link the write says why; the barrier was only cancelled.
                match answered(name, entry.result(), bytes) {
                    Err(error) if outcome.is_ok() || place == 0 => outcome = Err(error),
                    _ => {}
                }
            }
        }
        outcome
    }
}

#[cfg(target_os = "linux")]
fn no_ring() -> SysError {
    SysError::of("io_uring_enter", "no ring", Errno::ENOSYS)
}

#[cfg(target_os = "linux")]
fn answered(name: &'static str, result: i32, bytes: usize) -> Result<(), SysError> {
    match usize::try_from(result) {
        Ok(done) => full(name, done, bytes),
        Err(_) => Err(SysError::of(name, "the file", Errno::from_raw(-result))),
    }
}

fn full(name: &'static str, done: usize, bytes: usize) -> Result<(), SysError> {
    if done == bytes {
        return Ok(());
    }
    Err(SysError::of(name, format!("the file: {done} of {bytes} bytes"), Errno::EIO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    fn ways() -> Vec<Way> {
        let mut ways = vec![Way::WriteOnly, Way::Calls { datasync: false }];
        if cfg!(target_os = "linux") {
            ways.extend([Way::Calls { datasync: true }, Way::Dsync]);
            for datasync in [false, true] {
                ways.extend([true, false].map(|linked| Way::Ring { datasync, linked }));
                ways.push(Way::RingWriteOnly { dsync: datasync });
            }
        }
        ways
    }

    #[test]
    fn every_way_writes_what_it_was_given() {
        for way in ways() {
            let file = tempfile::tempfile().unwrap();
            let mut durable = DurableFile::new(file.try_clone().unwrap(), way, 700).unwrap();
            durable.put(0, &[1; 700]).unwrap();
            durable.put(700, &[2; 90]).unwrap();
            let mut read = [0; 790];
            file.read_exact_at(&mut read, 0).unwrap();
            assert_eq!(read[..], [vec![1; 700], vec![2; 90]].concat(), "{way:?}");
        }
    }

    #[test]
    fn after_an_error_nothing_is_written_any_more() {
        for way in ways() {
            let read_only =
                File::open("/proc/self/exe").or_else(|_| File::open("/bin/sh")).unwrap();
            let mut durable = DurableFile::new(read_only, way, 16).unwrap();
            let error = durable.put(0, &[1; 16]).unwrap_err();
            assert_eq!(error.errno, libc::EBADF, "{way:?}: {error}");
            let file = tempfile::tempfile().unwrap();
            durable.use_file(file.try_clone().unwrap());
            assert!(durable.put(0, &[1; 16]).is_err(), "{way:?}");
            assert_eq!(file.metadata().unwrap().len(), 0, "{way:?}");
        }
    }
}
