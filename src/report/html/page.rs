//! The page around the content.

use super::markup::Markup;

/// Colours, sizes, light and dark, narrow and printed.
const STYLE: &str = include_str!("style.css");

/// A whole document. Its policy forbids all that is not in it: even a slip of ours could load or run
/// nothing.
pub fn page(title: &str, body: &Markup) -> String {
    let mut out = Markup::default();
    out.tags("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.tags("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
    out.tags("style-src 'unsafe-inline'; img-src data:\">\n");
    out.tags("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.tags("<meta name=\"color-scheme\" content=\"light dark\">\n");
    // Browsers ask for an icon otherwise.
    out.tags("<link rel=\"icon\" href=\"data:,\">\n<title>")
        .text(title)
        .tags("</title>\n<style>\n");
    out.tags(STYLE).tags("</style>\n</head>\n<body>\n<main>\n");
    out.put(body).tags("</main>\n</body>\n</html>\n");
    out.into_html()
}

/// The report as text, folded.
pub fn as_text(text: &str) -> Markup {
    let mut out = Markup::default();
    if !text.is_empty() {
        out.tags("<details><summary>All of it as text</summary><pre>").lines(text);
        out.tags("</pre></details>\n");
    }
    out
}
