//! What happens, as it happens: the API's event stream.

use hookmitt_api::{BoxBody, DeliveryJson, EventJson};
use hookmitt_call::{Messages, Sse};
use hookmitt_event::Timestamp;
use http_body_util::BodyDataStream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    failure::CliError,
    tunnel_view::{Gap, Tunnel},
};

/// The longest message; no event is shown with more.
const LONGEST: usize = 16 * 1024 * 1024;

/// A stream of news. Dropping it ends it.
pub(crate) struct Live(Messages);

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
        Self(Messages::new(BodyDataStream::new(body), LONGEST))
    }

    /// The next message; `None` at the end. May be dropped between two polls without loss.
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
