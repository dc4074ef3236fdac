//! Bounds of the values that are typed; what cannot be meant is refused.

use synctail_bench::Plan;

use crate::quantity::{parse_count, parse_duration_ns, parse_size_bytes};

pub(super) fn within(text: &str, low: u64, high: u64) -> Result<u64, String> {
    let value = parse_count(text)?;
    if (low..=high).contains(&value) { Ok(value) } else { Err(format!("must be {low} to {high}")) }
}

pub(super) fn block_size(text: &str) -> Result<u64, String> {
    let bytes = parse_size_bytes(text)?;
    let most = Plan::BLOCK_SIZE_BYTES_MAX;
    if (1..=most).contains(&bytes) { Ok(bytes) } else { Err(format!("must be 1 to {most} bytes")) }
}

pub(super) fn positive_size(text: &str) -> Result<u64, String> {
    let bytes = parse_size_bytes(text)?;
    // Offsets in files are signed 64-bit numbers.
    if (1..=1 << 62).contains(&bytes) { Ok(bytes) } else { Err("must be 1 byte to 4EiB".into()) }
}

pub(super) fn positive_time(text: &str) -> Result<u64, String> {
    match parse_duration_ns(text)? {
        0 => Err("must be above 0".into()),
        ns => Ok(ns),
    }
}
