//! Findings about the machine around the device: what its CPUs add to a pair.

use crate::human;
use crate::record::{Finding, Record, Severity};

/// Share of the median pair from which waking up a CPU is worth a word.
const WAKE_UP_SHARE_LEAST: f64 = 0.1;

/// A worker that waits lets its CPU sleep and slow down, and pays for that at the end of each barrier.
pub fn cpu_sleep(record: &Record) -> Option<Finding> {
    let machine = &record.substrate.as_ref()?.machine;
    let deepest = machine.deepest_idle.as_ref()?;
    let wake_up_ns = deepest.exit_latency_us.checked_mul(1_000)?;
    let p50_ns = record.distributions.as_ref()?.pooled.total.p50_ns?;
    if (wake_up_ns as f64) < p50_ns as f64 * WAKE_UP_SHARE_LEAST {
        return None;
    }
    let text = format!(
        "a CPU that sleeps in {} takes up to {} to wake: part of a pair may be that, not the storage",
        deepest.name,
        human::time(wake_up_ns)
    );
    let governors = match machine.frequency_governors.as_slice() {
        [] => String::new(),
        names => format!(", frequency governor {}", names.join(" and ")),
    };
    let evidence = format!("total p50 {}{governors}", human::time(p50_ns));
    Some(Finding { code: "cpu_sleep".to_owned(), severity: Severity::Info, text, evidence })
}

/// Workers whose CPU belongs to another NUMA node than a device.
pub fn numa_remote(record: &Record) -> Option<Finding> {
    let under = record.substrate.as_ref()?;
    let nodes = &under.machine.numa_nodes;
    let node_of = |cpu: u64| nodes.iter().find(|node| holds(&node.cpus, cpu)).map(|n| n.node);
    let pinned: Vec<u64> = record.effective.as_ref()?.cpus.iter().copied().flatten().collect();
    let (device, home, remote) = under.block.iter().find_map(|device| {
        let home = device.numa_node?;
        let elsewhere = |cpu: &&u64| node_of(**cpu).is_some_and(|node| node != home);
        let remote = pinned.iter().filter(elsewhere).count();
        (remote > 0).then_some((&device.name, home, remote))
    })?;
    let text = format!(
        "{remote} of {} workers ran on another NUMA node than {device}: their waits cross it",
        pinned.len()
    );
    let cpus: Vec<String> =
        nodes.iter().map(|n| format!("node {}: CPUs {}", n.node, n.cpus)).collect();
    let evidence = format!("{device} at node {home}; {}", cpus.join(", "));
    Some(Finding { code: "numa_remote".to_owned(), severity: Severity::Info, text, evidence })
}

/// Whether a kernel's list, such as `0-3,8`, has that CPU.
fn holds(cpus: &str, cpu: u64) -> bool {
    cpus.split(',').any(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        match (first.parse::<u64>(), last.parse::<u64>()) {
            (Ok(first), Ok(last)) => (first..=last).contains(&cpu),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Block, IdleState, NumaNode, Substrate};
    use crate::verdict::sample_record;

    fn record(change: impl FnOnce(&mut Substrate)) -> Record {
        let mut record = sample_record::barriers(&[vec![100_000; 100]]);
        let mut under = record.substrate.take().unwrap_or_default();
        change(&mut under);
        record.substrate = Some(under);
        record
    }

    #[test]
    fn waking_up_is_told_where_it_is_a_tenth_of_a_pair() {
        let with = |exit_latency_us| {
            record(|under| {
                let name = "C6".to_owned();
                under.machine.deepest_idle = Some(IdleState { name, exit_latency_us });
                under.machine.frequency_governors = vec!["powersave".to_owned()];
            })
        };
        assert_eq!(cpu_sleep(&with(5)), None);
        assert_eq!(cpu_sleep(&with(u64::MAX)), None);
        let found = cpu_sleep(&with(133)).unwrap();
        assert!(found.text.contains("C6 takes up to 133us to wake"), "{}", found.text);
        assert!(found.evidence.ends_with("frequency governor powersave"), "{}", found.evidence);
    }

    #[test]
    fn workers_on_another_node_than_the_device_are_counted() {
        let with = |cpus: Vec<Option<u64>>, home| {
            let mut record = record(|under| {
                let node = |node, cpus: &str| NumaNode { node, cpus: cpus.to_owned() };
                under.machine.numa_nodes = vec![node(0, "0-3,8"), node(1, "4-7")];
                let name = "nvme0n1".to_owned();
                under.block = vec![Block { name, numa_node: home, ..Block::default() }];
            });
            record.effective.get_or_insert_default().cpus = cpus;
            record
        };
        assert_eq!(numa_remote(&with(vec![Some(0), Some(8), None], Some(0))), None);
        assert_eq!(numa_remote(&with(vec![Some(0)], None)), None);
        assert_eq!(numa_remote(&with(vec![Some(99)], Some(0))), None, "no node is known");
        let found = numa_remote(&with(vec![Some(0), Some(5)], Some(0))).unwrap();
        assert!(found.text.starts_with("1 of 2 workers"), "{}", found.text);
        let evidence = "nvme0n1 at node 0; node 0: CPUs 0-3,8, node 1: CPUs 4-7";
        assert_eq!(found.evidence, evidence);
    }
}
