//! What the CPUs do while a worker waits: their frequency governor, how deep they sleep, their NUMA nodes.
//!
//! A virtual machine mostly has none of these, so what is not there is absent and no unknown.

use std::path::Path;

use super::source::entries;
use super::text;
use crate::record::{IdleState, Machine, NumaNode};

/// Fills in what the folders below `root` tell.
pub fn read(root: &Path, machine: &mut Machine) {
    let cpus = root.join("sys/devices/system/cpu");
    let each = numbered(&cpus, "cpu");
    let governors = each.iter().filter_map(|cpu| word(&cpu.join("cpufreq/scaling_governor")));
    machine.frequency_governors = governors.collect();
    machine.frequency_governors.sort_unstable();
    machine.frequency_governors.dedup();
    machine.idle_driver = word(&cpus.join("cpuidle/current_driver"));
    let states = each.iter().flat_map(|cpu| numbered(&cpu.join("cpuidle"), "state"));
    machine.deepest_idle =
        states.filter_map(|state| idle(&state)).max_by_key(|state| state.exit_latency_us);
    machine.numa_nodes = nodes(root);
}

/// The node of the nearest device above the folder `dir` in sysfs that has one.
pub fn node_of_device(dir: &Path) -> Option<u64> {
    // -1 where the firmware tells none.
    dir.ancestors().find_map(|above| word(&above.join("numa_node"))?.parse().ok())
}

/// A state that may be entered.
fn idle(dir: &Path) -> Option<IdleState> {
    if word(&dir.join("disable")).is_some_and(|flag| flag != "0") {
        return None;
    }
    let exit_latency_us = word(&dir.join("latency"))?.parse().ok()?;
    Some(IdleState { name: word(&dir.join("name"))?, exit_latency_us })
}

fn nodes(root: &Path) -> Vec<NumaNode> {
    let dirs = numbered(&root.join("sys/devices/system/node"), "node");
    let of = |dir: &std::path::PathBuf| {
        let node = dir.file_name()?.to_str()?.strip_prefix("node")?.parse().ok()?;
        // Empty for a node of memory alone.
        Some(NumaNode { node, cpus: word(&dir.join("cpulist"))? })
    };
    let mut nodes: Vec<NumaNode> = dirs.iter().filter_map(of).collect();
    nodes.sort_unstable_by_key(|node| node.node);
    nodes
}

/// The entries of `dir` that are called `prefix` and a number.
fn numbered(dir: &Path, prefix: &str) -> Vec<std::path::PathBuf> {
    let is_one = |path: &std::path::PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix(prefix));
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
    };
    entries(dir).into_iter().filter(is_one).collect()
}

fn word(path: &Path) -> Option<String> {
    let text = text(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeRoot;
    use super::*;

    fn machine(files: &[(&str, &str)]) -> Machine {
        let root = FakeRoot::new();
        files.iter().for_each(|(path, text)| {
            root.file(&format!("sys/devices/system/{path}"), text);
        });
        let mut machine = Machine::default();
        read(root.path(), &mut machine);
        machine
    }

    #[test]
    fn a_machine_that_shows_nothing_has_nothing() {
        let odd = [
            ("cpu/cpufreq/scaling_governor", "x\n"),
            ("cpu/cpu0/cpufreq/scaling_governor", "\n"),
            ("cpu/cpu0/cpuidle/state0/latency", "many\n"),
            ("node/node0/cpulist", "\n"),
            ("node/nodes/cpulist", "0\n"),
        ];
        assert_eq!((machine(&[]), machine(&odd)), (Machine::default(), Machine::default()));
    }

    #[test]
    fn governors_are_named_once_and_a_state_that_is_off_does_not_count() {
        let found = machine(&[
            ("cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("cpu/cpu1/cpufreq/scaling_governor", "performance\n"),
            ("cpu/cpu10/cpufreq/scaling_governor", "powersave\n"),
            ("cpu/cpuidle/current_driver", "intel_idle\n"),
            ("cpu/cpu0/cpuidle/state0/name", "POLL\n"),
            ("cpu/cpu0/cpuidle/state0/latency", "0\n"),
            ("cpu/cpu0/cpuidle/state2/name", "C1E\n"),
            ("cpu/cpu0/cpuidle/state2/latency", "10\n"),
            ("cpu/cpu0/cpuidle/state3/name", "C6\n"),
            ("cpu/cpu0/cpuidle/state3/latency", "133\n"),
            ("cpu/cpu0/cpuidle/state3/disable", "1\n"),
            ("node/node1/cpulist", "4-7\n"),
            ("node/node0/cpulist", "0-3\n"),
        ]);
        assert_eq!(found.frequency_governors, ["performance", "powersave"]);
        assert_eq!(found.idle_driver.as_deref(), Some("intel_idle"));
        let deepest = IdleState { name: "C1E".to_owned(), exit_latency_us: 10 };
        assert_eq!(found.deepest_idle, Some(deepest));
        let cpus: Vec<_> = found.numa_nodes.iter().map(|n| (n.node, n.cpus.as_str())).collect();
        assert_eq!(cpus, [(0, "0-3"), (1, "4-7")]);
    }

    #[test]
    fn a_disk_has_the_node_of_the_controller_above_it() {
        let root = FakeRoot::new();
        root.file("sys/devices/pci0/0000:01:00.0/numa_node", "1\n");
        root.file("sys/devices/pci0/0000:01:00.0/nvme/nvme0/numa_node", "-1\n");
        root.device("259:0", "pci0/0000:01:00.0/nvme/nvme0/nvme0n1");
        let at = |place: &str| node_of_device(&root.path().join("sys/devices").join(place));
        assert_eq!(at("pci0/0000:01:00.0/nvme/nvme0/nvme0n1"), Some(1));
        assert_eq!(at("pci0"), None);
    }
}
