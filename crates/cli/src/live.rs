//! The API's event stream.

use hookmitt_api::{BoxBody, DeliveryJson, EventJson};
use hookmitt_call::{Messages, Sse};
use hookmitt_event::{Timestamp, Verdict};
use http_body_util::BodyDataStream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    failure::CliError,
    tunnel_view::{Gap, Tunnel},
};

/// About how many bytes a message may have. A longer message ends the stream. The stream sends events without their
/// bodies, so they are much shorter.
const LONGEST: usize = 16 * 1024 * 1024;

/// The event stream. Dropping it closes the stream.
pub(crate) struct Live(Messages);

/// One message of the stream, as it arrived.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    /// The message's kind: `event`, `delivery`, `refused`, `skipped`, `tunnel`, `gap`, `listening`, or another one that
    /// the commands don't use, for example `config`.
    pub(crate) name: String,
    /// The message's content.
    pub(crate) data: Value,
}

/// One message of the stream, parsed.
pub(crate) enum News {
    /// `listen` is ready to take events.
    Listening(Listening),
    /// An event was stored or changed, for example judged again.
    Event(Box<EventJson>),
    /// A delivery changed its state.
    Delivery(Box<DeliveryNews>),
    /// A request was refused and not stored.
    Refused(RefusedNews),
    /// More events came than a person can read, and some were left out.
    Skipped(SkippedNews),
    /// A tunnel changed, for example its state.
    Tunnel(Box<Tunnel>),
    /// A gap ended: a tunnel was not connected for a time, and has caught up.
    Gap(Box<GapNews>),
    /// A message that the commands don't use, or that only a later version knows.
    Other,
}

/// The URLs at which `listen` takes events, and the URL to which it sends them.
#[derive(Debug, Deserialize)]
pub(crate) struct Listening {
    /// The target's URL.
    pub(crate) url: String,
    /// The URLs at which events are taken.
    #[serde(default)]
    pub(crate) capture_urls: Vec<String>,
}

/// A delivery that changed its state, with facts about its event.
#[derive(Debug, Deserialize)]
pub(crate) struct DeliveryNews {
    /// The event's number.
    pub(crate) seq: i64,
    /// The event's source.
    pub(crate) source: String,
    /// The event's type.
    pub(crate) r#type: Option<String>,
    /// The event's verdict.
    pub(crate) verdict: Verdict,
    /// The raw path of the event's request after the slug. `None` from an older hookmitt.
    #[serde(default)]
    pub(crate) path: Option<String>,
    /// The delivery.
    pub(crate) delivery: DeliveryJson,
}

/// Events that the stream left out.
#[derive(Debug, Deserialize)]
pub(crate) struct SkippedNews {
    /// How many events were left out.
    pub(crate) events: u64,
}

/// A gap that ended: a time when a tunnel was not connected.
#[derive(Debug, Deserialize)]
pub(crate) struct GapNews {
    /// The tunnel's name.
    pub(crate) label: String,
    /// The gap.
    #[serde(flatten)]
    pub(crate) gap: Gap,
}

/// A request that was refused.
#[derive(Debug, Deserialize)]
pub(crate) struct RefusedNews {
    /// When the request came.
    pub(crate) at: Timestamp,
    /// The sender's address.
    pub(crate) remote: Option<String>,
    /// The request target.
    pub(crate) target: Option<String>,
    /// The status of the answer.
    pub(crate) status: u16,
    /// Why it was refused.
    pub(crate) message: String,
}

impl Live {
    /// Reads the stream from a response's body.
    pub(crate) fn new(body: BoxBody) -> Self {
        Self(Messages::new(BodyDataStream::new(body), LONGEST))
    }

    /// Returns the next message that has JSON content, or `None` at the end or after an error. The future may be
    /// dropped without losing a message.
    pub(crate) async fn next(&mut self) -> Option<Message> {
        loop {
            let Sse { event, data, .. } = self.0.next().await?.ok()?;
            if let Ok(data) = serde_json::from_str(&data.unwrap_or_default()) {
                return Some(Message { name: event.unwrap_or_default(), data });
            }
        }
    }
}

impl Message {
    /// Returns the source of the event or delivery that the message is about. `None` for other messages.
    pub(crate) fn source(&self) -> Option<&str> {
        let is_of_one = matches!(self.name.as_str(), "event" | "delivery");
        self.data["source"].as_str().filter(|_| is_of_one)
    }

    /// Parses the message.
    ///
    /// # Errors
    /// Fails if the content does not fit the message's kind.
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
    /// Writes the message as an object whose only key is the message's kind: `{"delivery":{…}}`.
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map([(&self.name, &self.data)])
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt as _, Full};

    use super::*;

    #[tokio::test]
    async fn what_carries_no_json_is_left_out() {
        let text =
            ": warm\n\nevent: a\ndata: {\"x\":1}\n\nevent: b\ndata: x\n\nid: 7\n\nevent: c\ndata: 2\n\n";
        let mut live = Live::new(Full::from(text).map_err(|never| match never {}).boxed_unsync());
        let mut lines = Vec::new();
        while let Some(message) = live.next().await {
            lines.push(serde_json::to_string(&message).unwrap());
        }
        assert_eq!(lines, [r#"{"a":{"x":1}}"#, r#"{"c":2}"#]);
    }
}
