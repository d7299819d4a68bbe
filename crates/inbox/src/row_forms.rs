//! Tells by the form of a row which table it is of, where what leads to the row is damaged.

use hookmitt_event::Tag;
use rusqlite::types::Value;

/// Returns the table that a row is of, by its form. The first column of most is the row's number, which is stored apart.
pub(crate) fn table_of(row: &[Value]) -> Option<&'static str> {
    use Value::{Blob, Integer, Null, Text};
    let is_id = |value: &Value| matches!(value, Blob(bytes) if bytes.len() == 16);
    let is_sha256 = |value: &Value| matches!(value, Blob(bytes) if bytes.len() == 32);
    match row {
        [Null, Blob(_), Blob(_)] => Some("raw"),
        [Null, Text(_), Blob(_)] => Some("dictionary"),
        [Null, Text(_), Text(_), Integer(_)] => Some("saved_search"),
        [Null, Integer(_), Integer(_), Blob(_)] => Some("block"),
        [Null, Integer(_) | Null, Blob(_), Blob(_)] => Some("packed"),
        [Null, Integer(_) | Null, Blob(_), Blob(_), Integer(_) | Null, Integer(_) | Null] => Some("packed"),
        [Null, Text(_), Text(_) | Null, Text(_), Integer(_), Integer(_), Integer(_) | Null] => Some("source"),
        [Null, Integer(_) | Null, Text(url), Text(json), Integer(_), Integer(_), rest @ ..]
            if url.contains("://") && json.starts_with('{') && rest.len() >= 4 =>
        {
            Some("target")
        }
        [Null, Integer(_), Text(_), Text(_) | Null, Text(_) | Null, rest @ ..] if rest.len() >= 11 => {
            Some("tunnel")
        }
        [Null, Integer(_), Integer(_), Integer(_), Integer(_), id, Integer(_) | Null, rest @ ..]
            if (is_id(id) || *id == Null) && rest.len() == 3 && rest.iter().all(is_text_or_null) =>
        {
            Some("audit")
        }
        [
            Integer(_),
            Integer(_),
            Integer(_),
            Integer(_),
            Integer(_),
            Integer(_) | Null,
            error,
            Integer(_),
            rest @ ..,
        ] if is_text_or_null(error) && matches!(rest, [Blob(_) | Null, Blob(_), ..]) && rest.len() <= 3 => {
            Some("attempt")
        }
        [Null, id, Integer(_), Integer(_), rest @ ..]
            if is_id(id) && rest.len() >= 27 && rest.get(24).is_some_and(is_sha256) =>
        {
            Some("event")
        }
        _ => None,
    }
}

/// Returns the table without numbers that an entry is of, by its form. Entries of indexes are shorter.
pub(crate) fn entry_of(entry: &[Value]) -> Option<&'static str> {
    use Value::{Integer, Null, Text};
    match entry {
        [Integer(_), Text(key), Text(name), ..] if entry.len() <= 4 && is_key_of(key, name) => Some("tag"),
        [Integer(_), Integer(_), Integer(_), Integer(_), Integer(_), Integer(_), rest @ ..]
            if rest.len() >= 5
                && rest[..3].iter().all(|value| matches!(value, Integer(_) | Null))
                && is_text_or_null(&rest[3])
                && matches!(rest[4], Integer(_) | Null) =>
        {
            Some("delivery")
        }
        _ => None,
    }
}

fn is_key_of(key: &str, name: &str) -> bool {
    name.parse::<Tag>().is_ok_and(|tag| tag.key() == key)
}

fn is_text_or_null(value: &Value) -> bool {
    matches!(value, Value::Text(_) | Value::Null)
}

/// Whether a row has the form of an event.
pub(crate) fn is_event(row: &[Value]) -> bool {
    table_of(row) == Some("event")
}
