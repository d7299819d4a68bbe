//! Events as the API and the command line print them.

use hookmitt_event::{
    Cause, Delivery, Event, EventId, EventStatus, Glance, HandshakeAnswer, HandshakeOffer, HeaderLines,
    HttpVersion, Slug, Timestamp, Verdict, Via,
};
use serde::{Deserialize, Serialize};

use crate::{delivery_json::DeliveryJson, withheld::Withheld};

/// An event in JSON, for the command line and the API alike.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct EventJson {
    /// UUIDv7.
    #[schema(value_type = String, format = "uuid")]
    pub id: EventId,
    /// The number after `#`.
    pub seq: i64,
    /// The source's slug.
    pub source: Slug,
    /// The catalogue id of the provider.
    pub provider: Option<String>,
    /// The provider's event type.
    pub r#type: Option<String>,
    /// A short human subject.
    pub title: Option<String>,
    /// The method.
    pub method: String,
    /// The raw path after the slug.
    pub path: String,
    /// The raw query; null without `?`.
    pub query: Option<String>,
    /// The URL as the provider called it.
    pub url: String,
    /// `HTTP/1.0` or `HTTP/1.1`.
    pub http_version: HttpVersion,
    /// The sender's address.
    pub remote: Option<String>,
    /// `[name, value]` in order; a value that is not UTF-8 as `{"base64": …}`.
    #[schema(value_type = Vec<(String, hookmitt_event::HeaderValueJson)>)]
    pub headers: HeaderLines,
    /// Bytes of the body.
    pub size: u64,
    /// SHA-256 of the body, hex.
    pub sha256: String,
    /// When it was received, RFC 3339.
    #[schema(value_type = String, format = "date-time")]
    pub received_at: Timestamp,
    /// When it happened, by the provider's clock.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub event_time: Option<Timestamp>,
    /// How it came in.
    pub via: Via,
    /// What verification found.
    pub verdict: Verdict,
    /// Why it is invalid, likeliest first.
    pub causes: Vec<Cause>,
    /// `id:…` or `content:…`.
    pub dedupe_key: Option<String>,
    /// The first event with the same key.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub duplicate_of: Option<EventId>,
    /// A duplicate with other bytes.
    pub conflict: bool,
    /// Older than one already delivered for the same object.
    pub stale: bool,
    /// Sent by a web page of another origin, or by one that may be.
    pub browser: bool,
    /// Why it was not forwarded by itself, where a web page is the reason; absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
    /// The event that this is an edit of.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub parent: Option<EventId>,
    /// The set-up request that this is.
    pub handshake: Option<String>,
    /// When it was put in the bin.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub deleted_at: Option<Timestamp>,
    /// The most telling state of its deliveries.
    pub status: EventStatus,
    /// The lines that a relay's trusted proxy added, as `headers`; only where one event is shown and there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<(String, hookmitt_event::HeaderValueJson)>>)]
    pub forwarded: Option<HeaderLines>,
    /// Its deliveries; only where one event is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliveries: Option<Vec<DeliveryJson>>,
    /// What its set-up request was answered; only where there was an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_answer: Option<HandshakeAnswer>,
    /// What can be done with its set-up request by hand; only where one event is shown and something can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_offer: Option<HandshakeOffer>,
    /// Why nothing can be done so, or why it was not answered, and what to do instead; only where one event is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_note: Option<Cause>,
    /// What of the body its valid signature leaves open, in a sentence; only where one event is shown and there is such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncovered: Option<String>,
    /// Its copies and its most telling delivery; only where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glance: Option<Glance>,
}

impl EventJson {
    /// An event with its status, as a list prints it.
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
            status,
            forwarded: event.forwarded.clone(),
            deliveries: None,
            handshake_answer: event.handshake_answer.clone(),
            handshake_offer: None,
            handshake_note: None,
            uncovered: None,
            glance: None,
        }
    }

    /// An event with its deliveries, as `show` prints it.
    pub fn shown(event: &Event, deliveries: &[Delivery]) -> Self {
        let status = EventStatus::of(deliveries.iter().map(|delivery| delivery.state));
        let deliveries = deliveries.iter().map(DeliveryJson::from).collect();
        Self { deliveries: Some(deliveries), ..Self::new(event, status) }
    }
}
