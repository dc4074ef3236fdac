//! Sizes, times and rates as people type them: the one parser of each.

use parse_size::{ByteSuffix, Config};
use synctail_bench::Rate;

/// Bytes from `2300`, `4KiB`, `4k` or `1.5MiB`; K, M and G count in 1024s as in fio, and so do KB, MB
/// and GB, since no storage tool means 4000 bytes by `4k`.
pub fn parse_size_bytes(text: &str) -> Result<u64, String> {
    let hint = "give bytes with or without a unit, such as 2300 or 4KiB";
    let digits = text.chars().filter(char::is_ascii_digit).skip_while(|&digit| digit == '0');
    if digits.count() > SIZE_DIGITS_MAX {
        return Err(format!("more than {SIZE_DIGITS_MAX} digits; {hint}"));
    }
    let config = Config::new().with_binary().with_byte_suffix(ByteSuffix::Allow);
    config.parse_size(text.trim()).map_err(|why| format!("{why}; {hint}"))
}

/// The largest size has as many. Of more digits parse-size rounds off the last, and adds one to what
/// may be the largest number already: it panics, or wraps around to 0 in a release build.
const SIZE_DIGITS_MAX: usize = 20;

/// Nanoseconds from `500ms`, `30s`, `2m` or `1h30m`; all but `0` need a unit.
pub fn parse_duration_ns(text: &str) -> Result<u64, String> {
    let hint = "give a number and a unit, such as 500ms or 30s";
    let duration =
        humantime::parse_duration(text.trim()).map_err(|why| format!("{why}; {hint}"))?;
    u64::try_from(duration.as_nanos()).map_err(|_| format!("longer than 584 years; {hint}"))
}

/// Pairs per second from `100/s`, `100` or `0.5/s`.
pub fn parse_rate(text: &str) -> Result<Rate, String> {
    let number = text.trim().strip_suffix("/s").unwrap_or(text.trim()).trim_end();
    let hint = "give pairs per second, such as 100/s";
    let per_s: f64 = number.parse().map_err(|_| format!("not a rate: {text:?}; {hint}"))?;
    let (least, most) = (Rate::LEAST, Rate::MOST);
    let thousandths = (per_s * 1_000.0).round();
    if (least.0 as f64..=most.0 as f64).contains(&thousandths) {
        return Ok(Rate(thousandths as u64));
    }
    Err(format!("must be {least} to {most}; {hint}"))
}

/// Whole numbers with the usual separators, `500` or `10_000`.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let digits = text.trim().replace('_', "");
    digits.parse().map_err(|_| format!("not a whole number: {text:?}"))
}

/// A unit of time as files and people write it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeUnit {
    ns: f64,
}

impl TimeUnit {
    /// Nanoseconds.
    pub const NS: TimeUnit = TimeUnit { ns: 1.0 };
    /// Seconds.
    pub const S: TimeUnit = TimeUnit { ns: 1e9 };

    /// The unit of this name: `ns`, `us`, `ms`, `s`, `min`, `h` and the forms that tools print.
    pub fn named(name: &str) -> Option<TimeUnit> {
        let ns = match name.to_ascii_lowercase().as_str() {
            "ns" | "nsec" | "nsecs" | "nanoseconds" => 1.0,
            "us" | "usec" | "usecs" | "\u{b5}s" | "\u{3bc}s" | "microseconds" => 1e3,
            "ms" | "msec" | "msecs" | "milliseconds" => 1e6,
            "s" | "sec" | "secs" | "second" | "seconds" => 1e9,
            "min" | "mins" | "minutes" => 60e9,
            "h" | "hour" | "hours" => 3_600e9,
            _ => return None,
        };
        Some(TimeUnit { ns })
    }

    /// `value` of this unit in whole nanoseconds; nothing for what no latency can be.
    pub fn ns_of(self, value: f64) -> Option<u64> {
        let ns = (value * self.ns).round();
        // Above 2^63 it is a sentinel or an overflow, not a latency.
        (ns.is_finite() && (0.0..9.2e18).contains(&ns)).then_some(ns as u64)
    }

    /// A number of this unit: digits with a point, an exponent, or fio's `k` and `m` behind.
    pub fn parse(self, text: &str) -> Option<u64> {
        let text = text.trim();
        let (digits, factor) = match text.as_bytes().last()? {
            b'k' => (&text[..text.len() - 1], 1e3),
            b'm' => (&text[..text.len() - 1], 1e6),
            _ => (text, 1.0),
        };
        let starts = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        let value: f64 = digits.parse().ok().filter(|_| starts)?;
        self.ns_of(value * factor)
    }
}

/// `--unit`.
pub fn parse_time_unit(text: &str) -> Result<TimeUnit, String> {
    TimeUnit::named(text.trim()).ok_or_else(|| format!("no such unit: {text:?}; ns, us, ms or s"))
}

/// Nanoseconds from a number and its unit, with or without a space between: `55.9ms`, `1.5 min`.
pub fn parse_printed_ns(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| c.is_alphabetic() && c != 'e' && c != 'E')?;
    let (value, unit) = text.split_at(digits);
    TimeUnit::named(unit.trim())?.parse(value)
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_the_units_that_storage_people_type() {
        let cases = [
            ("2300", 2_300),
            ("4KiB", 4_096),
            ("4k", 4_096),
            ("4K", 4_096),
            ("1GiB", 1 << 30),
            ("1.5MiB", 3 << 19),
            ("0", 0),
            (" 8MiB ", 8 << 20),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse_size_bytes(text), Ok(bytes), "{text}");
        }
        let beyond = ["99999999999999999999", "18446744073709551615.5", "184467440737095516155k"];
        for text in ["", "x", "-1", "4Q", "4 k i b"].into_iter().chain(beyond) {
            assert!(parse_size_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_need_a_unit() {
        let cases = [
            ("500ms", 500_000_000),
            ("30s", 30_000_000_000),
            ("2m", 120_000_000_000),
            ("15us", 15_000),
            ("7ns", 7),
        ];
        for (text, ns) in cases {
            assert_eq!(parse_duration_ns(text), Ok(ns), "{text}");
        }
        for text in ["", "30", "s", "-1s", "1e9s", "600y"] {
            assert!(parse_duration_ns(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_are_pairs_per_second() {
        let cases = [("100/s", 100_000), ("100", 100_000), ("0.5/s", 500), (" 1e3 /s", 1_000_000)];
        for (text, thousandths) in cases {
            assert_eq!(parse_rate(text), Ok(Rate(thousandths)), "{text}");
        }
        for text in ["", "/s", "0", "-1/s", "inf", "nan", "0.0001", "1e9/s", "100/m", "x/s"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn printed_times_have_their_own_unit() {
        let cases = [
            ("55.965958ms", 55_965_958),
            ("1.5 min", 90_000_000_000),
            ("766.4 ms", 766_400_000),
            ("7ns", 7),
            ("2.5e-05s", 25_000),
        ];
        for (text, ns) in cases {
            assert_eq!(parse_printed_ns(text), Some(ns), "{text}");
        }
        for text in ["", "7", "-1ms", "nan ms", "inf s", "1e300s", "ms"] {
            assert_eq!(parse_printed_ns(text), None, "{text}");
        }
        assert_eq!(TimeUnit::named("usec").unwrap().parse("5729.7k"), Some(5_729_700_000));
        assert!(parse_time_unit("parsec").is_err());
    }

    #[test]
    fn counts_are_whole() {
        assert_eq!(parse_count("10_000"), Ok(10_000));
        for text in ["", "-1", "1.5", "1e3", "99999999999999999999"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }
}
