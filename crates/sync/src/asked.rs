//! The requests that a connector sends.

use std::collections::HashMap;

use hookmitt_event::Timestamp;
use serde_json::{Value, value::RawValue};
use url::Url;

use crate::{
    connector::{Call, Connector},
    paging::Place,
    raw,
    template::{Filling, Template},
};

/// The time of which events are asked for: from the first moment, up to but without the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first moment.
    pub since: Timestamp,
    /// The first moment that is too late.
    pub until: Timestamp,
}

/// A request, without the API key.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The method.
    pub method: String,
    /// The URL.
    pub url: Url,
    /// The header lines.
    pub headers: Vec<(String, String)>,
    /// The JSON body.
    pub body: Option<Vec<u8>>,
}

/// Why a request can't be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// A value is missing that the URL needs.
    #[error("{0} is missing")]
    Missing(String),
    /// The URL is none.
    #[error("{0} isn't a URL")]
    Url(String),
    /// The key must not be sent there.
    #[error("the API key isn't sent to {0}")]
    Host(String),
    /// A header line would have characters that it can't have.
    #[error("the header {0} would have characters that a header can't have")]
    Header(String),
}

/// What fills in the templates of a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Values<'a> {
    /// What the user has said.
    pub params: Option<&'a HashMap<String, String>>,
    /// The time.
    pub window: Option<Window>,
    /// The place in the list.
    pub place: Option<&'a Place>,
    /// An item, whose parts are named by pointers.
    pub item: Option<&'a RawValue>,
}

impl Values<'_> {
    /// Returns what a name stands for.
    pub fn value(&self, name: &str) -> Option<Filling<'static>> {
        let text = |text: String| Filling::Text(text.into());
        match name {
            "since" => self.window.map(|window| Filling::Time(window.since)),
            "until" => self.window.map(|window| Filling::Time(window.until)),
            "cursor" => self.place.and_then(|place| place.cursor.clone()).map(text),
            "page" => self.place.and_then(|place| place.page).map(Filling::Number),
            "offset" => self.place.and_then(|place| place.offset).map(Filling::Number),
            pointer if pointer.starts_with('/') => {
                self.item.and_then(|item| raw::at(item, pointer)).and_then(raw::text).map(text)
            }
            param => self.params.and_then(|params| params.get(param)).cloned().map(text),
        }
    }

    /// Fills in the templates of a JSON value. One that is a number's place alone becomes that number, one that is a
    /// pointer's alone becomes what is there, and one whose value is missing becomes null.
    pub fn fill_json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.fill_text(text).unwrap_or(Value::Null),
            Value::Array(items) => items.iter().map(|item| self.fill_json(item)).collect(),
            Value::Object(parts) => {
                parts.iter().map(|(name, part)| (name.clone(), self.fill_json(part))).collect()
            }
            other => other.clone(),
        }
    }

    fn fill_text(&self, text: &str) -> Option<Value> {
        let Ok(template) = text.parse::<Template>() else { return Some(Value::String(text.to_owned())) };
        match template.alone().filter(|name| name.is_empty() || name.starts_with('/')) {
            Some(pointer) => serde_json::from_str(raw::at(self.item?, pointer)?.get()).ok(),
            None => match template.number(|name| self.value(name)) {
                Some(number) => Some(number.into()),
                None => template.fill(|name| self.value(name), str::to_owned).map(Value::String),
            },
        }
    }

    /// Like [`fill_json`](Self::fill_json), but without the members whose value is missing: an API may refuse null.
    fn fill_request(&self, value: &Value) -> Value {
        match value {
            Value::Object(parts) => {
                let is_there = |part: &Value| part.as_str().is_none_or(|text| self.fill_text(text).is_some());
                let there = parts.iter().filter(|(_, part)| is_there(part));
                there.map(|(name, part)| (name.clone(), self.fill_request(part))).collect()
            }
            Value::Array(items) => items.iter().map(|item| self.fill_request(item)).collect(),
            other => self.fill_json(other),
        }
    }
}

impl Connector {
    /// Returns the request for a page of the list.
    ///
    /// # Errors
    /// Fails if a value is missing, or if the page is at a host that the key must not be sent to.
    pub fn page(&self, values: &Values<'_>) -> Result<Asked, AskError> {
        let mut asked = self.asked(&self.list.call, values)?;
        let is_first = values.place.is_none_or(|place| place.cursor.is_none() && place.url.is_none());
        let pairs = self.list.first.iter().filter(|_| is_first);
        for (name, text) in pairs {
            if let Some(text) = text.fill(|name| values.value(name), str::to_owned) {
                asked.url.query_pairs_mut().append_pair(name, &text);
            }
        }
        if let Some(url) = values.place.and_then(|place| place.url.as_ref()) {
            asked.url = url.clone();
            self.ensure_host(&asked.url, values)?;
        }
        Ok(asked)
    }

    /// Returns the request that tells whether the key is right.
    ///
    /// # Errors
    /// Fails like [`page`](Self::page).
    pub fn check(&self, values: &Values<'_>) -> Result<Asked, AskError> {
        self.asked(self.check.as_ref().unwrap_or(&self.list.call), values)
    }

    /// Returns the request for an item's content; `None` if the list has it.
    ///
    /// # Errors
    /// Fails like [`page`](Self::page).
    pub fn detail(&self, values: &Values<'_>) -> Result<Option<Asked>, AskError> {
        self.list.detail.as_ref().map(|call| self.asked(call, values)).transpose()
    }

    fn asked(&self, call: &Call, values: &Values<'_>) -> Result<Asked, AskError> {
        let value = |name: &str| values.value(name);
        let filled = call.url.fill(value, escaped).ok_or_else(|| {
            let missing = call.url.names().find(|name| value(name).is_none());
            AskError::Missing(missing.unwrap_or_default().to_owned())
        })?;
        let mut url = Url::parse(&filled).map_err(|_| AskError::Url(filled))?;
        let pairs =
            call.query.iter().filter_map(|(name, text)| Some((name, text.fill(value, str::to_owned)?)));
        let pairs: Vec<_> = pairs.collect();
        if !pairs.is_empty() {
            url.query_pairs_mut().extend_pairs(pairs);
        }
        self.ensure_host(&url, values)?;
        let mut headers = Vec::new();
        for (name, text) in &call.headers {
            let Some(line) = text.fill(value, str::to_owned) else { continue };
            if line.chars().any(char::is_control) {
                return Err(AskError::Header(name.clone()));
            }
            headers.push((name.clone(), line));
        }
        let body = call.json.as_ref().map(|json| values.fill_request(json).to_string().into_bytes());
        Ok(Asked { method: call.method.clone(), url, headers, body })
    }

    /// Fails unless the API key may be sent to that URL.
    fn ensure_host(&self, url: &Url, values: &Values<'_>) -> Result<(), AskError> {
        if self.sends_to(url, |name| values.value(name)) {
            return Ok(());
        }
        Err(AskError::Host(url.host_str().unwrap_or_default().to_owned()))
    }
}

/// Escapes a value for a part of a URL's path, so that it stays one, but for a slash: `owner/name`.
fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte.into())
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    // A URL's `..` would lead out of the path.
    let parts = out.split('/').map(|part| if part == ".." || part == "." { "%2E" } else { part });
    parts.collect::<Vec<_>>().join("/")
}
