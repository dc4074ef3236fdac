//! One io_uring per worker, made on the worker's own thread.
//!
//! The ring owns the file it writes to, and writes only from the arena, which is never freed. So the
//! kernel never reads memory or a descriptor that is gone, whatever becomes of a request in flight.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::Duration;

use io_uring::types::{Fd, Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use nix::errno::Errno;

use crate::{Arena, CallResult, Place, SysError};

/// What a ring is asked to be.
#[derive(Clone, Debug, Default)]
pub struct RingSetup {
    /// Chains that may be in flight; at least 1.
    pub depth: u32,
    /// A kernel thread takes submissions.
    pub sqpoll: bool,
    /// Registered file and buffer.
    pub registered: bool,
    /// CPUs of the worker pool; empty leaves what it inherits from this thread.
    pub iowq_cpus: Vec<u64>,
}

/// Which half of a pair completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The write (with RWF_DSYNC: the whole pair).
    Write,
    /// The barrier.
    Barrier,
}

/// One completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// As given when it was pushed.
    pub slot: u32,
    /// Which half.
    pub part: Part,
    /// What the kernel returned.
    pub result: CallResult,
}

/// A ring, its file and its data.
pub struct Ring {
    ring: IoUring,
    arena: Arena,
    file: Option<File>,
    setup: RingSetup,
    flags: Vec<&'static str>,
    enters: u64,
}

const FILE_INDEX: Fixed = Fixed(0);
const BUFFER_INDEX: u16 = 0;

impl Ring {
    /// Sets the ring up on the calling thread, which must be the one that uses it.
    pub fn new(setup: RingSetup, arena: Arena) -> Result<Ring, SysError> {
        let (ring, flags) = build(&setup)?;
        let ring = Ring { ring, arena, file: None, setup, flags, enters: 0 };
        if ring.setup.registered {
            ring.register_buffer()?;
        }
        if !ring.setup.iowq_cpus.is_empty() {
            ring.set_iowq_cpus()?;
        }
        Ok(ring)
    }

    fn register_buffer(&self) -> Result<(), SysError> {
        let whole = libc::iovec {
            iov_base: self.arena.as_ptr().cast_mut().cast(),
            iov_len: self.arena.len(),
        };
        // SAFETY: the arena is never freed, and only writes (reads of memory) use the buffer.
        let registered = unsafe { self.ring.submitter().register_buffers(&[whole]) };
        registered.map_err(|e| SysError::new("io_uring_register", "the data buffer", &e))
    }

    fn set_iowq_cpus(&self) -> Result<(), SysError> {
        let failed = |errno| SysError::of("io_uring_register", "io-wq affinity", errno);
        // SAFETY: `cpu_set_t` is an array of integers, for which all zeroes is a valid value.
        let mut mask: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        for &cpu in &self.setup.iowq_cpus {
            let cpu = usize::try_from(cpu).ok().filter(|&c| c < libc::CPU_SETSIZE as usize);
            let cpu = cpu.ok_or_else(|| failed(Errno::EINVAL))?;
            // SAFETY: the index is below CPU_SETSIZE, so it lies within the mask.
            unsafe { libc::CPU_SET(cpu, &mut mask) };
        }
        let done = self.ring.submitter().register_iowq_aff(&mask);
        done.map_err(|e| SysError::new("io_uring_register", "io-wq affinity", &e))
    }

    /// Set-up flags in force, in the kernel's words.
    pub fn flags(&self) -> &[&'static str] {
        &self.flags
    }

    /// Whether the kernel can leave out the completion of a write that succeeded.
    pub fn can_skip_completions(&self) -> bool {
        self.ring.params().is_feature_skip_cqe_on_success()
    }

    /// io_uring_enter calls made so far.
    pub fn enters(&self) -> u64 {
        self.enters
    }

    /// Makes `file` the one that is written. No request may be in flight: a kernel thread that takes
    /// submissions could otherwise see the descriptor of another file.
    pub fn use_file(&mut self, file: File) -> Result<(), SysError> {
        if self.setup.registered {
            let failed = |e| SysError::new("io_uring_register", "the test file", &e);
            let submitter = self.ring.submitter();
            let fd = [file.as_raw_fd()];
            match self.file {
                None => submitter.register_files(&fd).map_err(failed)?,
                Some(_) => submitter.register_files_update(0, &fd).map(drop).map_err(failed)?,
            }
        }
        self.file = Some(file);
        Ok(())
    }

    /// Queues the write of one block. `link` makes the next request wait for its full success;
    /// `quiet` (linked writes only) leaves out the completion of a write that was full.
    #[inline]
    pub fn push_write(&mut self, slot: u32, place: Place, dsync: bool, link: bool, quiet: bool) {
        let Some(file) = &self.file else { return };
        let block = self.arena.block(place.data);
        let length = block.len() as u32;
        let sync = if dsync { libc::RWF_DSYNC } else { 0 };
        let entry = if self.setup.registered {
            opcode::WriteFixed::new(FILE_INDEX, block.as_ptr(), length, BUFFER_INDEX)
                .offset(place.offset)
                .rw_flags(sync)
                .build()
        } else {
            opcode::Write::new(Fd(file.as_raw_fd()), block.as_ptr(), length)
                .offset(place.offset)
                .rw_flags(sync)
                .build()
        };
        let mut flags = squeue::Flags::empty();
        flags.set(squeue::Flags::IO_LINK, link);
        flags.set(squeue::Flags::SKIP_SUCCESS, link && quiet);
        self.push(&entry.flags(flags).user_data(user_data(slot, Part::Write)));
    }

