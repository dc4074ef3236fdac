//! From a fault to words: what was attempted, on what, why it failed, what to do.

use std::path::Path;

use synctail_bench::{Arm, Cause, Fault, Stage};
use synctail_sys::{errno_name, errno_text};

use crate::human;
use crate::record::ErrorReport;

/// What a message may mention besides the fault.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// What was measured.
    pub arm: Arm,
    /// Bytes per write.
    pub block_size_bytes: u64,
    /// Type of the filesystem, where it is known.
    pub filesystem: Option<&'a str>,
    /// Where /proc is looked up.
    pub root: &'a Path,
    /// Completed pairs before the fault.
    pub pairs: u64,
}

/// The report of `fault`.
pub fn report(fault: &Fault, circumstances: &Circumstances) -> ErrorReport {
    let errno = match fault.cause {
        Cause::Errno(errno) => Some(errno),
        _ => None,
    };
    ErrorReport {
        stage: fault.stage.name().to_owned(),
        operation: fault.operation.clone(),
        errno,
        errno_name: errno.map(errno_name),
        message: message(fault, circumstances),
        remedy: remedy(fault, circumstances).map(str::to_owned),
    }
}

fn message(fault: &Fault, circumstances: &Circumstances) -> String {
    let worker = fault.worker.map_or(String::new(), |worker| format!(" of worker {worker}"));
    let object = fault.object.clone().unwrap_or_else(|| format!("the test file{worker}"));
    let after = match fault.stage {
        Stage::Measure => format!(" after {} complete pairs", circumstances.pairs),
        Stage::Warmup => " during warm-up".to_owned(),
        _ => String::new(),
    };
    format!("{} on {object}{after}: {}", fault.operation, reason(fault, circumstances))
}

fn reason(fault: &Fault, circumstances: &Circumstances) -> String {
    match &fault.cause {
        Cause::Errno(errno) => format!("{} ({})", errno_text(*errno), errno_name(*errno)),
        Cause::ShortWrite { written, wanted } => {
            format!("short write: {written} of {wanted} bytes")
        }
        Cause::ClockBackwards(ticks) => {
            format!("the clock ran backwards by {ticks} ticks within a pair")
        }
        Cause::UnknownCompletion => "a completion belongs to no request in flight".to_owned(),
        Cause::DirectUnsupported => {
            let filesystem = circumstances.filesystem.unwrap_or("this filesystem");
            format!("direct I/O is not supported by {filesystem} here")
        }
        Cause::DirectAlignment { needed } => format!(
            "direct I/O needs sizes that are multiples of {needed} bytes, the block is {}",
            human::bytes(circumstances.block_size_bytes),
        ),
        Cause::Stopped => "the run was stopped".to_owned(),
        Cause::Panicked(text) => format!("internal error: {text}"),
    }
}

fn remedy(fault: &Fault, circumstances: &Circumstances) -> Option<&'static str> {
    match &fault.cause {
        Cause::Errno(errno) if fault.operation.starts_with("io_uring_") => {
            ring_remedy(&errno_name(*errno), &fault.operation, circumstances.root)
        }
        Cause::Errno(errno) => call_remedy(&errno_name(*errno), fault, circumstances),
        Cause::ShortWrite { .. } => Some(
            "a file size limit (ulimit -f), a quota or a nearly full filesystem: raise the limit or free space",
        ),
        Cause::ClockBackwards(_) => {
            Some("no figure of this run can be trusted; run it again with --pin")
        }
        Cause::DirectUnsupported => Some("measure without +direct"),
        Cause::DirectAlignment { .. } => {
            Some("give --block-size a multiple of that, or measure without +direct")
        }
        Cause::UnknownCompletion | Cause::Panicked(_) => {
            Some("please report this with the command line")
        }
        Cause::Stopped => None,
    }
}

