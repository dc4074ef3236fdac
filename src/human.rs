//! Times, sizes, rates and foreign text as a person reads them: the one place for each.

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// Units of time, ascending: each is used below 1000 of it, the last from there on. Minutes are
/// `min`, since `m` would be read as milli.
const UNITS: [(u64, &str); 6] =
    [(US, "us"), (MS, "ms"), (S, "s"), (60 * S, "min"), (3_600 * S, "h"), (86_400 * S, "d")];

/// `ns` with three significant digits in its own unit: `648ns`, `15.2us`, `2.10ms`, `16.6s`; at most
/// seven characters.
///
/// Cut, never rounded up: a figure below a band's edge must not print as the edge (999,999 ns is
/// `999us`).
pub fn time(ns: u64) -> String {
    if ns < US {
        return format!("{ns}ns");
    }
    let fits = |&&(unit, _): &&(u64, &str)| ns / unit < 1_000;
    let (unit, name) = UNITS.iter().find(fits).copied().unwrap_or(UNITS[UNITS.len() - 1]);
    let hundredths = u128::from(ns) * 100 / u128::from(unit);
    let (whole, rest) = (hundredths / 100, hundredths % 100);
    match whole {
        0..10 => format!("{whole}.{rest:02}{name}"),
        10..100 => format!("{whole}.{}{name}", rest / 10),
        _ => format!("{whole}{name}"),
    }
}

/// A size in the largest binary unit that divides it, exactly: `4 KiB`, `2300 B`, `1 GiB`.
pub fn bytes(bytes: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let exact = |(unit, _): &(u64, &str)| bytes >= *unit && bytes.is_multiple_of(*unit);
    match units.into_iter().find(exact) {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

/// A whole number, plain.
pub fn count(count: u64) -> String {
    count.to_string()
}

/// A measured number that is not a time: two decimals below 10, one below 100, none from there on.
pub fn decimal(value: f64) -> String {
    let places = match value.abs() {
        v if v < 10.0 => 2,
        v if v < 100.0 => 1,
        _ => 0,
    };
    format!("{value:.places$}")
}

/// A share of 0 to 1 in percent, with one decimal: `31.5 %`; what would print as nothing is `<0.1 %`.
pub fn share(share: f64) -> String {
    if share > 0.0 && share < 0.001 {
        return "<0.1 %".to_owned();
    }
    format!("{:.1} %", share * 100.0)
}

/// `text` with everything that could steer a terminal or reorder a line shown instead: control
/// characters as `\n`, `\t` or `\x1b`, directional and line-separating characters as `\u{202e}`.
///
/// Quotes, spaces and backslashes stay: this is for reading, not for parsing back.
pub fn escape_controls(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => shown.extend(c.escape_default()),
            _ if c.is_control() => shown.push_str(&format!("\\x{:02x}", u32::from(c))),
            _ if steers(c) => shown.extend(c.escape_unicode()),
            _ => shown.push(c),
        }
    }
    shown
}

/// Directional marks, embeddings, overrides and isolates (Unicode's Bidi_Control), the line and
/// paragraph separators, and the byte order mark.
fn steers(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_their_own_unit() {
        let cases = [
            (0, "0ns"),
            (648, "648ns"),
            (999, "999ns"),
            (1_000, "1.00us"),
            (15_234, "15.2us"),
            (2_100_000, "2.10ms"),
            (16_600_000_000, "16.6s"),
            (123_000_000_000, "123s"),
            (60_000_000_000, "60.0s"),
            (999_999_999_999, "999s"),
            (1_000_000_000_000, "16.6min"),
            (60_000_000_000_000, "16.6h"),
            (86_400_000_000_000_000, "1000d"),
            (u64::MAX, "213503d"),
        ];
        for (ns, text) in cases {
            assert_eq!(time(ns), text, "{ns}");
        }
    }

    #[test]
    fn a_time_below_an_edge_never_prints_as_the_edge() {
        let cases = [
            (999_999, "999us", "1.00ms"),
            (4_999_999, "4.99ms", "5.00ms"),
            (49_999_999, "49.9ms", "50.0ms"),
            (999_999_999, "999ms", "1.00s"),
            (9_999_999, "9.99ms", "10.0ms"),
        ];
        for (below, text, edge) in cases {
            assert_eq!((time(below).as_str(), time(below + 1).as_str()), (text, edge));
        }
    }

    #[test]
    fn every_time_fits_seven_columns() {
        let mut ns = 1u64;
        while ns < u64::MAX / 3 {
            for near in [ns - 1, ns, ns + 1, ns.saturating_mul(2)] {
                assert!(time(near).len() <= 7, "{near}: {}", time(near));
            }
            ns *= 3;
        }
    }

    #[test]
    fn sizes_are_exact() {
        let cases = [
            (0, "0 B"),
            (2_300, "2300 B"),
            (4_096, "4 KiB"),
            (4_097, "4097 B"),
            (3 << 19, "1536 KiB"),
            (1 << 30, "1 GiB"),
            (1 << 40, "1 TiB"),
            (u64::MAX, "18446744073709551615 B"),
        ];
        for (size, text) in cases {
            assert_eq!(bytes(size), text);
        }
    }

    #[test]
    fn shares_and_decimals_keep_what_matters() {
        assert_eq!(share(230.0 / 730.0), "31.5 %");
        assert_eq!((share(0.0).as_str(), share(0.000_4).as_str()), ("0.0 %", "<0.1 %"));
        let shown = [0.5, 12.5, 476.25].map(decimal);
        assert_eq!(shown, ["0.50", "12.5", "476"]);
        assert_eq!(count(10_000), "10000");
    }

    #[test]
    fn nothing_foreign_steers_the_terminal() {
        assert_eq!(escape_controls("a\x1b[31mb\nc\td\r\0"), "a\\x1b[31mb\\nc\\td\\r\\x00");
        assert_eq!(escape_controls("\u{7f}\u{9b}x"), "\\x7f\\x9bx");
        assert_eq!(escape_controls("a\u{202e}b\u{2066}\u{2028}"), "a\\u{202e}b\\u{2066}\\u{2028}");
        assert_eq!(escape_controls("/it's \"fine\" \\ ä漢"), "/it's \"fine\" \\ ä漢");
    }
}
