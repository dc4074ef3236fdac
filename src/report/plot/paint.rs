//! Colours of a terminal: one for each band.

use crate::policy::Policy;
use crate::record::Band;

/// Escape sequences of the bands, best first: green, cyan, yellow, magenta, red.
const CODES: [&str; 5] = ["\x1b[32m", "\x1b[36m", "\x1b[33m", "\x1b[35m", "\x1b[31m"];
const PLAIN: &str = "\x1b[0m";

/// Paints in the colours of a policy's bands, or not at all.
#[derive(Clone, Copy, Debug)]
pub struct Paint<'a> {
    /// Whether there are colours.
    pub colour: bool,
    /// Whose bands they are.
    pub policy: &'a Policy,
}

impl Paint<'_> {
    /// `text` in the colour of the band of `ns`.
    pub fn at(&self, ns: u64, text: &str) -> String {
        self.band(self.policy.band(ns), text)
    }

    /// `text` in the colour of `band`.
    pub fn band(&self, band: Band, text: &str) -> String {
        if !self.colour || text.trim().is_empty() {
            return text.to_owned();
        }
        format!("{}{text}{PLAIN}", CODES[band as usize])
    }
}
