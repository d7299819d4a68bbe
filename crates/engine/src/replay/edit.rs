//! Changes to a stored request before it is replayed.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use hookmitt_event::{HeaderLines, Request};
use serde::Deserialize;
use serde_json::Value;

use crate::EngineError;

/// What to change in a request before it is replayed. By default nothing changes.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Edit {
    /// The URL to which the request is delivered this once, instead of to its source's targets.
    pub to: Option<String>,
    /// Whether to sign the request again, with the current time.
    pub resign: bool,
    /// Whether to give the request a new event id as it is signed, so that the receiver doesn't take it for a
    /// duplicate. Needs `resign`.
    pub fresh_id: bool,
    /// Header lines to set. They replace all lines of the same name, at the place of the first of them; a new name is
    /// added at the end. Two pairs with one name become two lines.
    pub headers: Vec<(String, String)>,
    /// Values to set in a JSON body, by JSON pointer.
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub set: serde_json::Map<String, Value>,
    /// A new body, in base64.
    pub body_base64: Option<String>,
    /// How many times the request is delivered to each target, 1 (default) to 1,000.
    pub times: Option<u32>,
}

impl Edit {
    /// Whether the request itself changes.
    pub fn changes_request(&self) -> bool {
        self.resign
            || self.fresh_id
            || !self.headers.is_empty()
            || !self.set.is_empty()
            || self.body_base64.is_some()
    }

    /// Returns how many times the request is delivered.
    ///
    /// # Errors
    /// Fails if that is less than 1 or more than 1,000.
    pub(crate) fn times(&self) -> Result<u32, EngineError> {
        let times = self.times.unwrap_or(1);
        let fits = (1..=1_000).contains(&times);
        fits.then_some(times).ok_or_else(|| bad(format!("can't send {times} times: use 1 to 1000")))
    }

    /// Returns the request with the changes, not signed again yet.
    ///
    /// # Errors
    /// Fails if a header line can't be written, the new body isn't base64, values are set in a body that isn't JSON, or
    /// a pointer leads nowhere.
    pub(crate) fn apply(&self, request: &Request) -> Result<Request, EngineError> {
        let mut changed = request.clone();
        if let Some(text) = &self.body_base64 {
            let body = STANDARD
                .decode(text)
                .map_err(|error| bad(format!("the body isn't valid base64: {error}")))?;
            changed.body = Bytes::from(body);
        }
        if !self.set.is_empty() {
            changed.body = set_values(&changed.body, &self.set)?;
        }
        for (place, (name, _)) in self.headers.iter().enumerate() {
            let same = |(other, _): &&(String, String)| other.eq_ignore_ascii_case(name);
            if !self.headers[..place].iter().any(|header| same(&header)) {
                let set =
                    self.headers.iter().filter(same).map(|(name, value)| (name.as_str(), value.as_str()));
                changed.headers = with_lines(&changed.headers, name, set)?;
            }
        }
        if changed.body != request.body && changed.headers.has("content-length") {
            let length = changed.body.len().to_string();
            let set = [("content-length", length.as_str())];
            changed.headers = with_lines(&changed.headers, "content-length", set)?;
        }
        Ok(changed)
    }
}

fn bad(message: String) -> EngineError {
    EngineError::BadInput(message)
}

fn set_values(body: &[u8], values: &serde_json::Map<String, Value>) -> Result<Bytes, EngineError> {
    let mut json: Value = serde_json::from_slice(body)
        .map_err(|error| bad(format!("--set needs a JSON body, and this one isn't JSON: {error}")))?;
    for (pointer, value) in values {
        *place(&mut json, pointer)? = value.clone();
    }
    Ok(Bytes::from(json.to_string()))
}

/// Returns the place that a JSON pointer names. Its last step may be a new key of an object, or `-` for a new element
/// at the end of an array.
fn place<'a>(json: &'a mut Value, pointer: &str) -> Result<&'a mut Value, EngineError> {
    let missing =
        || bad(format!("{pointer:?} points to nothing in the body: use a JSON pointer such as /data/id"));
    if pointer.is_empty() {
        return Ok(json);
    }
    let (parent, key) = pointer.rsplit_once('/').ok_or_else(missing)?;
    let key = key.replace("~1", "/").replace("~0", "~");
    match json.pointer_mut(parent).ok_or_else(missing)? {
        Value::Object(map) => Ok(map.entry(key).or_insert(Value::Null)),
        Value::Array(list) => {
            let index = if key == "-" { Some(list.len()) } else { key.parse().ok() };
            if index == Some(list.len()) {
                list.push(Value::Null);
            }
            index.and_then(|index| list.get_mut(index)).ok_or_else(missing)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(missing()),
    }
}

/// Returns the header lines with those of one name replaced by `set`, at the place of the first of them, else at the
/// end.
fn with_lines<'a>(
    lines: &HeaderLines,
    name: &str,
    set: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<HeaderLines, EngineError> {
    let written = HeaderLines::from_pairs(set).map_err(|error| bad(error.to_string()))?;
    let mut block = Vec::with_capacity(lines.as_wire().len() + written.as_wire().len());
    let mut done = false;
    for line in lines.iter() {
        if !line.name.eq_ignore_ascii_case(name) {
            block.extend_from_slice(line.line);
            block.extend_from_slice(b"\r\n");
        } else if !done {
            done = true;
            block.extend_from_slice(written.as_wire());
        }
    }
    if !done {
        block.extend_from_slice(written.as_wire());
    }
    HeaderLines::from_wire(Bytes::from(block)).map_err(|error| bad(error.to_string()))
}

#[cfg(test)]
mod tests {
    use hookmitt_event::HttpVersion;

    use super::*;

    fn request(body: &'static str) -> Request {
        Request {
            method: "POST".to_owned(),
            path: String::new(),
            query: None,
            version: HttpVersion::Http11,
            headers: HeaderLines::from_pairs([("A", "1"), ("Content-Length", "9"), ("a", "2")]).unwrap(),
            body: Bytes::from_static(body.as_bytes()),
        }
    }

    #[test]
    fn values_are_set_and_the_length_follows() {
        let edit: Edit =
            serde_json::from_str(r#"{"set":{"/a":2,"/c/-":"x"},"headers":[["A","9"],["B","3"]]}"#).unwrap();
        let changed = edit.apply(&request(r#"{"z":1,"a":1,"c":[]}"#)).unwrap();
        assert_eq!(&changed.body[..], br#"{"z":1,"a":2,"c":["x"]}"#);
        assert_eq!(&changed.headers.as_wire()[..], b"A: 9\r\ncontent-length: 23\r\nB: 3\r\n");
    }

    #[test]
    fn a_name_that_is_given_twice_becomes_two_lines() {
        let edit: Edit =
            serde_json::from_str(r#"{"headers":[["A","8"],["B","3"],["a","9"],["b","4"]]}"#).unwrap();
        let changed = edit.apply(&request("{}")).unwrap();
        let lines = &b"A: 8\r\na: 9\r\nContent-Length: 9\r\nB: 3\r\nb: 4\r\n"[..];
        assert_eq!(changed.headers.as_wire(), lines);
    }

    #[test]
    fn a_pointer_into_nothing_is_named() {
        let edit: Edit = serde_json::from_str(r#"{"set":{"/x/y":2}}"#).unwrap();
        let error = edit.apply(&request("{}")).unwrap_err();
        assert!(error.to_string().contains("/x/y"), "{error}");
    }
}
