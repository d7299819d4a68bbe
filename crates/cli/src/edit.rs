//! The edits that a replay can make to an event, and signature parameters, as they are typed.

use std::str::FromStr;

use hookmitt_event::{HeaderLines, Plain};
use serde_json::Value;

/// A header line to set: its name and value, typed as `Name: value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeaderEdit(pub(crate) String, pub(crate) String);

impl FromStr for HeaderEdit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text
            .split_once(':')
            .ok_or_else(|| format!("{} isn't a header: write it like 'X-Name: value'", Plain(text)))?;
        let (name, value) = (name.trim(), value.trim());
        HeaderLines::from_pairs([(name, value)]).map_err(|error| Plain(&error.to_string()).to_string())?;
        Ok(Self(name.to_owned(), value.to_owned()))
    }
}

/// A value to put into a JSON body: its JSON pointer and the value, typed as `/json/pointer=value`. A value that is not
/// JSON becomes a string.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BodyEdit(pub(crate) String, pub(crate) Value);

impl FromStr for BodyEdit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || {
            format!(
                "{} isn't an edit: write it like /data/amount=500, with a JSON pointer before the =",
                Plain(text)
            )
        };
        let (pointer, value) = text.split_once('=').ok_or_else(wrong)?;
        if !pointer.starts_with('/') {
            return Err(wrong());
        }
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        Ok(Self(pointer.to_owned(), value))
    }
}

/// A signature parameter that is not in the request: its name and value, typed as `name=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Param(pub(crate) String, pub(crate) String);

impl FromStr for Param {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self(name.to_owned(), value.to_owned())),
            _ => Err(format!("{} isn't a parameter: write it like webhook_id=123", Plain(text))),
        }
    }
}

pub(crate) fn text_or_null(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { Value::from(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_split_at_its_first_colon() {
        let read = |text: &str| text.parse::<HeaderEdit>().map(|HeaderEdit(name, value)| (name, value));
        assert_eq!(read("X-A: b:c ").unwrap(), ("X-A".to_owned(), "b:c".to_owned()));
        assert_eq!(read("X-Empty:").unwrap(), ("X-Empty".to_owned(), String::new()));
        for text in ["X-A", ": b", "X A: b", "X-A: b\r\nX-B: c"] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_body_edit_takes_json_or_text() {
        let read = |text: &str| text.parse::<BodyEdit>().map(|BodyEdit(pointer, value)| (pointer, value));
        assert_eq!(read("/a/0=5").unwrap(), ("/a/0".to_owned(), Value::from(5)));
        assert_eq!(read("/a=paid=yes").unwrap(), ("/a".to_owned(), Value::from("paid=yes")));
        assert_eq!(read(r#"/a="5""#).unwrap(), ("/a".to_owned(), Value::from("5")));
        assert_eq!(read("/a=").unwrap(), ("/a".to_owned(), Value::from("")));
        for text in ["a=1", "/a", "=1"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_parameter_needs_a_name() {
        assert_eq!("kid=a=b".parse(), Ok(Param("kid".to_owned(), "a=b".to_owned())));
        assert!("=b".parse::<Param>().is_err());
    }
}
