//! Typed access to the keys of a TOML table, with messages that name file and key.
//!
//! Each key is taken once; what is left at the end is unknown and refused. A derived deserialiser
//! would refuse it too, but would not name the key whose value has the wrong type.

use toml::{Table, Value};

/// A policy file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the policy: {file}: {place}{why}")]
pub struct PolicyError {
    /// The file as given.
    pub file: String,
    /// `KEY: `, `line N: ` or nothing.
    place: String,
    /// Why, and what to do.
    pub why: String,
}

/// One table of the file, and where it stands.
pub struct Reader<'a> {
    file: &'a str,
    /// Empty, or the table's path with a final dot.
    prefix: String,
    table: Table,
}

impl<'a> Reader<'a> {
    /// The whole file; fails where it is not TOML, with the line.
    pub fn of_file(text: &str, file: &'a str) -> Result<Reader<'a>, PolicyError> {
        let table = text.parse::<Table>().map_err(|error| {
            let line = error.span().and_then(|span| text.get(..span.start));
            let place = line.map(|before| format!("line {}: ", before.matches('\n').count() + 1));
            // The parser's messages may span lines; ours are one.
            let why = error.message().split('\n').map(str::trim).collect::<Vec<_>>().join("; ");
            PolicyError { file: file.to_owned(), place: place.unwrap_or_default(), why }
        })?;
        Ok(Reader { file, prefix: String::new(), table })
    }

    /// An error about `key` of this table.
    pub fn error(&self, key: &str, why: impl Into<String>) -> PolicyError {
        let place = format!("{}{key}: ", self.prefix);
        PolicyError { file: self.file.to_owned(), place, why: why.into() }
    }

    /// The sub-table at `key`, an empty one where it is absent.
    pub fn table(&mut self, key: &str) -> Result<Reader<'a>, PolicyError> {
        let table = match self.table.remove(key) {
            None => Table::new(),
            Some(Value::Table(table)) => table,
            Some(other) => return Err(self.wrong_type(key, "a table", &other)),
        };
        Ok(Reader { file: self.file, prefix: format!("{}{key}.", self.prefix), table })
    }

    /// The text at `key`.
    pub fn text(&mut self, key: &str) -> Result<Option<String>, PolicyError> {
        match self.table.remove(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong_type(key, "a string", &other)),
        }
    }

    /// The text at `key`, which must be there.
    pub fn required(&mut self, key: &str) -> Result<String, PolicyError> {
        self.text(key)?.ok_or_else(|| self.error(key, "missing; this key is required"))
    }

    /// The text at `key`, read by `parse`, whose message gets the value in front.
    pub fn parsed<T>(
        &mut self,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, PolicyError> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        let value = parse(&text).map_err(|why| self.error(key, format!("{text:?}: {why}")))?;
        Ok(Some(value))
    }

    /// The whole number at `key`, from 1 to `most`.
    pub fn count(&mut self, key: &str, most: u64) -> Result<Option<u64>, PolicyError> {
        let value = match self.table.remove(key) {
            None => return Ok(None),
            Some(Value::Integer(value)) => value,
            Some(other) => return Err(self.wrong_type(key, "a whole number", &other)),
        };
        match u64::try_from(value) {
            Ok(count) if (1..=most).contains(&count) => Ok(Some(count)),
            _ => Err(self.error(key, format!("{value} is out of range; give 1 to {most}"))),
        }
    }

    /// Refuses what nobody took; `known` are the keys to choose from.
    pub fn finish(self, known: &[&str]) -> Result<(), PolicyError> {
        match self.table.keys().next() {
            None => Ok(()),
            Some(key) => {
                Err(self.error(key, format!("unknown key; known here: {}", known.join(", "))))
            }
        }
    }

    fn wrong_type(&self, key: &str, wanted: &str, found: &Value) -> PolicyError {
        self.error(key, format!("expected {wanted}, found {}", found.type_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_toml_is_refused_with_its_line() {
        let error = Reader::of_file("name = \"x\"\nbands = [\n", "p.toml").err().unwrap();
        let text = error.to_string();
        assert!(text.starts_with("read the policy: p.toml: line "), "{text}");
        assert!(!text.contains('\n'), "{text}");
        let twice = Reader::of_file("a = 1\nb = 2\na = 3\n", "p.toml").err().unwrap().to_string();
        assert!(twice.contains("line 3"), "{twice}");
    }

    #[test]
    fn a_key_is_taken_once_and_the_rest_is_refused_by_name() {
        let mut reader = Reader::of_file("a = \"x\"\n[t]\nb = 1\n", "p.toml").unwrap();
        assert_eq!(reader.required("a").unwrap(), "x");
        let t = reader.table("t").unwrap();
        let text = t.finish(&["c"]).unwrap_err().to_string();
        assert_eq!(text, "read the policy: p.toml: t.b: unknown key; known here: c");
        assert_eq!(reader.finish(&[]), Ok(()));
    }

    #[test]
    fn a_wrong_type_names_the_key_and_both_types() {
        let mut reader = Reader::of_file("a = 5\nb = \"5\"\nc = 0\nd = -1\n", "p").unwrap();
        let text = reader.text("a").unwrap_err().to_string();
        assert_eq!(text, "read the policy: p: a: expected a string, found integer");
        assert!(reader.count("b", 9).unwrap_err().to_string().contains("b: expected a whole"));
        assert!(reader.count("c", 9).unwrap_err().to_string().contains("c: 0 is out of range"));
        assert!(reader.count("d", 9).unwrap_err().to_string().contains("give 1 to 9"));
        assert_eq!(reader.count("e", 9), Ok(None));
    }
}
