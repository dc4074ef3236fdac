//! Documents of synctail itself: a record, or several inside a comparison, a sweep or a judgement.

use serde_json::Value;

use super::{Import, Reading};
use crate::record::{Record, SCHEMA};

/// Nothing where the text is no document of ours.
pub fn read(text: &str) -> Option<Result<Import, String>> {
    if !text.trim_start().starts_with('{') || !text.contains("\"synctail.") {
        return None;
    }
    if let Ok(record) = serde_json::from_str::<Record>(text)
        && record.schema == SCHEMA
    {
        return Some(Ok(import(vec![Reading::Own(Box::new(record))])));
    }
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return Some(Err(format!("its JSON cannot be read: {error}"))),
    };
    let schema = value.get("schema")?.as_str()?;
    if !schema.starts_with("synctail.") {
        return None;
    }
    if schema == SCHEMA {
        let why = serde_json::from_value::<Record>(value).err().map(|error| error.to_string());
        return Some(Err(format!("not a whole {SCHEMA}: {}", why.unwrap_or_default())));
    }
    let mut records = Vec::new();
    collect(&value, &mut records);
    if records.is_empty() {
        return Some(Err(format!("a {schema} holds no {SCHEMA}, which this version reads")));
    }
    Some(Ok(import(records.into_iter().map(|record| Reading::Own(Box::new(record))).collect())))
}

fn import(results: Vec<Reading>) -> Import {
    Import { format: SCHEMA, results }
}

/// Every record inside `value`, in order.
fn collect(value: &Value, records: &mut Vec<Record>) {
    match value {
        Value::Object(map) if map.get("schema").is_some_and(|schema| schema == SCHEMA) => {
            records.extend(serde_json::from_value::<Record>(value.clone()));
        }
        Value::Object(map) => map.values().for_each(|inner| collect(inner, records)),
        Value::Array(list) => list.iter().for_each(|inner| collect(inner, records)),
        _ => {}
    }
}
