//! CPUs: which are allowed, pinning to one, and the scheduling class.

use core_affinity::CoreId;
use nix::errno::Errno;

use crate::SysError;

/// The CPUs this process may run on, ascending; empty where the system does not tell, as on Linux with
/// more CPUs than the fixed mask holds.
pub fn allowed_cpus() -> Vec<u64> {
    let mut cpus: Vec<u64> =
        core_affinity::get_core_ids().unwrap_or_default().iter().map(|c| c.id as u64).collect();
    cpus.sort_unstable();
    cpus
}

/// Nanoseconds that the calling thread was ready to run and waited for a CPU, since it exists; nothing
/// where the kernel does not count them.
pub fn run_delay_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Lets the calling thread's sleeps end when they are due, not up to 50 us later as the kernel's timer
/// slack allows. Where that is refused they only end later.
pub fn sleep_precisely() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_timerslack(1);
}

/// Pins the calling thread to `cpu`.
pub fn pin(cpu: u64) -> Result<(), SysError> {
    let object = || format!("cpu {cpu}");
    // The mask of sched_setaffinity's wrapper ends there; beyond it core_affinity would panic.
    const MASK_CPUS: u64 = 1_024;
    if cpu >= MASK_CPUS {
        return Err(SysError::of("sched_setaffinity", object(), Errno::EINVAL));
    }
    Errno::clear();
    if core_affinity::set_for_current(CoreId { id: cpu as usize }) {
        return Ok(());
    }
    let errno = Errno::last();
    let errno = if errno == Errno::UnknownErrno { Errno::EINVAL } else { errno };
    Err(SysError::of("sched_setaffinity", object(), errno))
}

/// The CPU that the calling thread runs on, where the system tells.
pub fn current_cpu() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        nix::sched::sched_getcpu().ok().map(|cpu| cpu as u64)
    }
    #[cfg(not(target_os = "linux"))]
    {
        None
    }
}

/// The kernel's name of the calling thread's scheduling class.
pub fn scheduling_class() -> Option<&'static str> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: takes no memory; 0 means the calling thread.
        let class = unsafe { libc::sched_getscheduler(0) };
        let names = [
            (libc::SCHED_OTHER, "SCHED_OTHER"),
            (libc::SCHED_FIFO, "SCHED_FIFO"),
            (libc::SCHED_RR, "SCHED_RR"),
            (libc::SCHED_BATCH, "SCHED_BATCH"),
            (libc::SCHED_IDLE, "SCHED_IDLE"),
        ];
        names.iter().find(|(id, _)| *id == class).map(|(_, name)| *name)
    }
    #[cfg(not(target_os = "linux"))]
    {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_runs_where_it_was_put_and_a_missing_cpu_is_an_error() {
        let allowed = allowed_cpus();
        let last = *allowed.last().unwrap();
        std::thread::spawn(move || {
            pin(last).unwrap();
            #[cfg(target_os = "linux")]
            assert_eq!(current_cpu(), Some(last));
            assert_eq!(pin(1_000).unwrap_err().errno, libc::EINVAL);
            assert_eq!(pin(5_000).unwrap_err().object, "cpu 5000");
        })
        .join()
        .unwrap();
    }
}
