//! Lines of text within the width of a terminal.

use crate::human::escape_controls;

/// Columns of a report; every character counts as one.
pub const COLUMNS: usize = 80;

/// The lines of a report under construction.
#[derive(Debug, Default)]
pub struct Lines {
    text: String,
}

impl Lines {
    /// Adds one line as it is where it fits, else wrapped at spaces; what follows the first line is
    /// indented by `hang` columns. Whatever could steer the terminal is shown instead.
    ///
    /// A word that is too long for a line of its own (a path) is broken where the line ends.
    pub fn say(&mut self, line: &str, hang: usize) {
        let line = escape_controls(line);
        let mut column = 0;
        for (i, word) in line.split(' ').enumerate() {
            let length = word.chars().count();
            let space = usize::from(i > 0);
            // A word that fits no line starts here rather than leave this line empty.
            let breaks = column + space + length > COLUMNS && hang + length <= COLUMNS;
            if i > 0 && (breaks || column + space >= COLUMNS) {
                self.new_line(hang);
                column = hang;
            } else if i > 0 {
                self.text.push(' ');
                column += 1;
            }
            for c in word.chars() {
                if column == COLUMNS {
                    self.new_line(hang);
                    column = hang;
                }
                self.text.push(c);
                column += 1;
            }
        }
        self.trim_line_end();
        self.text.push('\n');
    }

    /// The report: empty, or lines that each end in a newline.
    pub fn into_text(self) -> String {
        self.text
    }

    fn new_line(&mut self, hang: usize) {
        self.trim_line_end();
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', hang));
    }

    fn trim_line_end(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str, hang: usize) -> String {
        let mut lines = Lines::default();
        lines.say(line, hang);
        lines.into_text()
    }

    #[test]
    fn what_fits_stays_as_it_is_columns_included() {
        let line = format!("  p50= {:>7}  {}", "-", "x".repeat(63));
        assert_eq!(line.chars().count(), 79);
        assert_eq!(said(&line, 4), format!("{line}\n"));
        assert_eq!(said(&format!("{line}x"), 4), format!("{line}x\n"));
    }

    #[test]
    fn words_move_to_the_next_line_and_hang() {
        let line = format!("  warning: {} end of it", "x".repeat(68));
        assert_eq!(said(&line, 4), format!("  warning: {}\n    end of it\n", "x".repeat(68)));
    }

    #[test]
    fn a_word_longer_than_a_line_is_broken() {
        let text = said(&format!("  path: /{}", "ä".repeat(200)), 4);
        let lengths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(lengths, [80, 80, 57]);
        assert!(text.lines().skip(1).all(|line| line.starts_with("    ä")));
    }

    #[test]
    fn a_foreign_newline_is_shown_and_makes_no_line() {
        assert_eq!(said("  path: /a\n  verdict: GOOD", 4), "  path: /a\\n  verdict: GOOD\n");
    }
}
