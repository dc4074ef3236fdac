//! Which lines of /proc/interrupts belong to a disk, by its place in sysfs.

use std::ffi::OsStr;
use std::path::Path;

use super::source::entries;

/// What the lines of one disk can be known by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// Names of the folders above the disk (`virtio1`, `nvme0`, `mmc0`): drivers name their
    /// interrupts after one of them.
    pub owners: Vec<String>,
    /// Interrupt numbers of the PCI function that carries the disk.
    pub numbers: Vec<String>,
    /// The address of that function, as in `0000:00:1f.2`.
    pub address: Option<String>,
}

impl Route {
    /// Reads the route of the disk whose real folder in sysfs is `dir`.
    pub fn of(dir: &Path) -> Self {
        let mut owners: Vec<String> = dir.ancestors().skip(1).filter_map(name).collect();
        // Under NVMe multipath the disk hangs below its subsystem; links lead to the controllers.
        if let Some(subsystem) = dir.parent().filter(|up| up.join("subsysnqn").exists()) {
            let links = entries(subsystem).into_iter().filter(|entry| entry.is_symlink());
            owners.extend(links.filter_map(|link| name(&link)));
        }
        // The deepest one: those above are bridges.
        let function =
            dir.ancestors().find(|up| name(up).is_some_and(|name| is_pci_address(&name)));
        let numbers = function.map(|function| entries(&function.join("msi_irqs")));
        Self {
            owners,
            numbers: numbers.unwrap_or_default().iter().filter_map(|path| name(path)).collect(),
            address: function.and_then(name),
        }
    }

    /// Whether a word of a line is the name of an interrupt of this disk.
    pub fn names(&self, word: &str) -> bool {
        self.owners.iter().any(|owner| word.strip_prefix(owner.as_str()).is_some_and(is_queue))
    }

    /// Whether a line belongs to the PCI function, by number or by the address among its words.
    /// Other disks of the same controller share it.
    pub fn carries(&self, number: &str, words: &[&str]) -> bool {
        let Some(address) = &self.address else { return false };
        // `PCI-MSIX-0000:00:02.0`, `ahci[0000:00:1f.2]`
        let has_address = |word: &&str| {
            let bare = word.trim_end_matches(']');
            bare.strip_suffix(address.as_str()).is_some_and(|rest| rest.ends_with(['-', '[']))
        };
        self.numbers.iter().any(|mine| mine == number) || words.iter().any(has_address)
    }
}

/// What follows the owner's name in the name of an interrupt that completes requests.
fn is_queue(rest: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(queue) = rest.strip_prefix("-req.") {
        return digits(queue);
    }
    // NVMe; queue 0 takes administrative commands only.
    if let Some(queue) = rest.strip_prefix('q') {
        return digits(queue) && queue != "0";
    }
    // virtio-scsi; virtio where vectors are short; one line for everything.
    matches!(rest, "-request" | "-virtqueues" | "")
}

fn is_pci_address(name: &str) -> bool {
    let hex = |text: &str, least: usize| {
        text.len() >= least && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    // The domain has more than four digits behind a volume management device.
    let parts: Vec<&str> = name.split([':', '.']).collect();
    let [domain, bus, device, function] = parts.as_slice() else { return false };
    name.contains('.') && hex(domain, 4) && hex(bus, 2) && hex(device, 2) && hex(function, 1)
}

fn name(path: &Path) -> Option<String> {
    path.file_name().map(OsStr::to_string_lossy).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeRoot;
    use super::*;

    fn route(place: &str) -> Route {
        Route::of(&Path::new("/sys/devices").join(place))
    }

    #[test]
    fn virtio_queues_are_named_after_the_virtio_device() {
        let route = route("pci0000:00/0000:00:02.0/virtio1/block/vda");
        for word in ["virtio1-req.0", "virtio1-req.12", "virtio1-request", "virtio1-virtqueues"] {
            assert!(route.names(word), "{word}");
        }
        assert!(route.names("virtio1"));
        for word in ["virtio1-config", "virtio10-req.0", "virtio2-req.0", "virtio1-req.", "", "vda"]
        {
            assert!(!route.names(word), "{word}");
        }
    }

    #[test]
    fn the_administrative_queue_of_nvme_is_left_out() {
        let route = route("pci0000:00/0000:00:0e.0/nvme/nvme0/nvme0n1");
        assert!(route.names("nvme0q1") && route.names("nvme0q10"));
        for word in ["nvme0q0", "nvme1q1", "nvme0q", "nvme0q1x", "nvme0n1"] {
            assert!(!route.names(word), "{word}");
        }
    }

    #[test]
    fn multipath_leads_to_the_controllers() {
        let root = FakeRoot::new();
        let place = "sys/devices/virtual/nvme-subsystem/nvme-subsys0";
        root.file(&format!("{place}/nvme0n1/dev"), "259:7\n");
        root.link(&format!("{place}/nvme3"), "../../../pci0000:00/0000:00:0e.0/nvme/nvme3");
        let dir = root.path().join(place).join("nvme0n1");
        assert!(!Route::of(&dir).names("nvme3q1"));
        root.file(&format!("{place}/subsysnqn"), "nqn\n");
        assert!(Route::of(&dir).names("nvme3q1"));
        assert!(!Route::of(&dir).names("nvme0q1"));
    }

    #[test]
    fn others_are_known_by_the_deepest_pci_function() {
        let root = FakeRoot::new();
        let place = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/host0/block/sda";
        root.file(&format!("{place}/dev"), "8:0\n");
        root.file("sys/devices/pci0000:00/0000:00:01.0/msi_irqs/24", "msi\n");
        root.file("sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/msi_irqs/31", "msix\n");
        let route = Route::of(&root.path().join(place));
        assert_eq!(route.address.as_deref(), Some("0000:01:00.0"));
        assert!(route.carries("31", &["mpt3sas0-msix3"]));
        assert!(!route.carries("24", &["PCI-MSI-0000:00:01.0", "pcieport"]));
        assert!(route.carries("7", &["PCI-MSIX-0000:01:00.0", "0-edge", "mpt3sas0-msix3"]));
        assert!(route.carries("7", &["IO-APIC", "ahci[0000:01:00.0]"]));
        assert!(!route.carries("7", &["PCI-MSIX-10000:01:00.0", "x"]));
    }

    #[test]
    fn pci_addresses_are_told_from_other_names() {
        for name in ["0000:00:1f.2", "10000:e1:00.0"] {
            assert!(is_pci_address(name), "{name}");
        }
        for name in ["0:0:0:0", "pci0000:00", "0000:00:1f:2", "000:00:1f.2", "target0:0:0", "a.b"] {
            assert!(!is_pci_address(name), "{name}");
        }
        assert_eq!(route("virtual/block/dm-0").address, None);
    }
}
