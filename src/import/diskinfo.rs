//! FreeBSD's `diskinfo -wS`: means of synchronous writes by size.

use super::{Import, Measurement, single};
use crate::quantity::TimeUnit;
use crate::record::{Figures, SourcePart};

/// Nothing where no row has `usec/IO`.
pub fn read(text: &str) -> Option<Result<Import, String>> {
    if !text.contains("usec/IO") {
        return None;
    }
    let parts: Vec<SourcePart> = text.lines().filter_map(row).collect();
    if parts.is_empty() {
        return Some(Err("diskinfo's table has no row with figures".to_owned()));
    }
    let unjudged = Some("it has means only, and a mean must not be judged as p99".to_owned());
    Some(single("diskinfo", Measurement { parts, unjudged, ..Measurement::default() }))
}

/// `4 kbytes:    158.2 usec/IO =     24.7 Mbytes/s`
fn row(line: &str) -> Option<SourcePart> {
    let (size, rest) = line.split_once(':')?;
    let (value, _) = rest.split_once("usec/IO")?;
    let mean = TimeUnit::named("us")?.parse(value)?;
    let flush = Figures { mean_ns: Some(mean as f64), ..Figures::default() };
    Some(SourcePart { name: Some(size.trim().to_owned()), flush })
}
