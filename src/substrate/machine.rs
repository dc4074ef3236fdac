//! The machine: kernel, processor, hypervisor, clock source.

use std::path::Path;

use super::{missing, text};
use crate::record::{Machine, Unknown};

const OSRELEASE: &str = "proc/sys/kernel/osrelease";
const CPUINFO: &str = "proc/cpuinfo";
const CLOCKSOURCE: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";

/// Reads what there is below `root`; the rest is named in `unknown`.
pub fn read(root: &Path, unknown: &mut Vec<Unknown>) -> Machine {
    let mut file = |fact: &str, path: &str| match text(&root.join(path)) {
        Ok(text) if text.is_empty() => {
            unknown.push(missing(fact, &format!("read /{path}: it is empty")));
            None
        }
        Ok(text) => Some(text),
        Err(error) => {
            unknown.push(missing(fact, &format!("read /{path}: {error}")));
            None
        }
    };
    let kernel = file("kernel", OSRELEASE);
    let clocksource = file("clocksource", CLOCKSOURCE);
    let cpuinfo = file("cpuinfo", CPUINFO).unwrap_or_default();
    let cpu_model = field(&cpuinfo, "model name").map(str::to_owned);
    if cpu_model.is_none() {
        unknown.push(missing("cpu_model", "no model name in /proc/cpuinfo"));
    }
    let virtualised = virtualised(&cpuinfo);
    if virtualised.is_none() {
        unknown.push(missing("virtualised", "no flags in /proc/cpuinfo"));
    }
    let (container, product) = (container(root), product(root));
    let mut machine = Machine {
        kernel,
        cpu_model,
        virtualised,
        clocksource,
        container,
        product,
        ..Machine::default()
    };
    super::cpus::read(root, &mut machine);
    machine
}

/// The marks that container managers leave; none is no proof that there is no container.
fn container(root: &Path) -> Option<String> {
    let named = text(&root.join("run/systemd/container")).ok().filter(|name| !name.is_empty());
    let marks = [(".dockerenv", "docker"), ("run/.containerenv", "podman"), ("dev/lxd", "lxd")];
    let marked = marks.iter().find(|(mark, _)| root.join(mark).exists());
    let cgroup = text(&root.join("proc/1/cgroup")).unwrap_or_default();
    let grouped =
        ["kubepods", "docker", "lxc", "garden"].iter().find(|name| cgroup.contains(**name));
    named.or(marked.map(|(_, name)| (*name).to_owned())).or(grouped.map(|&name| name.to_owned()))
}

fn product(root: &Path) -> Option<String> {
    let read = |file: &str| text(&root.join("sys/class/dmi/id").join(file)).ok();
    let words: Vec<String> =
        ["sys_vendor", "product_name"].iter().filter_map(|f| read(f)).collect();
    let words: Vec<&str> = words.iter().map(|w| w.trim()).filter(|w| !w.is_empty()).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Other architectures than x86 have no such line, and then nothing is known.
fn virtualised(cpuinfo: &str) -> Option<bool> {
    let flags = field(cpuinfo, "flags")?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// The value of the first line with that key; an empty one is none.
fn field<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
        .filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeRoot;
    use super::*;

    fn machine(cpuinfo: &str) -> (Machine, Vec<Unknown>) {
        let root = FakeRoot::new();
        root.file(OSRELEASE, "6.18.44-x\n");
        root.file(CPUINFO, cpuinfo);
        root.file(CLOCKSOURCE, "tsc\n");
        let mut unknown = Vec::new();
        let machine = read(root.path(), &mut unknown);
        (machine, unknown)
    }

    #[test]
    fn containers_and_vendors_are_known_by_their_marks() {
        let of = |files: &[(&str, &str)]| {
            let root = FakeRoot::new();
            files.iter().for_each(|(path, text)| root.file(path, text));
            (container(root.path()), product(root.path()))
        };
        assert_eq!(of(&[]), (None, None));
        assert_eq!(of(&[(".dockerenv", "")]).0.as_deref(), Some("docker"));
        assert_eq!(of(&[("run/systemd/container", "lxc\n")]).0.as_deref(), Some("lxc"));
        assert_eq!(of(&[("proc/1/cgroup", "0::/kubepods/x\n")]).0.as_deref(), Some("kubepods"));
        let dmi = [
            ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
            ("sys/class/dmi/id/product_name", "m5.large\n"),
        ];
        assert_eq!(of(&dmi).1.as_deref(), Some("Amazon EC2 m5.large"));
    }

    #[test]
    fn all_four_facts_are_read() {
        let (found, unknown) = machine(
            "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC: 7\nflags\t\t: fpu hypervisor de\n\
             processor\t: 1\nmodel name\t: other\n",
        );
        assert_eq!(found.kernel.as_deref(), Some("6.18.44-x"));
        assert_eq!(found.cpu_model.as_deref(), Some("AMD EPYC: 7"));
        assert_eq!(found.virtualised, Some(true));
        assert_eq!(found.clocksource.as_deref(), Some("tsc"));
        assert_eq!(unknown, []);
    }

    #[test]
    fn flags_without_the_hypervisor_mean_bare_metal() {
        let (found, _) = machine("model name : x\nflags : fpu hypervisor2\n");
        assert_eq!(found.virtualised, Some(false));
    }

    #[test]
    fn without_flags_nothing_is_claimed() {
        let (found, unknown) = machine("processor : 0\nFeatures : fp asimd\n");
        assert_eq!((found.virtualised, found.cpu_model), (None, None));
        let facts: Vec<_> = unknown.iter().map(|entry| entry.fact.as_str()).collect();
        assert_eq!(facts, ["cpu_model", "virtualised"]);
    }

    #[test]
    fn an_empty_value_is_none_and_a_key_counts_as_a_whole() {
        let (found, _) = machine("model name id : 3\nmodel name : x\nflags\t:\n");
        assert_eq!((found.cpu_model.as_deref(), found.virtualised), (Some("x"), None));
        let root = FakeRoot::new();
        root.file(OSRELEASE, "\n");
        let mut unknown = Vec::new();
        assert_eq!(read(root.path(), &mut unknown).kernel, None);
        assert_eq!(unknown[0].reason, "read /proc/sys/kernel/osrelease: it is empty");
    }

    #[test]
    fn missing_files_are_named() {
        let root = FakeRoot::new();
        let mut unknown = Vec::new();
        assert_eq!(read(root.path(), &mut unknown), Machine::default());
        assert_eq!(unknown[0].fact, "kernel");
        assert!(unknown[0].reason.starts_with("read /proc/sys/kernel/osrelease: "), "{unknown:?}");
    }
}
