//! What the devices say of their own health, before and after.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::target::{Device, Target};
use crate::substrate::program_output;

/// One device's word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Such as `nvme0n1`.
    pub device: String,
    /// Whether the device passes its own test; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// What the program said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Value>,
    /// Why it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

/// Asks every disk under the target.
pub fn ask(target: &Target) -> Vec<Health> {
    let disks = target.devices.iter().filter(|device| device.kind == "disk");
    disks.map(of_disk).collect()
}

fn of_disk(disk: &Device) -> Health {
    let node = format!("/dev/{}", disk.name);
    let smart = || program_output("smartctl", &["--json", "-H", "-A", &node]);
    let nvme = || program_output("nvme", &["smart-log", "--output-format=json", &node]);
    let answer = if disk.name.starts_with("nvme") {
        nvme().or_else(|why| smart().map_err(|other| format!("{why}; {other}")))
    } else {
        smart()
    };
    read(&disk.name, answer)
}

fn read(device: &str, answer: Result<String, String>) -> Health {
    let device = device.to_owned();
    let parsed = answer.and_then(|text| {
        serde_json::from_str::<Value>(&text).map_err(|error| format!("not JSON: {error}"))
    });
    match parsed {
        Ok(report) => {
            Health { passed: passed(&report), report: Some(report), unknown: None, device }
        }
        Err(why) => Health { passed: None, report: None, unknown: Some(why), device },
    }
}

/// smartctl says it; of `nvme smart-log` a critical warning of 0 is it.
fn passed(report: &Value) -> Option<bool> {
    let smart = report.pointer("/smart_status/passed").and_then(Value::as_bool);
    smart.or_else(|| Some(report.get("critical_warning")?.as_u64()? == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_programs_are_understood_and_silence_is_unknown() {
        let of = |text: &str| read("sda", Ok(text.to_owned())).passed;
        assert_eq!(of(r#"{"smart_status":{"passed":true}}"#), Some(true));
        assert_eq!(of(r#"{"smart_status":{"passed":false}}"#), Some(false));
        assert_eq!(of(r#"{"critical_warning":0,"percent_used":3}"#), Some(true));
        assert_eq!(of(r#"{"critical_warning":4}"#), Some(false));
        assert_eq!(of("{}"), None);
        let silent = read("sda", Err("run smartctl: not found".to_owned()));
        assert!(silent.passed.is_none() && silent.unknown.unwrap().contains("not found"));
        assert!(read("sda", Ok("smartctl 7.4".to_owned())).unknown.unwrap().contains("not JSON"));
    }
}
