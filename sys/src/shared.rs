//! Memory that the measuring child fills and the parent reads, also while a worker hangs.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicU64;

use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous};

use crate::SysError;

/// Reserves `count` (at least 1) zeroed words that a forked child shares. Nothing is allocated until
/// it is touched, so that a run of unknown length can reserve for the longest. A memfd would fall
/// under RLIMIT_FSIZE; an anonymous mapping does not. Never unmapped.
pub fn reserve_words(count: usize) -> Result<&'static [AtomicU64], SysError> {
    let bytes = count.checked_mul(8).and_then(NonZeroUsize::new);
    let object = || format!("{count} words of shared memory");
    let too_large = || SysError::of("mmap", object(), nix::errno::Errno::ENOMEM);
    let bytes = bytes.ok_or_else(too_large)?;
    let flags = MapFlags::MAP_SHARED | MapFlags::MAP_NORESERVE;
    // SAFETY: an anonymous mapping at an address of the kernel's choice overlaps nothing.
    let mapped =
        unsafe { mmap_anonymous(None, bytes, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, flags) };
    let start = mapped.map_err(|errno| SysError::of("mmap", object(), errno))?;
    let start = start.as_ptr().cast::<AtomicU64>().cast_const();
    // SAFETY: the mapping is page aligned, zeroed (0 is a valid AtomicU64), `count` words long, never
    // unmapped, and reached through atomics only, by this process and its child alike.
    Ok(unsafe { std::slice::from_raw_parts(start, count) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn reserved_words_are_zero_and_a_terabyte_costs_nothing() {
        let words = reserve_words(1 << 37).unwrap();
        let last = &words[words.len() - 1];
        assert_eq!(last.load(Ordering::Relaxed), 0);
        last.store(9, Ordering::Relaxed);
        assert_eq!(last.load(Ordering::Relaxed), 9);
        assert_eq!(reserve_words(usize::MAX).unwrap_err().errno, libc::ENOMEM);
    }
}
