//! What a pair is made of beyond one write and its barrier, and which arms can.

use synctail_bench::{Arm, Plan, SyncFd};

use crate::args::WorkArgs;
use crate::refusal::Refusal;

/// Writes and descriptors of a pair.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// At least 1.
    pub writes: u64,
    /// By which the barrier is called.
    pub sync_fd: SyncFd,
}

impl Pair {
    /// Joins the arguments with the defaults.
    pub fn of(args: &WorkArgs) -> Pair {
        Pair {
            writes: args.writes_per_barrier.unwrap_or(1),
            sync_fd: args.sync_fd.map_or(SyncFd::Own, SyncFd::from),
        }
    }

    /// # Errors
    /// What `arm`, or a raw device, cannot do, with the flag's name.
    pub fn check(self, arm: Arm, block_bytes: u64, is_device: bool) -> Result<(), Refusal> {
        let several = self.writes > 1;
        let refused = if several && arm.uses_ring() {
            format!(
                "--writes-per-barrier: needs system calls, {arm} has one write; try --arm syscall/fdatasync"
            )
        } else if self.writes.saturating_mul(block_bytes) > Plan::BLOCK_SIZE_BYTES_MAX {
            let most = Plan::BLOCK_SIZE_BYTES_MAX;
            format!("--writes-per-barrier: a pair must be 1 to {most} bytes")
        } else if self.sync_fd.is_own() {
            return Ok(());
        } else if !arm.has_bare_barrier() {
            format!(
                "--sync-fd: needs a barrier that is a system call, {arm} has none; try --arm syscall/fsync"
            )
        } else if several {
            "--sync-fd: a pair of several writes has one descriptor; leave one of the two out"
                .to_owned()
        } else if is_device {
            "--sync-fd: a raw device is open once; leave it out".to_owned()
        } else {
            return Ok(());
        };
        Err(Refusal::usage(refused))
    }
}
