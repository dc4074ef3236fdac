//! What failed, on what, and why: one type for every preparation step.

use nix::errno::Errno;

/// A system call that failed outside the measured loop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{operation} on {object}: {} ({})", errno_text(*.errno), errno_name(*.errno))]
pub struct SysError {
    /// Name of the call.
    pub operation: &'static str,
    /// Path or thing it was done to.
    pub object: String,
    /// This system's errno, above 0.
    pub errno: i32,
}

impl SysError {
    /// Wraps an I/O error; one without an errno counts as EIO.
    pub fn new(operation: &'static str, object: impl Into<String>, error: &std::io::Error) -> Self {
        let errno = error.raw_os_error().unwrap_or(Errno::EIO as i32);
        SysError { operation, object: object.into(), errno }
    }

    /// Wraps an errno.
    pub fn of(operation: &'static str, object: impl Into<String>, errno: Errno) -> Self {
        SysError { operation, object: object.into(), errno: errno as i32 }
    }
}

/// Symbolic name, such as `ENOSPC`.
pub fn errno_name(errno: i32) -> String {
    format!("{:?}", Errno::from_raw(errno))
}

/// The sentence for it, lower case.
pub fn errno_text(errno: i32) -> String {
    let text = Errno::from_raw(errno).desc();
    // "I/O error" and the like stay as they are: only a plain capitalised word is lowered.
    let second_is_lower = text.chars().nth(1).is_some_and(char::is_lowercase);
    if second_is_lower { text[..1].to_lowercase() + &text[1..] } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_on_what_and_why() {
        let error = SysError::of("open", "/x/y", Errno::ENOSPC);
        assert_eq!(error.to_string(), "open on /x/y: no space left on device (ENOSPC)");
        assert_eq!(errno_text(libc::EIO), "I/O error");
    }
}
