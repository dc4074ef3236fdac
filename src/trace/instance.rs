//! A trace of our own in tracefs: an instance beside whatever else traces this machine.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use synctail_bench::THREAD_NAME;

use super::line::{KERNEL_NAMES, POOL_NAME};

/// Where tracefs is mounted, below the root, newest first.
const MOUNT_POINTS: [&str; 2] = ["sys/kernel/tracing", "sys/kernel/debug/tracing"];
/// What our instances are called; the id of the process follows.
const PREFIX: &str = "synctail-";
/// The kernel's memory for events that have not been read yet, of all CPUs together.
const BUFFER_KIB: usize = 64 << 10;
const BUFFER_KIB_PER_CPU_LEAST: usize = 1 << 10;

/// The events, which of them are wanted at all only from the run's own threads, and which the kernel need
/// not have.
const EVENTS: [(&str, Filter, Needed); 8] = [
    ("sched/sched_switch", Filter::Switch, Needed::Yes),
    ("sched/sched_wakeup", Filter::Woken, Needed::Yes),
    ("block/block_bio_queue", Filter::None, Needed::Yes),
    ("block/block_rq_issue", Filter::None, Needed::Yes),
    ("block/block_rq_complete", Filter::None, Needed::Yes),
    ("jbd2/jbd2_start_commit", Filter::None, Needed::No),
    ("jbd2/jbd2_end_commit", Filter::None, Needed::No),
    ("writeback/balance_dirty_pages", Filter::None, Needed::No),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Needed {
    Yes,
    No,
}

#[derive(Clone, Copy)]
enum Filter {
    None,
    Switch,
    Woken,
}

impl Filter {
    fn text(self) -> Option<String> {
        let ours = |field: &str| {
            let names = [THREAD_NAME, POOL_NAME].into_iter().chain(KERNEL_NAMES);
            let each: Vec<String> = names.map(|name| format!("{field} ~ \"{name}*\"")).collect();
            each.join(" || ")
        };
        match self {
            Filter::None => None,
            Filter::Switch => Some(format!("{} || {}", ours("prev_comm"), ours("next_comm"))),
            Filter::Woken => Some(ours("comm")),
        }
    }
}

/// What failed, in the words of an error.
#[derive(Debug)]
pub struct Failed {
    /// Such as `mkdir`.
    pub operation: &'static str,
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// The instance; removed when dropped.
#[derive(Debug)]
pub struct Instance {
    folder: PathBuf,
}

impl Instance {
    /// Makes an instance below `root`, with all its events chosen and none recorded yet.
    ///
    /// # Errors
    /// Where tracefs is not mounted, may not be written to, or lacks an event that is needed.
    pub fn create(root: &Path, pid: u32) -> Result<Instance, Failed> {
        let tracefs = MOUNT_POINTS.map(|place| root.join(place));
        let tracefs = tracefs.iter().find(|place| place.join("instances").is_dir());
        let Some(tracefs) = tracefs else {
            let path = root.join(MOUNT_POINTS[0]).join("instances");
            let error = fs::metadata(&path).err().unwrap_or_else(|| io::ErrorKind::NotFound.into());
            return Err(Failed { operation: "stat", path, error });
        };
        let instances = tracefs.join("instances");
        remove_dead(root, &instances);
        let folder = instances.join(format!("{PREFIX}{pid}"));
        fs::create_dir(&folder).map_err(|error| Failed {
            operation: "mkdir",
            path: folder.clone(),
            error,
        })?;
        // From here on it is removed on every way out.
        let instance = Instance { folder };
        instance.write("tracing_on", "0")?;
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
        let kib = (BUFFER_KIB / cpus).max(BUFFER_KIB_PER_CPU_LEAST);
        instance.write("buffer_size_kb", &kib.to_string())?;
        for (event, filter, needed) in EVENTS {
            instance.choose(event, filter).or_else(|failed| match needed {
                Needed::No => Ok(()),
                Needed::Yes => Err(failed),
            })?;
        }
        Ok(instance)
    }

    fn choose(&self, event: &str, filter: Filter) -> Result<(), Failed> {
        if let Some(text) = filter.text() {
            self.write(&format!("events/{event}/filter"), &text)?;
        }
        self.write(&format!("events/{event}/enable"), "1")
    }

    /// Begins to record, stamped by the kernel's clock of this name.
    ///
    /// # Errors
    /// Where the kernel has no such clock.
    pub fn start(&self, clock: &str) -> Result<(), Failed> {
        self.write("trace_clock", clock)?;
        self.write("tracing_on", "1")
    }

    /// Ends it; what was recorded can still be read.
    pub fn stop(&self) {
        // Where it fails the events only go on, unread.
        let _ = self.write("tracing_on", "0");
    }

    /// Events in the order of time, each read once; reading never waits.
    ///
    /// # Errors
    /// Where it cannot be opened.
    pub fn pipe(&self) -> Result<File, Failed> {
        let path = self.folder.join("trace_pipe");
        let opened =
            OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(&path);
        opened.map_err(|error| Failed { operation: "open", path, error })
    }

    /// Events that the kernel had to overwrite before they were read.
    pub fn overwritten(&self) -> u64 {
        let cpus = fs::read_dir(self.folder.join("per_cpu")).into_iter().flatten().flatten();
        let stats = cpus.filter_map(|cpu| fs::read_to_string(cpu.path().join("stats")).ok());
        stats.filter_map(|text| overrun(&text)).sum()
    }

    fn write(&self, file: &str, text: &str) -> Result<(), Failed> {
        let path = self.folder.join(file);
        fs::write(&path, text).map_err(|error| Failed { operation: "write", path, error })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.stop();
        // The last reader is closed; a leftover is removed by the next run.
        let _ = fs::remove_dir(&self.folder);
    }
}

fn overrun(stats: &str) -> Option<u64> {
    let line = stats.lines().find_map(|line| line.strip_prefix("overrun:"))?;
    line.trim().parse().ok()
}

/// Instances of processes that are gone: they were killed.
fn remove_dead(root: &Path, instances: &Path) {
    for entry in fs::read_dir(instances).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
        if pid.is_some_and(|pid| !root.join(format!("proc/{pid}")).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_tracefs_the_missing_folder_is_named() {
        let root = tempfile::tempdir().unwrap();
        let failed = Instance::create(root.path(), 1).unwrap_err();
        assert_eq!(failed.operation, "stat");
        assert!(failed.path.ends_with("sys/kernel/tracing/instances"), "{failed:?}");
        assert_eq!(failed.error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn an_instance_that_lacks_an_event_is_removed_again() {
        let root = tempfile::tempdir().unwrap();
        let instances = root.path().join("sys/kernel/debug/tracing/instances");
        fs::create_dir_all(&instances).unwrap();
        // A plain folder has no events, and its files are made as they are written.
        let failed = Instance::create(root.path(), 7).unwrap_err();
        assert!(failed.path.ends_with("events/sched/sched_switch/filter"), "{failed:?}");
    }

    #[test]
    fn only_instances_of_dead_processes_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let instances = root.path().join("instances");
        for name in ["synctail-11", "synctail-12", "synctail-x", "someone"] {
            fs::create_dir_all(instances.join(name)).unwrap();
        }
        fs::create_dir_all(root.path().join("proc/12")).unwrap();
        remove_dead(root.path(), &instances);
        let mut left: Vec<String> = fs::read_dir(&instances)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["someone", "synctail-12", "synctail-x"]);
    }

    #[test]
    fn overwritten_events_are_counted() {
        assert_eq!(overrun("entries: 12\noverrun: 345\ncommit overrun: 6\n"), Some(345));
        assert_eq!(overrun("entries: 12\n"), None);
    }
}
