//! Who the target is, so that a qualification is never continued on another one.

use std::ffi::OsString;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::program::{Program, Waiting};
use crate::record::{ErrorReport, Machine, Substrate};
use crate::refusal::Refusal;

/// What must stay the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Resolved; lossy where it is not UTF-8.
    pub path: String,
    /// Type of the filesystem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<String>,
    /// Device or dataset that is mounted there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Every node of the block stack.
    pub devices: Vec<Device>,
}

/// One node of the block stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Such as `nvme0n1`; another after a reboot, perhaps.
    pub name: String,
    /// `disk`, `partition`, `dm`, ...
    pub kind: String,
    /// As the device says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// As the device says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// As the device says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
}

impl Target {
    /// What is different now, in words; empty where it is the same.
    pub fn differences(&self, now: &Target) -> Vec<String> {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
        let mut found = Vec::new();
        let mut compare = |what: String, before: String, after: String| {
            if before != after {
                found.push(format!("{what} was {before}, is {after}"));
            }
        };
        compare("path".to_owned(), self.path.clone(), now.path.clone());
        compare("filesystem".to_owned(), text(&self.filesystem), text(&now.filesystem));
        // A serial number says more than a name that the kernel gave.
        if !self.devices.iter().any(|device| device.serial.is_some()) {
            compare("source".to_owned(), text(&self.source), text(&now.source));
        }
        let (before, after) = (self.devices.len(), now.devices.len());
        compare("number of block devices".to_owned(), before.to_string(), after.to_string());
        for (before, after) in self.devices.iter().zip(&now.devices) {
            let of = |what: &str| format!("{what} of {}", after.name);
            compare(of("kind"), before.kind.clone(), after.kind.clone());
            compare(of("model"), text(&before.model), text(&after.model));
            compare(of("serial number"), text(&before.serial), text(&after.serial));
            compare(of("firmware"), text(&before.firmware), text(&after.firmware));
        }
        found
    }
}

/// Asks `synctail inspect`: a path may hang, and that hangs nobody but a child.
///
/// # Errors
/// Where the path cannot be looked at; an interruption as well.
pub fn look(path: &Path, waiting: &Waiting) -> Result<(Target, Machine), Refusal> {
    let args: Vec<OsString> =
        vec!["inspect".into(), path.into(), "--format=json".into(), "--show-serials".into()];
    let ended = Program::start(&args, true)?.wait(waiting);
    let failed = |why: &str| {
        let text = format!("look at {}: {why}", path.display());
        Refusal::cannot("prepare", "inspect", text, "")
    };
    if let Some(code) = waiting.signal() {
        return Err(Refusal { exit_code: code, ..failed("interrupted") });
    }
    let value: Value =
        serde_json::from_slice(&ended.output).map_err(|_| failed("inspect gave no answer"))?;
    if let Some(error) = value.get("error") {
        let report: ErrorReport =
            serde_json::from_value(error.clone()).map_err(|_| failed("inspect gave no answer"))?;
        return Err(Refusal { report: Box::new(report), exit_code: 3 });
    }
    let under: Substrate = serde_json::from_value(value["substrate"].clone())
        .map_err(|_| failed("inspect gave no answer"))?;
    let shown = value["path"].as_str().unwrap_or_default();
    Ok((target(shown, &under), under.machine))
}

fn target(path: &str, under: &Substrate) -> Target {
    let device = |block: &crate::record::Block| Device {
        name: block.name.clone(),
        kind: block.kind.clone(),
        model: block.model.clone(),
        serial: block.serial.clone(),
        firmware: block.firmware.clone(),
    };
    Target {
        path: path.to_owned(),
        filesystem: under.filesystem.clone(),
        source: under.mount.as_ref().map(|mount| mount.source.clone()),
        devices: under.block.iter().map(device).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_firmware_or_disk_is_another_target_and_another_name_is_not() {
        let device = |name: &str, firmware: &str| Device {
            name: name.to_owned(),
            kind: "disk".to_owned(),
            serial: Some("S1".to_owned()),
            firmware: Some(firmware.to_owned()),
            ..Device::default()
        };
        let of = |source: &str, device: Device| Target {
            path: "/x".to_owned(),
            source: Some(source.to_owned()),
            devices: vec![device],
            ..Target::default()
        };
        let before = of("/dev/sda", device("sda", "1.0"));
        assert!(before.differences(&of("/dev/sdb", device("sdb", "1.0"))).is_empty());
        let newer = before.differences(&of("/dev/sda", device("sda", "1.1")));
        assert_eq!(newer, ["firmware of sda was 1.0, is 1.1"]);
        let other = Device { serial: Some("S2".to_owned()), ..device("sda", "1.0") };
        assert_eq!(before.differences(&of("/dev/sda", other)).len(), 1);
        let nameless = |source: &str| of(source, Device { serial: None, ..device("a", "1") });
        assert_eq!(nameless("/dev/a").differences(&nameless("/dev/b")).len(), 1);
    }
}
