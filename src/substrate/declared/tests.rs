//! Identify data as controllers give them, and what becomes of anything else.

use super::super::fake::{FakeRoot, XorShift};
use super::*;

/// Identify data of a controller with this model, firmware and VWC.
pub fn blob(model: &str, firmware: &str, vwc: u8) -> Vec<u8> {
    let mut data = vec![0; 4_096];
    data[..2].copy_from_slice(&0x8086_u16.to_le_bytes());
    let mut put = |at: usize, bytes: usize, text: &str| {
        data[at..at + bytes].copy_from_slice(format!("{text:<bytes$}").as_bytes());
    };
    put(24, 40, model);
    put(64, 8, firmware);
    data[525] = vwc;
    data
}

fn hex(data: &[u8]) -> String {
    data.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn bit_0_alone_tells_of_a_cache() {
    for (vwc, has) in [(0b000, false), (0b001, true), (0b110, false), (0b111, true)] {
        let found = Controller::parse(&blob("INTEL SSDPE21K375GA", "E2010325", vwc)).unwrap();
        assert_eq!(found.has_volatile_cache, has, "{vwc:b}");
        assert_eq!(found.model.as_deref(), Some("INTEL SSDPE21K375GA"));
        assert_eq!(found.firmware.as_deref(), Some("E2010325"));
    }
}

#[test]
fn what_is_no_identify_data_is_refused() {
    for (data, why) in [
        (vec![], "0 bytes"),
        (vec![1; 4_095], "4095 bytes"),
        (vec![1; 8_192], "8192 bytes"),
        (vec![0; 4_096], "empty"),
    ] {
        let found = Controller::parse(&data).unwrap_err();
        assert!(found.contains(why), "{found}");
    }
    let mut seeded = XorShift(0x5eed_0001);
    for _ in 0..500 {
        // Any bytes of the right length are data: nothing panics, and text stays plain.
        let mut data = blob("A model", "1.0", 1);
        for _ in 0..200 {
            let at = seeded.below(4_096);
            data[at] = u8::try_from(seeded.below(256)).unwrap();
        }
        if let Ok(found) = Controller::parse(&data) {
            let texts = found.model.iter().chain(&found.firmware);
            assert!(texts.flat_map(|text| text.bytes()).all(|byte| (32..127).contains(&byte)));
        }
    }
}

#[test]
fn hexadecimal_digits_are_read_in_pairs() {
    assert_eq!(from_hex("00ff10"), Ok(vec![0, 255, 16]));
    for odd in ["0", "0g", "é0", "+1", "00 11"] {
        assert!(from_hex(odd).is_err(), "{odd}");
    }
}

/// A namespace whose node in /dev cannot be made without rights: the reasons say which step failed.
#[test]
fn a_node_that_is_not_there_or_another_device_is_unknown_with_its_reason() {
    let root = FakeRoot::new();
    let node = || Block {
        name: "nvme0n1".to_owned(),
        device: "259:0".to_owned(),
        kind: "disk".to_owned(),
        transport: Some("nvme".to_owned()),
        ..Block::default()
    };
    let nobody = |_: &[&str]| -> Result<String, String> { panic!("nobody is to be asked") };
    let mut unknown = Vec::new();
    let mut nodes = [node(), Block { transport: Some("sata".into()), ..node() }];
    by_controllers(root.path(), &mut nodes, &mut unknown, &nobody);
    assert_eq!((nodes[0].clone(), unknown.len()), (node(), 1), "{unknown:?}");
    assert_eq!(unknown[0].fact, "declared_cache");
    assert!(unknown[0].reason.contains("stat "), "{unknown:?}");
    root.file("dev/nvme0n1", "");
    by_controllers(root.path(), &mut nodes, &mut unknown, &nobody);
    assert!(unknown[1].reason.contains("another device than 259:0"), "{unknown:?}");
}

#[test]
fn the_answer_becomes_the_devices_own_word() {
    let node = Block { firmware: Some("by sysfs".into()), ..Block::default() };
    let filled = |vwc| {
        let mut node = node.clone();
        let answer = format!("{}\n", hex(&blob("Optane", "E2", vwc)));
        read_answer(&answer).unwrap().fill_in(&mut node);
        node
    };
    let found = filled(0);
    assert_eq!(found.declared_cache.as_deref(), Some("write through"));
    assert_eq!(found.declared_by.as_deref(), Some("NVMe identify controller"));
    assert_eq!((found.nvme_vwc, found.model.as_deref()), (Some(0), Some("Optane")));
    assert_eq!(found.firmware.as_deref(), Some("by sysfs"));
    let found = filled(7);
    assert_eq!((found.declared_cache.as_deref(), found.nvme_vwc), (Some("write back"), Some(1)));
    let refused = read_answer("refused: open on /dev/x: permission denied (EACCES)\n");
    assert_eq!(refused.unwrap_err(), "open on /dev/x: permission denied (EACCES)");
    assert!(read_answer("").is_err());
}

#[test]
fn a_scsi_disk_passes_its_caching_page_on() {
    let root = FakeRoot::new();
    root.file("sda/device/scsi_disk/0:0:0:0/cache_type", "write through\n");
    root.file("sda/device/scsi_disk/0:0:0:0/protection_type", "1\n");
    let mut node = Block::default();
    by_sysfs(&root.path().join("sda"), &mut node);
    assert_eq!(node.declared_cache.as_deref(), Some("write through"));
    assert_eq!(node.declared_by.as_deref(), Some("SCSI caching page"));
    assert_eq!(node.protection_type, Some(1));
    root.file("vda/cache_type", "write back\n");
    by_sysfs(&root.path().join("vda"), &mut node);
    assert_eq!(node.declared_by.as_deref(), Some("virtio"));
}
