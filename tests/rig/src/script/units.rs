//! Times, errors and hangs as they are written in a script.

use std::time::Duration;

use nix::errno::Errno;
use serde::Deserialize;

/// A time in nanoseconds, written with a unit such as `2ms`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Span(pub u64);

impl Span {
    /// Reads `2ms` and the like.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Span, String> {
        let time = humantime::parse_duration(text).map_err(|error| format!("{text:?}: {error}"))?;
        let ns = u64::try_from(time.as_nanos()).map_err(|_| format!("{text:?} is too long"))?;
        Ok(Span(ns))
    }

    /// The same as the standard library's type.
    pub fn duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Span, String> {
        Span::parse(&text)
    }
}

/// How long an operation hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Hang {
    /// For a time, or until it is released before.
    For(Span),
    /// Until it is released.
    UntilReleased,
}

impl TryFrom<String> for Hang {
    type Error = String;

    fn try_from(text: String) -> Result<Hang, String> {
        match text.as_str() {
            "released" => Ok(Hang::UntilReleased),
            time => Span::parse(time).map(Hang::For),
        }
    }
}

/// An error of the kernel, written by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct ErrorName(pub Errno);

/// What a file system may say; a few would be understood by the kernel's FUSE client as something else
/// than an error of this one operation and are left out.
const ERRORS: [Errno; 14] = [
    Errno::EACCES,
    Errno::EAGAIN,
    Errno::EDQUOT,
    Errno::EFBIG,
    Errno::EINTR,
    Errno::EINVAL,
    Errno::EIO,
    Errno::ENODEV,
    Errno::ENOMEM,
    Errno::ENOSPC,
    Errno::EOPNOTSUPP,
    Errno::EPERM,
    Errno::EROFS,
    Errno::ETIMEDOUT,
];

impl ErrorName {
    /// Reads `EIO` and the like.
    ///
    /// # Errors
    /// Which names there are.
    pub fn parse(name: &str) -> Result<ErrorName, String> {
        let known = ERRORS.iter().find(|errno| format!("{errno:?}") == name);
        known.copied().map(ErrorName).ok_or_else(|| {
            let names: Vec<String> = ERRORS.iter().map(|errno| format!("{errno:?}")).collect();
            format!("unknown error {name:?}: give one of {}", names.join(", "))
        })
    }
}

impl TryFrom<String> for ErrorName {
    type Error = String;

    fn try_from(name: String) -> Result<ErrorName, String> {
        ErrorName::parse(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_need_a_unit() {
        assert_eq!(Span::parse("1500us").unwrap(), Span(1_500_000));
        assert_eq!(Span::parse("1m 30s").unwrap(), Span(90_000_000_000));
        for text in ["", "5", "ms", "-1s", "999999999999years"] {
            assert!(Span::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_error_is_known_by_its_name() {
        for errno in ERRORS {
            assert_eq!(ErrorName::parse(&format!("{errno:?}")).unwrap().0, errno);
        }
        assert!(ErrorName::parse("EFOO").unwrap_err().contains("ENOSPC"));
    }
}
