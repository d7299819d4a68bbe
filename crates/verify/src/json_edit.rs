//! Changes single values of a JSON text and leaves every other byte as it is.

use std::{borrow::Cow, collections::HashMap};

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Object<'a>(#[serde(borrow)] HashMap<Cow<'a, str>, &'a RawValue>);

/// Replaces the value at a pointer (RFC 6901) by `value`, itself JSON. Returns `None` if the text isn't JSON or nothing
/// is at the pointer.
pub(crate) fn replace(json: &[u8], pointer: &str, value: &str) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(json).ok()?;
    let found = at(text, pointer)?;
    let start = found.as_ptr() as usize - text.as_ptr() as usize;
    Some([&text[..start], value, &text[start + found.len()..]].concat().into_bytes())
}

/// Whether the value at a pointer is a string; `None` if there is no value.
pub(crate) fn is_text(json: &[u8], pointer: &str) -> Option<bool> {
    at(std::str::from_utf8(json).ok()?, pointer).map(|found| found.starts_with('"'))
}

/// Returns the value at a pointer as it is written in the text.
fn at<'t>(text: &'t str, pointer: &str) -> Option<&'t str> {
    let mut found: &RawValue = serde_json::from_str(text).ok()?;
    for token in pointer.strip_prefix('/')?.split('/') {
        let token = token.replace("~1", "/").replace("~0", "~");
        found = match found.get().as_bytes().first()? {
            b'{' => serde_json::from_str::<Object<'t>>(found.get()).ok()?.0.get(token.as_str()).copied()?,
            b'[' => {
                let index = if token == "*" { 0 } else { token.parse::<usize>().ok()? };
                *serde_json::from_str::<Vec<&'t RawValue>>(found.get()).ok()?.get(index)?
            }
            _ => return None,
        };
    }
    Some(found.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_changes_and_nothing_else() {
        let json = "{ \"a\" : [1, {\"b\\u0063\":  1.10 }],\n\"z\":\"x\" }\r\n";
        let changed = |pointer: &str, value: &str| {
            replace(json.as_bytes(), pointer, value).map(|it| String::from_utf8(it).unwrap())
        };
        assert_eq!(
            changed("/a/1/bc", "2").as_deref(),
            Some("{ \"a\" : [1, {\"b\\u0063\":  2 }],\n\"z\":\"x\" }\r\n")
        );
        assert_eq!(
            changed("/z", "\"y\"").as_deref(),
            Some("{ \"a\" : [1, {\"b\\u0063\":  1.10 }],\n\"z\":\"y\" }\r\n")
        );
        assert_eq!(changed("/nope", "2"), None);
        assert_eq!(replace(b"not json", "/a", "2"), None);
        assert_eq!(
            (is_text(json.as_bytes(), "/z"), is_text(json.as_bytes(), "/a/0")),
            (Some(true), Some(false))
        );
    }
}
