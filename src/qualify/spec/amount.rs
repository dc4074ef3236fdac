//! Times, shares and sizes as a spec writes them: text with a unit.

use serde::{Deserialize, Deserializer};

use crate::load::Room;
use crate::quantity::{parse_duration_ns, parse_size_bytes};

/// A time, in nanoseconds, from `"5ms"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub u64);

/// A share in percent, from `"20 %"`; above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percent(pub f64);

/// A size, or a share of what is free, from `"4GiB"` or `"50 %"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount(pub Room);

fn percent(text: &str) -> Option<Result<f64, String>> {
    let number = text.trim().strip_suffix('%')?.trim_end();
    let value = number.parse::<f64>().ok().filter(|value| *value > 0.0 && value.is_finite());
    Some(value.ok_or_else(|| format!("not a share: {text:?}; give such as \"20 %\"")))
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Span, D::Error> {
        let text = String::deserialize(from)?;
        parse_duration_ns(&text).map(Span).map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Percent, D::Error> {
        let text = String::deserialize(from)?;
        let none = || Err(format!("not a share: {text:?}; give such as \"20 %\""));
        percent(&text).unwrap_or_else(none).map(Percent).map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Amount, D::Error> {
        let text = String::deserialize(from)?;
        let amount = match percent(&text) {
            Some(Ok(share)) if share > 90.0 => {
                Err(format!("{text:?}: at most 90 % of what is free"))
            }
            Some(share) => share.map(Room::Percent),
            None => parse_size_bytes(&text).map(Room::Bytes),
        };
        amount.map(Amount).map_err(serde::de::Error::custom)
    }
}
