//! `--pin`: a CPU list as the kernel writes it.

use std::fmt;
use std::str::FromStr;

/// Where workers run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pin {
    /// Round robin over all allowed CPUs.
    Auto,
    /// Nowhere in particular.
    None,
    /// Round robin over these, in this order; never empty.
    Cpus(Vec<u64>),
}

/// No machine has more; a larger number is a slip.
const CPU_MAX: u64 = 65_535;

impl FromStr for Pin {
    type Err = String;

    fn from_str(text: &str) -> Result<Pin, String> {
        match text {
            "auto" => Ok(Pin::Auto),
            "none" => Ok(Pin::None),
            list => {
                let ranges: Result<Vec<Vec<u64>>, String> = list.split(',').map(range).collect();
                Ok(Pin::Cpus(ranges?.concat()))
            }
        }
    }
}

fn range(text: &str) -> Result<Vec<u64>, String> {
    let bad = || format!("not a CPU list: {text:?}; give auto, none or such as 0,2-5");
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let cpu = |t: &str| t.trim().parse::<u64>().ok().filter(|&cpu| cpu <= CPU_MAX).ok_or_else(bad);
    let (low, high) = (cpu(low)?, cpu(high)?);
    if low > high { Err(bad()) } else { Ok((low..=high).collect()) }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pin::Auto => f.write_str("auto"),
            Pin::None => f.write_str("none"),
            Pin::Cpus(cpus) => {
                let numbers: Vec<String> = cpus.iter().map(u64::to_string).collect();
                f.write_str(&numbers.join(","))
            }
        }
    }
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        assert_eq!("0,2-5".parse(), Ok(Pin::Cpus(vec![0, 2, 3, 4, 5])));
        assert_eq!("1100".parse(), Ok(Pin::Cpus(vec![1_100])));
        assert_eq!("auto".parse(), Ok(Pin::Auto));
        assert_eq!("none".parse(), Ok(Pin::None));
        assert_eq!(Pin::Cpus(vec![3, 1]).to_string(), "3,1");
        for text in ["", ",", "a", "1-", "-1", "5-3", "1,,2", "99999999", "0-18446744073709551615"]
        {
            assert!(text.parse::<Pin>().is_err(), "{text}");
        }
    }
}
