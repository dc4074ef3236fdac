//! Junk never stops a reader, and figures it makes are in order.

use proptest::prelude::*;
use proptest::sample::select;

use super::{Reading, read};
use crate::cases::config;
use crate::quantity::TimeUnit;

/// Beginnings that lead into each reader.
const SEEDS: [&str; 12] = [
    "{\"fio version\":\"fio-3\",\"jobs\":[{\"sync\":{\"lat_ns\":{\"N\":5,\"percentile\":{\"99.0\":",
    "  fsync/fdatasync/sync_file_range:\n    sync (usec): min=1, max=5729.7k, avg=2\n     | 99.00th=[",
    "    sync percentiles (msec):\n     | 50.00th=[ 1], 99.00th=[",
    "   fdatasync   608,573 ops/sec 1643 usecs/op\n",
    "   4 kbytes: 158.2 usec/IO = 24.7 Mbytes/s\n",
    "x: request=1 time=1.5 min\n",
    "#[Histogram log format version 1.3]\n0.1,1.0,2.0,HISTFAAA",
    "a_fsync_seconds_bucket{le=\"0.001\"} 5\na_fsync_seconds_bucket{le=\"+Inf\"} ",
    "sync duration: 55.9ms size: 1\n",
    "x p50=1ms p99=2ms max=",
    "setup\tn\tp50\tp99\tmax\tunit\na\t200\t1\t2\t3\tms\n",
    "barrier_ns,total_ns\n1,2\n",
];

proptest! {
    #![proptest_config(config())]

    #[test]
    fn junk_is_refused_or_read_in_order(seed in select(&SEEDS[..]), junk in "(.|\n){0,80}", cut in 0..200usize) {
        let text = format!("{seed}{junk}");
        let cut = text.char_indices().map(|(at, _)| at).nth(cut).unwrap_or(text.len());
        for text in [&text[..], &text[..cut], &junk[..]] {
            let Ok(import) = read(text, Some(TimeUnit::S)) else { continue };
            for result in import.results {
                let Reading::Foreign(measurement) = result else { continue };
                for part in measurement.parts {
                    let f = part.flush.carried();
                    if let (Some(p99), Some(max)) = (f.p99_ns, f.max_ns) {
                        prop_assert!(p99 <= max, "{text:?}");
                    }
                    prop_assert!(f.mean_ns.is_none_or(f64::is_finite));
                    prop_assert!(f.p99_within_ns.is_none_or(|[low, high]| low < high));
                }
            }
        }
    }
}
