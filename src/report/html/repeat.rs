//! The command that was run, as a shell takes it.

/// `command` in one line; each word quoted where a shell would not take it as it is.
pub fn shell_line(command: &[String]) -> String {
    command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word.chars().any(char::is_control) {
        // What a page cannot show is spelt, in the form that bash, zsh and ksh read.
        return format!("$'{}'", word.chars().map(spelt).collect::<String>());
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn spelt(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\'' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\x{:02x}", u32::from(c)),
        c => c.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_same_words() {
        let words = ["synctail", "check", "/a b", "it's", "", "--x=$(rm)", "a\nb'\x1b"];
        let line = shell_line(&words.map(str::to_owned));
        let expected = r"synctail check '/a b' 'it'\''s' '' '--x=$(rm)' $'a\nb\'\x1b'";
        assert_eq!(line, expected);
        let shell = std::process::Command::new("bash")
            .args(["-c", &format!("printf '%s\\0' {line}")])
            .output();
        // Where there is no bash the text above stands alone.
        if let Ok(output) = shell {
            assert_eq!(output.stdout, format!("{}\0", words.join("\0")).as_bytes());
        }
    }
}
