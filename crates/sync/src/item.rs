//! What an item of a list becomes: an event's request.

use hookmitt_event::{HeaderLines, HttpVersion, Request, Timestamp};
use hookmitt_verify::moment;
use serde_json::value::RawValue;

use crate::{asked::Values, connector::Connector, raw};

/// An item of a list.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its id at the provider; empty if it has none.
    pub id: String,
    /// When the provider says that it happened; `None` if it doesn't say, or not in a known form.
    pub time: Option<Timestamp>,
    /// The item as it was written.
    pub raw: Box<RawValue>,
}

/// Why a page, or an item in it, can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ItemError {
    /// The answer has no list where it should be.
    #[error("the answer has no list at {0:?}")]
    NoList(String),
    /// An item has no body.
    #[error("the item {0} has no content")]
    NoBody(String),
    /// Its header lines can't be ones.
    #[error("the item {0} has header lines that can't be ones")]
    Headers(String),
}

impl Connector {
    /// Returns the items of a page, in its order.
    ///
    /// # Errors
    /// Fails if the answer has no list.
    pub fn items(&self, page: &RawValue) -> Result<Vec<Item>, ItemError> {
        let list = raw::at(page, &self.list.items).and_then(raw::list);
        let list = list.ok_or_else(|| ItemError::NoList(self.list.items.clone()))?;
        let read = |item: &RawValue| {
            let id = raw::at(item, &self.list.id).and_then(raw::text).filter(|id| !id.is_empty());
            let time = self.list.time.as_deref().and_then(|place| raw::at(item, place));
            let time = time.and_then(raw::text).and_then(|text| moment(&text));
            Item { id: id.unwrap_or_default(), time, raw: item.to_owned() }
        };
        let is_event = |item: &&RawValue| {
            self.list.only.iter().all(|(place, beginning)| {
                raw::at(item, place).and_then(raw::text).is_some_and(|text| text.starts_with(beginning))
            })
        };
        Ok(list.into_iter().filter(is_event).map(read).collect())
    }

    /// Returns the ids that an item's webhook may carry, as far as the list tells. The first is the usual one.
    pub fn keys(&self, item: &Item, values: &Values<'_>) -> Vec<String> {
        let values = Values { item: Some(&item.raw), ..*values };
        let templates = self.list.key.iter().chain(&self.list.also);
        templates.filter_map(|text| text.fill(|name| values.value(name), str::to_owned)).collect()
    }

    /// Makes the request of an event from an item, or from the answer to the request for its content.
    ///
    /// # Errors
    /// Fails if there is no body, or if a header line can't be one.
    pub fn request(&self, id: &str, content: &RawValue, values: &Values<'_>) -> Result<Request, ItemError> {
        let values = Values { item: Some(content), ..*values };
        let shape = &self.event;
        let body = match (&shape.json, &shape.body) {
            (Some(json), _) => Some(values.fill_json(json).to_string()),
            (None, Some(pointer)) => {
                raw::at(content, pointer).filter(|body| body.get() != "null").map(decoded)
            }
            (None, None) => Some(content.get().to_owned()),
        };
        let body = body.ok_or_else(|| ItemError::NoBody(id.to_owned()))?;
        let mut lines: Vec<(String, String)> = Vec::new();
        if let Some(sent) = shape.header_lines.as_deref().and_then(|pointer| raw::at(content, pointer)) {
            let sent = serde_json::from_str::<serde_json::Map<_, _>>(sent.get());
            let sent = sent.map_err(|_| ItemError::Headers(id.to_owned()))?;
            lines.extend(
                sent.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned()))),
            );
        }
        for (name, text) in &shape.headers {
            if let Some(value) = text.fill(|name| values.value(name), str::to_owned) {
                lines.push((name.clone(), value));
            }
        }
        // What the API hides isn't what was sent.
        lines.retain(|(_, value)| value != "[REDACTED]");
        // They framed the body as it was sent, which isn't the one that is here.
        lines.retain(|(name, _)| !FRAMING.iter().any(|framing| name.eq_ignore_ascii_case(framing)));
        let wire: String = lines.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let is_line = |(name, value): &(String, String)| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':')
                && !value.contains(char::is_control)
        };
        let headers = HeaderLines::from_wire(wire.into_bytes().into())
            .ok()
            .filter(|_| lines.iter().all(is_line))
            .ok_or_else(|| ItemError::Headers(id.to_owned()))?;
        Ok(Request {
            method: "POST".to_owned(),
            path: String::new(),
            query: None,
            version: HttpVersion::Http11,
            headers,
            body: body.into_bytes().into(),
        })
    }
}

/// Returns a body as it is written, or the text that it is: some APIs keep what they sent as a text in JSON.
fn decoded(body: &RawValue) -> String {
    serde_json::from_str::<String>(body.get()).unwrap_or_else(|_| body.get().to_owned())
}

/// The lines that say how a body is sent. A body that is taken from an answer is sent otherwise.
const FRAMING: [&str; 4] = ["content-length", "content-encoding", "transfer-encoding", "connection"];
