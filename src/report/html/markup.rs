//! HTML under construction. What is foreign can only get in escaped: markup is taken from literals of this
//! program and from other markup, everything else as text or as a number.

use crate::human::escape_controls;

/// A piece of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup {
    html: String,
}

impl Markup {
    /// Adds tags as they stand in the source of this program.
    pub fn tags(&mut self, literal: &'static str) -> &mut Markup {
        self.html.push_str(literal);
        self
    }

    /// Adds foreign text, within an element or a quoted attribute. Whatever could steer a terminal or
    /// reorder a line is shown instead, as in every report.
    pub fn text(&mut self, text: &str) -> &mut Markup {
        for c in escape_controls(text).chars() {
            self.push_escaped(c);
        }
        self
    }

    /// Adds text of this program that has lines of its own, each of which is escaped.
    pub fn lines(&mut self, text: &str) -> &mut Markup {
        for line in text.lines() {
            self.text(line).tags("\n");
        }
        self
    }

    /// Adds a coordinate or size, to a tenth and without the zero where there is none.
    pub fn number(&mut self, value: f64) -> &mut Markup {
        let tenths = (value * 10.0).round() as i64;
        let (sign, tenths) = if tenths < 0 { ("-", -tenths) } else { ("", tenths) };
        let (whole, rest) = (tenths / 10, tenths % 10);
        self.html.push_str(&match rest {
            0 => format!("{sign}{whole}"),
            _ => format!("{sign}{whole}.{rest}"),
        });
        self
    }

    /// Adds markup that was made elsewhere.
    pub fn put(&mut self, other: &Markup) -> &mut Markup {
        self.html.push_str(&other.html);
        self
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.html.is_empty()
    }

    /// The document.
    pub fn into_html(self) -> String {
        self.html
    }

    fn push_escaped(&mut self, c: char) {
        match c {
            '&' => self.html.push_str("&amp;"),
            '<' => self.html.push_str("&lt;"),
            '>' => self.html.push_str("&gt;"),
            '"' => self.html.push_str("&quot;"),
            '\'' => self.html.push_str("&#39;"),
            c => self.html.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        let mut markup = Markup::default();
        markup.text(text);
        markup.into_html()
    }

    #[test]
    fn foreign_text_can_open_no_tag_and_leave_no_attribute() {
        assert_eq!(text("<script>&\"'"), "&lt;script&gt;&amp;&quot;&#39;");
        assert_eq!(text("a\u{202e}b\x1b[0m\n"), "a\\u{202e}b\\x1b[0m\\n");
        assert_eq!(text("/srv/ä漢"), "/srv/ä漢");
    }

    #[test]
    fn coordinates_are_short() {
        let shown = [0.0, -0.04, 12.0, 12.34, -7.96, 4_000.0].map(|value| {
            let mut markup = Markup::default();
            markup.number(value);
            markup.into_html()
        });
        assert_eq!(shown, ["0", "0", "12", "12.3", "-8", "4000"]);
    }
}