    /// Queues the barrier of one pair.
    #[inline]
    pub fn push_barrier(&mut self, slot: u32, datasync: bool) {
        let Some(file) = &self.file else { return };
        let flags = if datasync { FsyncFlags::DATASYNC } else { FsyncFlags::empty() };
        let entry = if self.setup.registered {
            opcode::Fsync::new(FILE_INDEX).flags(flags).build()
        } else {
            opcode::Fsync::new(Fd(file.as_raw_fd())).flags(flags).build()
        };
        self.push(&entry.user_data(user_data(slot, Part::Barrier)));
    }

    #[inline]
    fn push(&mut self, entry: &squeue::Entry) {
        loop {
            // SAFETY: the entry names a descriptor that `self.file` keeps open and a block of the
            // arena, which is never freed; both outlive the request.
            let pushed = unsafe { self.ring.submission().push(entry) };
            if pushed.is_ok() {
                return;
            }
            // Only a polling kernel thread that lags behind can leave the queue full: it has room for
            // both halves of every slot.
            std::hint::spin_loop();
        }
    }

    /// Submits what is queued and waits for `wanted` completions; an interrupted wait goes on.
    #[inline]
    pub fn enter(&mut self, wanted: u32) -> CallResult {
        loop {
            self.enters += 1;
            match self.ring.submit_and_wait(wanted as usize) {
                Ok(_) => return CallResult(0),
                // EINTR: a signal ended the wait, nothing was lost. EAGAIN, EBUSY: the kernel is
                // short of memory or has completions to hand over first; what was queued stays so.
                Err(error) => match error.raw_os_error() {
                    Some(libc::EINTR | libc::EAGAIN | libc::EBUSY) => {
                        if self.ready() >= wanted {
                            return CallResult(0);
                        }
                    }
                    errno => return CallResult(-errno.unwrap_or(libc::EIO)),
                },
            }
        }
    }

    /// Submits what is queued and waits for `wanted` completions, but not much longer than
    /// `patience_ns`; needs Linux 5.11, and says EINVAL on older ones.
    pub fn enter_for(&mut self, wanted: u32, patience_ns: u64) -> CallResult {
        if !self.ring.params().is_feature_ext_arg() {
            return CallResult(-libc::EINVAL);
        }
        let patience = Timespec::from(Duration::from_nanos(patience_ns));
        let args = SubmitArgs::new().timespec(&patience);
        self.enters += 1;
        match self.ring.submitter().submit_with_args(wanted as usize, &args) {
            Ok(_) => CallResult(0),
            // Time is over, or was cut short: the caller looks at what there is and comes back.
            Err(error) => match error.raw_os_error() {
                Some(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY) => CallResult(0),
                errno => CallResult(-errno.unwrap_or(libc::EIO)),
            },
        }
    }

    /// Completions that can be taken at this moment.
    #[inline]
    pub fn ready(&mut self) -> u32 {
        self.ring.completion().len() as u32
    }

    /// Takes one completion.
    #[inline]
    pub fn take(&mut self) -> Option<Completion> {
        let entry = self.ring.completion().next()?;
        let data = entry.user_data();
        let part = if data & 1 == 0 { Part::Write } else { Part::Barrier };
        Some(Completion { slot: (data >> 1) as u32, part, result: CallResult(entry.result()) })
    }
}

fn user_data(slot: u32, part: Part) -> u64 {
    u64::from(slot) << 1 | u64::from(part == Part::Barrier)
}

/// The best ring that the kernel has: first with the task-run flags of 6.1, then without, which
/// older kernels refuse with EINVAL. Which one it became is in the record.
fn build(setup: &RingSetup) -> Result<(IoUring, Vec<&'static str>), SysError> {
    let entries = setup.depth.saturating_mul(2).next_power_of_two();
    let failed = |e: std::io::Error| SysError::new("io_uring_setup", "a ring", &e);
    let mut builder = IoUring::builder();
    if setup.sqpoll {
        builder.setup_sqpoll(SQPOLL_IDLE_MS);
        return Ok((builder.build(entries).map_err(failed)?, vec!["sqpoll"]));
    }
    builder.setup_single_issuer().setup_defer_taskrun();
    match builder.build(entries) {
        Ok(ring) => Ok((ring, vec!["single_issuer", "defer_taskrun"])),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            Ok((IoUring::builder().build(entries).map_err(failed)?, Vec::new()))
        }
        Err(error) => Err(failed(error)),
    }
}

/// How long the polling thread spins before it sleeps; longer than any healthy flush.
const SQPOLL_IDLE_MS: u32 = 1_000;
