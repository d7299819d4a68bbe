//! Events, as the API and the command line print them.

use hookmitt_event::{
    Actor, Cause, Delivery, Event, EventId, EventStatus, Glance, HandshakeAnswer, HandshakeOffer,
    HeaderLines, HttpVersion, SenderAnswer, Slug, Tag, Timestamp, Verdict, Via,
};
use serde::{Deserialize, Serialize};

use crate::{delivery_json::DeliveryJson, withheld::Withheld};

/// An event in JSON, the same from the command line and the API.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct EventJson {
    /// The event's id, a UUIDv7.
    #[schema(value_type = String, format = "uuid")]
    pub id: EventId,
    /// The sequence number (the number after `#`).
    pub seq: i64,
    /// The source's slug.
    pub source: Slug,
    /// The catalogue id of the provider.
    pub provider: Option<String>,
    /// The provider's event type.
    pub r#type: Option<String>,
    /// A short subject for people.
    pub title: Option<String>,
    /// The request's method.
    pub method: String,
    /// The raw path after the slug.
    pub path: String,
    /// The raw query; null if there is no `?`.
    pub query: Option<String>,
    /// The URL that the provider called.
    pub url: String,
    /// `HTTP/1.0` or `HTTP/1.1`.
    pub http_version: HttpVersion,
    /// The sender's address.
    pub remote: Option<String>,
    /// The header lines as `[name, value]`, in order. A value that is not UTF-8 is `{"base64": …}`.
    #[schema(value_type = Vec<(String, hookmitt_event::HeaderValueJson)>)]
    pub headers: HeaderLines,
    /// The size of the body in bytes.
    pub size: u64,
    /// SHA-256 of the body, in hex.
    pub sha256: String,
    /// When the event was received, RFC 3339.
    #[schema(value_type = String, format = "date-time")]
    pub received_at: Timestamp,
    /// When the event happened, by the provider's clock.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub event_time: Option<Timestamp>,
    /// How the event came in.
    pub via: Via,
    /// What signature verification found.
    pub verdict: Verdict,
    /// Why the verdict is `invalid`, likeliest cause first.
    pub causes: Vec<Cause>,
    /// The dedupe key, `id:…` or `content:…`.
    pub dedupe_key: Option<String>,
    /// The first event with the same dedupe key, if this event is a duplicate.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub duplicate_of: Option<EventId>,
    /// Whether the event is a duplicate with other bytes than the first event.
    pub conflict: bool,
    /// Whether a newer event for the same object had already been delivered.
    pub stale: bool,
    /// Whether a web page other than Hookmitt's own sent the request, or may have sent it.
    pub browser: bool,
    /// Why the event was not forwarded automatically, if a web page is the reason. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
    /// The event of which this event is an edited copy.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub parent: Option<EventId>,
    /// The name of the set-up request, if the event is one.
    pub handshake: Option<String>,
    /// When the event was moved to the bin.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub deleted_at: Option<Timestamp>,
    /// Who moved the event to the bin. Present only in the list of the bin, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_by: Option<Actor>,
    /// Whether a person pinned the event, so that retention keeps it.
    #[serde(default)]
    pub pinned: bool,
    /// The tags that people gave to the event, sorted.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub tags: Vec<Tag>,
    /// What a person noted about the event.
    pub note: Option<String>,
    /// The most important state among the event's deliveries.
    pub status: EventStatus,
    /// The header lines that a relay's trusted proxy added, in the form of `headers`. Present only if a single event is
    /// shown and there are such lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<(String, hookmitt_event::HeaderValueJson)>>)]
    pub forwarded: Option<HeaderLines>,
    /// The event's deliveries. Present only if a single event is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliveries: Option<Vec<DeliveryJson>>,
    /// The answer to the set-up request. Present only if there was an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_answer: Option<HandshakeAnswer>,
    /// What a person can do about the set-up request. Present only if a single event is shown and there is something to
    /// do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_offer: Option<HandshakeOffer>,
    /// What the sender was answered. Present only if a single event is shown and somebody asked; absent if it isn't
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<SenderAnswer>,
    /// Why nothing can be done about the set-up request, or why it was not answered, and what to do instead. Present
    /// only if a single event is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_note: Option<Cause>,
    /// Which part of the body the valid signature does not cover, in a sentence. Present only if a single event is
    /// shown and there is such a part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncovered: Option<String>,
    /// The event's copies and its most important delivery. Present only if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glance: Option<Glance>,
}

impl EventJson {
    /// Makes the JSON form that lists use: an event with its status.
    pub fn new(event: &Event, status: EventStatus) -> Self {
        Self {
            id: event.id,
            seq: event.seq,
            source: event.source.clone(),
            provider: event.provider.clone(),
            r#type: event.event_type.clone(),
            title: event.title.clone(),
            method: event.request.method.clone(),
            path: event.request.path.clone(),
            query: event.request.query.clone(),
            url: event.url.clone(),
            http_version: event.request.version,
            remote: event.remote.clone(),
            headers: event.request.headers.clone(),
            size: event.size,
            sha256: hex::encode(event.sha256),
            received_at: event.received_at,
            event_time: event.event_time,
            via: event.via,
            verdict: event.verdict,
            causes: event.causes.clone(),
            dedupe_key: event.dedupe_key.as_ref().map(ToString::to_string),
            duplicate_of: event.duplicate_of,
            conflict: event.conflict,
            stale: event.stale,
            browser: event.browser,
            withheld: Withheld::of(event),
            parent: event.parent,
            handshake: event.handshake.clone(),
            deleted_at: event.deleted_at,
            deleted_by: None,
            pinned: event.pinned,
            tags: event.tags.clone(),
            note: event.note.clone(),
            status,
            forwarded: event.forwarded.clone(),
            deliveries: None,
            handshake_answer: event.handshake_answer.clone(),
            answered: event.answered,
            handshake_offer: None,
            handshake_note: None,
            uncovered: None,
            glance: None,
        }
    }

    /// Makes the JSON form of a single event with its deliveries.
    pub fn shown(event: &Event, deliveries: &[Delivery]) -> Self {
        let status = EventStatus::of(deliveries.iter().map(|delivery| delivery.state));
        let deliveries = deliveries.iter().map(DeliveryJson::from).collect();
        Self { deliveries: Some(deliveries), ..Self::new(event, status) }
    }
}
