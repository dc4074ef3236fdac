//! A raw device before it is overwritten: who uses it, what is on it, whether that may go.
//!
//! The child claims the device and reads its first and last bytes; everything else is text of /proc and
//! /sys, read below a root folder. A device that anything speaks for is refused by name.

mod consent;
mod identify;
mod signature;
mod uses;

pub use identify::serve as identify;
pub use signature::{END_BYTES, START_BYTES, signatures};

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::record::Facts;
use crate::refusal::Refusal;
use uses::Family;

/// What the child found out about a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawDevice {
    /// Claimed for this process; where it is not, somebody else has it and the rest is not known.
    pub claimed: bool,
    /// Its size.
    pub bytes: u64,
    /// Its logical sector.
    pub sector_bytes: u64,
    /// Well-known marks that were found on it.
    pub signatures: Vec<String>,
    /// Whether its first MiB holds anything but zeroes.
    pub holds_data: bool,
}

/// Whether the device of `facts` may be overwritten.
///
/// # Errors
/// The first thing that speaks against it, with what to do.
pub fn admit(root: &Path, facts: &Facts, force_signature: bool) -> Result<(), Refusal> {
    let Some(device) = &facts.device else { return Ok(()) };
    let shown = String::from_utf8_lossy(&facts.path).into_owned();
    let family = Family::of(root, facts.device_major, facts.device_minor);
    if let Some((why, remedy)) = uses::first(root, &family, &shown) {
        return Err(refused(&shown, &why, remedy));
    }
    if !device.claimed {
        let why = "is in use: the kernel lets nobody else claim it (EBUSY)";
        let remedy = "a mount in another namespace, a pool or a program has it: release it there";
        return Err(refused(&shown, why, remedy));
    }
    let found = signature::all(device, &family, &shown);
    if !found.known.is_empty() && !force_signature {
        let why = format!("holds {}", found.known.join(", "));
        let remedy = "give another device; if all of this may go, wipe it (wipefs --all) or give --force-signature";
        return Err(refused(&shown, &why, remedy));
    }
    consent::ask(&consent::Device { shown: &shown, device, family: &family, found: &found })
}

fn refused(shown: &str, why: &str, remedy: &str) -> Refusal {
    Refusal::cannot("prepare", "claim", format!("--device: {shown} {why}"), remedy)
}

#[cfg(test)]
mod tests;
