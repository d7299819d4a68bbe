//! What happens, as it happens: the API's event stream.

use bytes::Bytes;
use hookmitt_api::BoxBody;
use hookmitt_event::{DeliveryJson, EventJson, Timestamp};
use http_body_util::BodyExt as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    failure::CliError,
    tunnel_view::{Gap, Tunnel},
};

/// A stream of news. Dropping it ends it.
pub(crate) struct Live {
    body: BoxBody,
    reader: Reader,
}

/// One message of the stream, as it came.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    /// `event`, `delivery`, `refused`, `tunnel`, `gap`, `listening`; others may come.
    pub(crate) name: String,
    /// What it carries.
    pub(crate) data: Value,
}

/// One message of the stream, understood.
pub(crate) enum News {
    /// `listen` is in place.
    Listening(Listening),
    /// An event was stored, or became another (judged anew, put in the bin).
    Event(Box<EventJson>),
    /// A delivery moved on.
    Delivery(Box<DeliveryNews>),
    /// A request was not stored.
    Refused(RefusedNews),
    /// Events came faster than anybody reads.
    Skipped(SkippedNews),
    /// A tunnel is otherwise than it was.
    Tunnel(Box<Tunnel>),
    /// A gap of a tunnel is over.
    Gap(Box<GapNews>),
    /// Something of a later version.
    Other,
}

/// Where `listen` catches, and where it sends to.
#[derive(Debug, Deserialize)]
pub(crate) struct Listening {
    /// The target's URL.
    pub(crate) url: String,
    /// Where events are taken.
    #[serde(default)]
    pub(crate) capture_urls: Vec<String>,
}

/// A delivery that moved on, with what its event is called.
#[derive(Debug, Deserialize)]
pub(crate) struct DeliveryNews {
    /// The event's number.
    pub(crate) seq: i64,
    /// The event's source.
    pub(crate) source: String,
    /// The event's type.
    pub(crate) r#type: Option<String>,
    /// The delivery.
    pub(crate) delivery: DeliveryJson,
}

/// Events that a brief stream leaves out.
#[derive(Debug, Deserialize)]
pub(crate) struct SkippedNews {
    /// How many.
    pub(crate) events: u64,
}

/// A gap of a tunnel that is over.
#[derive(Debug, Deserialize)]
pub(crate) struct GapNews {
    /// What the tunnel is called.
    pub(crate) label: String,
    /// The gap.
    #[serde(flatten)]
    pub(crate) gap: Gap,
}

/// A request that was not stored.
#[derive(Debug, Deserialize)]
pub(crate) struct RefusedNews {
    /// When.
    pub(crate) at: Timestamp,
    /// Who sent it.
    pub(crate) remote: Option<String>,
    /// What it asked for.
    pub(crate) target: Option<String>,
    /// What it was answered.
    pub(crate) status: u16,
    /// Why.
    pub(crate) message: String,
}

impl Live {
    /// Reads the stream from a body.
    pub(crate) fn new(body: BoxBody) -> Self {
        Self { body, reader: Reader::default() }
    }

    /// The next message; `None` at the end. May be dropped between two polls without loss.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.reader.next() {
                return Some(message);
            }
            let frame = self.body.frame().await?.ok()?;
            if let Ok(data) = frame.into_data() {
                self.reader.push(&data);
            }
        }
    }
}

impl Message {
    /// The source of the event, or of the delivery, that it is about; nothing where it is about neither.
    pub(crate) fn source(&self) -> Option<&str> {
        let is_of_one = matches!(self.name.as_str(), "event" | "delivery");
        self.data["source"].as_str().filter(|_| is_of_one)
    }

    /// What it says.
    ///
    /// # Errors
    /// Where what it carries does not fit its name.
    pub(crate) fn read(&self) -> Result<News, CliError> {
        Ok(match self.name.as_str() {
            "listening" => News::Listening(self.parse()?),
            "event" => News::Event(self.parse()?),
            "delivery" => News::Delivery(self.parse()?),
            "refused" => News::Refused(self.parse()?),
            "skipped" => News::Skipped(self.parse()?),
            "tunnel" => News::Tunnel(self.parse()?),
            "gap" => News::Gap(self.parse()?),
            _ => News::Other,
        })
    }

    fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, CliError> {
        T::deserialize(&self.data).map_err(|error| CliError::Answer(format!("{}: {error}", self.name)))
    }
}

impl Serialize for Message {
    /// As one object with its name as the only key: `{"delivery":{…}}`.
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map([(&self.name, &self.data)])
    }
}

/// Puts messages together from pieces of a `text/event-stream`.
#[derive(Default)]
struct Reader {
    unread: Vec<u8>,
    name: String,
    data: String,
}

impl Reader {
    fn push(&mut self, piece: &Bytes) {
        self.unread.extend_from_slice(piece);
    }

    fn next(&mut self) -> Option<Message> {
        let mut done = 0;
        let mut message = None;
        while message.is_none()
            && let Some(length) = self.unread[done..].iter().position(|byte| *byte == b'\n')
        {
            let line = String::from_utf8_lossy(&self.unread[done..done + length]).into_owned();
            done += length + 1;
            message = self.take(line.strip_suffix('\r').unwrap_or(&line));
        }
        self.unread.drain(..done);
        message
    }

    /// Takes one line; an empty one ends a message.
    fn take(&mut self, line: &str) -> Option<Message> {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" if self.data.is_empty() => value.clone_into(&mut self.data),
            "data" => {
                self.data.push('\n');
                self.data.push_str(value);
            }
            "" if line.is_empty() => return self.finish(),
            _ => {} // comments that keep the line warm, ids, fields of a later version
        }
        None
    }

    fn finish(&mut self) -> Option<Message> {
        let (name, data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
        let data = serde_json::from_str(&data).ok()?;
        Some(Message { name, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_put_together_from_any_pieces() {
        let stream =
            ": warm\n\nevent: a\ndata: {\"x\":\r\ndata: 1}\r\n\r\nid: 7\nevent:b\ndata:2\n\nevent: c\ndata";
        for size in [1, 2, 3, 7, 1000] {
            let mut reader = Reader::default();
            let mut found = Vec::new();
            for piece in stream.as_bytes().chunks(size) {
                reader.push(&Bytes::copy_from_slice(piece));
                found.extend(std::iter::from_fn(|| reader.next()));
            }
            let lines: Vec<_> = found.iter().map(|message| serde_json::to_string(message).unwrap()).collect();
            assert_eq!(lines, [r#"{"a":{"x":1}}"#, r#"{"b":2}"#], "pieces of {size}");
        }
    }
}