fn call_remedy(errno: &str, fault: &Fault, circumstances: &Circumstances) -> Option<&'static str> {
    let claiming = fault.operation == "open O_EXCL";
    let opening = fault.stage == Stage::Prepare || fault.stage == Stage::Probe;
    match errno {
        "ENOENT" | "EPERM" if fault.operation == "mkdir" => {
            Some("nothing can be made here: give a directory on a filesystem that takes files")
        }
        "ENOENT" if claiming => Some("give a block device that exists; none is made"),
        "ENOTBLK" => {
            Some("give a block device such as /dev/sdb; to measure a directory leave --device out")
        }
        "EACCES" | "EPERM" | "EROFS" if claiming => {
            Some("run as root; a device that is read-only cannot be measured")
        }
        "ENOENT" => Some("give a directory that exists"),
        "ENOTDIR" => Some("give a directory: files are made in one of their own below it"),
        "EACCES" | "EPERM" => {
            Some("give a directory that this user may write, or run as its owner")
        }
        "EROFS" => Some("remount it read-write, or give another directory"),
        "ENOSPC" => Some("free space, or bound the files with --max-bytes"),
        "EDQUOT" => Some("raise the quota, or bound the files with --max-bytes"),
        "EFBIG" => Some("raise the file size limit (ulimit -f), or lower --file-size"),
        "EMFILE" | "ENFILE" => {
            Some("raise the limit of open files (ulimit -n), or lower --workers")
        }
        "EAGAIN" if fault.operation == "clone" => {
            Some("raise the limit of processes (ulimit -u), or lower --workers")
        }
        "EINVAL" if circumstances.arm.direct && opening => {
            Some("direct I/O is refused here: measure without +direct")
        }
        "EINVAL" if circumstances.arm.direct => Some(
            "direct I/O asks for aligned sizes: try --block-size 4KiB, or measure without +direct",
        ),
        "EOPNOTSUPP" | "ENOSYS" if fault.operation == "fallocate" => {
            Some("this filesystem cannot preallocate: use --layout append or overwrite")
        }
        "EOPNOTSUPP" | "EINVAL" => {
            Some("this filesystem does not support the call: choose another --arm")
        }
        "EIO" if fault.operation.contains("sync") => {
            Some("the device or its driver lost a write: look at the kernel log, do not retry")
        }
        "EINTR" => {
            Some("the filesystem gave up on a signal of its own: nothing is known of that write")
        }
        "ECANCELED" => Some("the link to its write broke: look at the kernel log"),
        _ => None,
    }
}

fn ring_remedy(errno: &str, operation: &str, root: &Path) -> Option<&'static str> {
    let disabled = std::fs::read_to_string(root.join("proc/sys/kernel/io_uring_disabled"));
    let disabled = disabled.is_ok_and(|text| text.trim() != "0");
    match errno {
        "ENOSYS" => Some(
            "the kernel has no io_uring (before 5.1, built without, or filtered by seccomp): use --arm syscall/...",
        ),
        "EPERM" | "EACCES" if disabled => Some(
            "sysctl kernel.io_uring_disabled forbids it: set it to 0, or use --arm syscall/...",
        ),
        "EPERM" | "EACCES" => Some(
            "most likely a seccomp filter, as containers have by default: allow io_uring there, or use --arm syscall/...",
        ),
        "ENOMEM" => Some(
            "locked memory is short: raise ulimit -l, lower --workers or --depth, or leave --registered out",
        ),
        "EMFILE" | "ENFILE" => {
            Some("raise the limit of open files (ulimit -n), or lower --workers")
        }
        "EINVAL" if operation == "io_uring_register" => {
            Some("this kernel does not know that registration: leave --registered or --iowq out")
        }
        "EINVAL" => Some("this kernel does not know these ring options: leave --sqpoll out"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(fault: &Fault, root: &Path) -> (String, String) {
        let arm = "uring-linked/fdatasync+direct".parse().unwrap();
        let circumstances = Circumstances {
            arm,
            block_size_bytes: 2_300,
            filesystem: Some("xfs"),
            root,
            pairs: 12,
        };
        let report = report(fault, &circumstances);
        (report.message, report.remedy.unwrap_or_default())
    }

    #[test]
    fn a_message_says_what_on_what_why_and_what_to_do() {
        let fault = Fault::of("pwrite", Cause::Errno(28)).at(Stage::Measure, 3);
        let (message, remedy) = said(&fault, Path::new("/"));
        assert_eq!(
            message,
            "pwrite on the test file of worker 3 after 12 complete pairs: no space left on device (ENOSPC)"
        );
        assert!(remedy.contains("--max-bytes"));
        let short = Fault::of_write("io_uring write", synctail_sys_result(2_048), 4_096);
        assert!(said(&short, Path::new("/")).0.ends_with("short write: 2048 of 4096 bytes"));
        let direct = Fault::of("open", Cause::DirectAlignment { needed: 512 }).at(Stage::Probe, 0);
        assert!(
            said(&direct, Path::new("/")).0.contains("multiples of 512 bytes, the block is 2300 B")
        );
    }

    fn synctail_sys_result(bytes: i32) -> synctail_sys::CallResult {
        synctail_sys::CallResult(bytes)
    }

    #[test]
    fn a_refused_ring_has_three_different_remedies() {
        let root = tempfile::tempdir().unwrap();
        let sysctl = root.path().join("proc/sys/kernel");
        std::fs::create_dir_all(&sysctl).unwrap();
        let refused = |errno: i32| {
            said(&Fault::of("io_uring_setup", Cause::Errno(errno)).at(Stage::Probe, 0), root.path())
                .1
        };
        assert!(refused(1).contains("seccomp"));
        std::fs::write(sysctl.join("io_uring_disabled"), "2\n").unwrap();
        assert!(refused(1).contains("sysctl"));
        assert!(refused(12).contains("ulimit -l"));
        #[cfg(target_os = "linux")]
        assert!(refused(38).contains("no io_uring"));
    }
}
