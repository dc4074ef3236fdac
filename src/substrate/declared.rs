//! What a device itself says of its cache, which the kernel may have been told to disbelieve.
//!
//! virtio and SCSI tell it in sysfs. NVMe does not: there the controller is asked to identify itself, by a
//! child, since one that is dead answers nobody for a minute.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use super::block::value;
use super::{missing, source};
use crate::record::{Block, Unknown};

pub const WRITE_BACK: &str = "write back";
pub const WRITE_THROUGH: &str = "write through";
/// The hidden command of this program that asks a controller.
const COMMAND: &str = "identify";

/// Runs this program with arguments and returns its output, or why there is none.
pub type AskSelf<'a> = &'a dyn Fn(&[&str]) -> Result<String, String>;

/// Fills in what sysfs passes on: virtio's own attribute, or the caching page of a SCSI disk.
pub fn by_sysfs(dir: &Path, node: &mut Block) {
    if let Some(cache) = value(&dir.join("cache_type")) {
        (node.declared_cache, node.declared_by) = (Some(cache), Some("virtio".to_owned()));
        return;
    }
    let disks = source::entries(&dir.join("device/scsi_disk"));
    let Some(disk) = disks.first() else { return };
    node.protection_type = value(&disk.join("protection_type")).and_then(|text| text.parse().ok());
    if let Some(cache) = value(&disk.join("cache_type")) {
        let page = "SCSI caching page".to_owned();
        (node.declared_cache, node.declared_by) = (Some(cache), Some(page));
    }
}

/// Asks the controllers of the NVMe disks among `nodes`; what they do not tell is added to `unknown`.
pub fn by_controllers(root: &Path, nodes: &mut [Block], unknown: &mut Vec<Unknown>, ask: AskSelf) {
    let is_disk = |node: &&mut Block| {
        node.kind == "disk" && node.transport.as_deref().is_some_and(|t| t.starts_with("nvme"))
    };
    for node in nodes.iter_mut().filter(is_disk) {
        match identify(root, node, ask) {
            Ok(controller) => controller.fill_in(node),
            Err(why) => {
                let reason = format!("{}: the controller's own word: {why}", node.name);
                unknown.push(missing("declared_cache", &reason));
            }
        }
    }
}

fn identify(root: &Path, node: &Block, ask: AskSelf) -> Result<Controller, String> {
    let path = root.join("dev").join(&node.name);
    let shown = path.to_string_lossy();
    let found = fs::metadata(&path).map_err(|error| format!("stat {shown}: {error}"))?;
    let (major, minor) = (nix::sys::stat::major(found.rdev()), nix::sys::stat::minor(found.rdev()));
    if !found.file_type().is_block_device() || format!("{major}:{minor}") != node.device {
        return Err(format!("{shown} is another device than {}", node.device));
    }
    read_answer(&ask(&[COMMAND, &shown])?)
}

fn read_answer(answer: &str) -> Result<Controller, String> {
    match answer.trim().strip_prefix("refused: ") {
        Some(why) => Err(why.to_owned()),
        None => Controller::parse(&from_hex(answer.trim())?),
    }
}

fn from_hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0);
    let digits = digits.ok_or("its identify data are no hexadecimal digits")?;
    Ok(digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect())
}

/// What is read of a controller's identify data (NVM Express base specification, Identify Controller).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    /// Bytes 24 to 63.
    model: Option<String>,
    /// Bytes 64 to 71.
    firmware: Option<String>,
    /// Bit 0 of byte 525; the other bits tell how a flush of all namespaces is taken.
    has_volatile_cache: bool,
}

impl Controller {
    /// Reads the 4096 bytes of the data structure.
    ///
    /// # Errors
    /// Another length, or nothing but zeroes where vendor, model and firmware stand.
    pub fn parse(data: &[u8]) -> Result<Controller, String> {
        if data.len() != 4_096 {
            return Err(format!("its identify data have {} bytes and not 4096", data.len()));
        }
        if data[..72].iter().all(|&byte| byte == 0) {
            return Err("its identify data are empty".to_owned());
        }
        let text = |range: std::ops::Range<usize>| {
            let is_plain = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
            let plain = data[range].iter().take_while(|byte| is_plain(byte));
            let text: String = plain.map(|&byte| char::from(byte)).collect();
            let text = text.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        Ok(Controller {
            model: text(24..64),
            firmware: text(64..72),
            has_volatile_cache: data[525] & 1 == 1,
        })
    }

    fn fill_in(self, node: &mut Block) {
        let cache = if self.has_volatile_cache { WRITE_BACK } else { WRITE_THROUGH };
        node.declared_cache = Some(cache.to_owned());
        node.declared_by = Some("NVMe identify controller".to_owned());
        node.nvme_vwc = Some(self.has_volatile_cache.into());
        node.model = node.model.take().or(self.model);
        node.firmware = node.firmware.take().or(self.firmware);
    }
}

#[cfg(test)]
mod tests;
