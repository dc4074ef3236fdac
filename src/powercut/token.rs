//! The secret that writer and witness share.

use std::fmt::Write;
use std::path::Path;

use crate::refusal::Refusal;

/// Where it is looked for when no file is given.
pub const VARIABLE: &str = "SYNCTAIL_TOKEN";
const LENGTH_MIN: usize = 8;
const LENGTH_MAX: usize = 256;

/// The token of a file or of the environment; nothing where there is none.
///
/// # Errors
/// Where the file cannot be read, or holds no token.
pub fn given(file: Option<&Path>) -> Result<Option<String>, Refusal> {
    let (source, text) = match file {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                Refusal::usage(format!("--token-file: read {}: {error}", file.display()))
            })?;
            ("--token-file", text)
        }
        None => match std::env::var(VARIABLE) {
            Ok(text) => (VARIABLE, text),
            Err(_) => return Ok(None),
        },
    };
    let token = text.trim();
    let fits = (LENGTH_MIN..=LENGTH_MAX).contains(&token.len())
        && token.bytes().all(|byte| byte.is_ascii_graphic());
    if fits {
        return Ok(Some(token.to_owned()));
    }
    let wanted = "letters, digits and signs of ASCII, and no space";
    Err(Refusal::usage(format!("{source}: a token has {LENGTH_MIN} to {LENGTH_MAX} {wanted}")))
}

/// A new one: 128 bits from the system's generator.
pub fn made() -> String {
    use std::hash::{BuildHasher, RandomState};
    // Each state is seeded by the system's generator; the hash of nothing shows 64 bits of it.
    let words = [(); 2].map(|()| RandomState::new().hash_one(std::process::id()));
    words.iter().fold(String::new(), |mut token, word| {
        // Writing to a string cannot fail.
        let _ = write!(token, "{word:016x}");
        token
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gives_its_first_word_and_nothing_else_will_do() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        std::fs::write(&path, "a-secret-of-ours\n").unwrap();
        assert_eq!(given(Some(&path)).unwrap().as_deref(), Some("a-secret-of-ours"));
        for wrong in ["", "short", "two words here", "\u{fc}ber-secret-word"] {
            std::fs::write(&path, wrong).unwrap();
            assert_eq!(given(Some(&path)).unwrap_err().exit_code, 2, "{wrong:?}");
        }
        assert!(given(Some(&dir.path().join("none"))).is_err());
    }

    #[test]
    fn every_token_is_another() {
        assert_eq!(made().len(), 32);
        assert_ne!(made(), made());
    }
}
