//! Takes parts out of a JSON text as they were written, byte for byte: what a provider signed can only be verified so.

use std::{borrow::Cow, collections::HashMap};

use serde_json::value::RawValue;

/// Returns the part at a JSON pointer (RFC 6901). The empty pointer is the whole. If a name occurs twice, the last counts.
pub(crate) fn at<'a>(whole: &'a RawValue, pointer: &str) -> Option<&'a RawValue> {
    let mut found = whole;
    for part in pointer.split('/').skip(1) {
        let name = part.replace("~1", "/").replace("~0", "~");
        found = match found.get().as_bytes().first()? {
            b'{' => object(found)?.remove(name.as_str())?,
            b'[' => *list(found)?.get(name.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(found)
}

/// Returns the parts of an object, by name.
pub(crate) fn object(raw: &RawValue) -> Option<HashMap<Cow<'_, str>, &RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// Returns the parts of a list.
pub(crate) fn list(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// Returns a text or a number as a text; `None` for anything else.
pub(crate) fn text(raw: &RawValue) -> Option<String> {
    match serde_json::from_str(raw.get()).ok()? {
        serde_json::Value::String(text) => Some(text),
        serde_json::Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_bytes() {
        let whole: &RawValue =
            serde_json::from_str(r#"{"a":[ {"b\/c" : {"x":1.50, "y":"\u00e9"} } ],"~":{"/":7},"a2":null}"#)
                .unwrap();
        for (pointer, expected) in [
            ("/a/0/b~1c", Some(r#"{"x":1.50, "y":"\u00e9"}"#)),
            ("/a/0/b~1c/x", Some("1.50")),
            ("/~0/~1", Some("7")),
            ("/a2", Some("null")),
            ("/a/1", None),
            ("/a2/b", None),
            ("/nothing", None),
        ] {
            assert_eq!(at(whole, pointer).map(RawValue::get), expected, "{pointer}");
        }
        assert_eq!(at(whole, "").map(RawValue::get), Some(whole.get()));
        assert_eq!(text(at(whole, "/a/0/b~1c/y").unwrap()).as_deref(), Some("é"));
    }
}
