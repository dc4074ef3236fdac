//! What the whole machine did while the run lasted: pressure, theft, throttling, dirty pages, and the
//! devices' own time. Sums over an interval: they say what weighed on the run, not on its tail.

use std::path::Path;

use crate::record::{DeviceTime, Interval, Substrate};

/// The machine's counters at one moment; what could not be read is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moment {
    psi_io_us: Option<u64>,
    psi_cpu_us: Option<u64>,
    /// Ticks of all CPUs, and those that the hypervisor gave to others.
    cpu_ticks: Option<(u64, u64)>,
    throttled_us: Option<u64>,
    dirty_bytes: Option<u64>,
    writeback_bytes: Option<u64>,
    devices: Vec<DeviceTime>,
}

/// Reads all of it below `root`; `substrate` names the devices.
pub fn moment(root: &Path, substrate: &Substrate) -> Moment {
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
    let meminfo = read("proc/meminfo");
    let diskstats = read("proc/diskstats");
    let disks = substrate.block.iter().filter(|node| node.kind != "partition");
    Moment {
        psi_io_us: pressure_us(&read("proc/pressure/io")),
        psi_cpu_us: pressure_us(&read("proc/pressure/cpu")),
        cpu_ticks: cpu_ticks(&read("proc/stat")),
        throttled_us: throttled_us(root, &read("proc/self/cgroup")),
        dirty_bytes: meminfo_bytes(&meminfo, "Dirty:"),
        writeback_bytes: meminfo_bytes(&meminfo, "Writeback:"),
        devices: disks.filter_map(|node| device_time(&diskstats, &node.name)).collect(),
    }
}

/// What lies between two moments `wall_ns` apart.
pub fn between(before: &Moment, after: &Moment, wall_ns: u64) -> Interval {
    let rise = |of: fn(&Moment) -> Option<u64>| Some(of(after)?.saturating_sub(of(before)?));
    let share =
        |us: Option<u64>| us.filter(|_| wall_ns > 0).map(|us| us as f64 * 1_000.0 / wall_ns as f64);
    let steal = before.cpu_ticks.zip(after.cpu_ticks).and_then(|(before, after)| {
        let all = after.0.saturating_sub(before.0);
        (all > 0).then(|| after.1.saturating_sub(before.1) as f64 / all as f64)
    });
    let devices = after.devices.iter().filter_map(|after| {
        let before = before.devices.iter().find(|before| before.node == after.node)?;
        Some(DeviceTime {
            node: after.node.clone(),
            writes: after.writes.saturating_sub(before.writes),
            write_ms: after.write_ms.saturating_sub(before.write_ms),
            flushes: after.flushes.saturating_sub(before.flushes),
            flush_ms: after.flush_ms.saturating_sub(before.flush_ms),
            busy_ms: after.busy_ms.saturating_sub(before.busy_ms),
        })
    });
    Interval {
        wall_ns,
        io_pressure_share: share(rise(|m| m.psi_io_us)),
        cpu_pressure_share: share(rise(|m| m.psi_cpu_us)),
        steal_share: steal,
        throttled_us: rise(|m| m.throttled_us),
        dirty_bytes: after.dirty_bytes,
        writeback_bytes: after.writeback_bytes,
        devices: devices.collect(),
        run_delay_ns: None,
    }
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=123` in microseconds.
fn pressure_us(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

/// The first line of /proc/stat: the eighth number is stolen time.
fn cpu_ticks(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_ascii_whitespace().map_while(|t| t.parse().ok()).collect();
    // Guest time is counted in user time already.
    Some((ticks.iter().take(8).sum(), *ticks.get(7)?))
}

/// How long the CPU limit of this process's group, or of one above it, held it back.
fn throttled_us(root: &Path, groups: &str) -> Option<u64> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mount = root.join("sys/fs/cgroup");
    let own = mount.join(path.trim_start_matches('/'));
    let above = own.ancestors().take_while(|folder| folder.starts_with(&mount));
    let of = |folder: &Path| {
        let text = std::fs::read_to_string(folder.join("cpu.stat")).ok()?;
        text.lines().find_map(|line| line.strip_prefix("throttled_usec "))?.parse().ok()
    };
    above.filter_map(of).max()
}

fn meminfo_bytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let kib: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1_024)
}

/// Fields 5, 8, 10, 16 and 17 of iostats.rst.
fn device_time(text: &str, name: &str) -> Option<DeviceTime> {
    let line = text.lines().find(|line| line.split_ascii_whitespace().nth(2) == Some(name))?;
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(2 + field)?.parse().ok();
    Some(DeviceTime {
        node: name.to_owned(),
        writes: number(5)?,
        write_ms: number(8)?,
        flushes: number(16).unwrap_or(0),
        flush_ms: number(17).unwrap_or(0),
        busy_ms: number(10)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Block;

    fn root(psi: &str, stat: &str, disk: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        file("proc/pressure/io", psi);
        file("proc/stat", stat);
        file("proc/diskstats", disk);
        file(
            "proc/meminfo",
            "MemTotal: 9 kB\nDirty:  12 kB\nWriteback: 3 kB\nWritebackTmp: 7 kB\n",
        );
        file("proc/self/cgroup", "0::/a\n");
        file("sys/fs/cgroup/a/cpu.stat", "usage_usec 5\nthrottled_usec 40\n");
        root
    }

    fn sda() -> Substrate {
        let block =
            vec![Block { name: "sda".to_owned(), kind: "disk".to_owned(), ..Block::default() }];
        Substrate { block, ..Substrate::default() }
    }

    #[test]
    fn the_difference_of_two_moments_is_what_happened_between() {
        let before = root(
            "some avg10=0 total=1000\nfull total=9\n",
            "cpu 10 0 10 100 0 0 0 5 0 0\ncpu0 1\n",
            "8 0 sda 1 2 3 4 100 6 7 80 9 50 11 12 13 14 15 20 30\n",
        );
        let after = root(
            "some avg10=0 total=501000\nfull total=9\n",
            "cpu 20 0 20 150 0 0 0 35 0 0\n",
            "8 0 sda 1 2 3 4 150 6 7 180 9 90 11 12 13 14 15 70 80\n",
        );
        let moment = |root: &tempfile::TempDir| moment(root.path(), &sda());
        let found = between(&moment(&before), &moment(&after), 1_000_000_000);
        assert_eq!(found.io_pressure_share, Some(0.5));
        assert_eq!(found.cpu_pressure_share, None);
        assert_eq!(found.steal_share, Some(0.3));
        assert_eq!(found.throttled_us, Some(0));
        assert_eq!((found.dirty_bytes, found.writeback_bytes), (Some(12_288), Some(3_072)));
        let device = &found.devices[0];
        assert_eq!((device.writes, device.write_ms, device.busy_ms), (50, 100, 40));
        assert_eq!((device.flushes, device.flush_ms), (50, 50));
    }

    #[test]
    fn what_cannot_be_read_is_absent() {
        let empty = tempfile::tempdir().unwrap();
        let moment = moment(empty.path(), &sda());
        assert_eq!(moment, Moment::default());
        assert_eq!(between(&moment, &moment, 0), Interval::default());
        for text in ["", "some", "some total=x", "cpu", "cpu 1 2", "8 0 sda 1"] {
            assert_eq!(pressure_us(text), None, "{text}");
            assert_eq!(cpu_ticks(text), None, "{text}");
            assert_eq!(device_time(text, "sda"), None, "{text}");
        }
    }
}
