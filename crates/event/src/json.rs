//! Events as the command line and the API print them.

use serde::{Deserialize, Serialize};

use crate::{
    Attempt, Cause, Delivery, DeliveryId, DeliveryState, Event, EventId, EventStatus, Glance,
    HandshakeAnswer, HandshakeOffer, HeaderLines, HttpVersion, Queue, Slug, TargetId, Timestamp, Verdict,
    Via, Withheld,
};

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
    #[schema(value_type = Vec<(String, crate::HeaderValueJson)>)]
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
    #[schema(value_type = Option<Vec<(String, crate::HeaderValueJson)>>)]
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
            sha256: hex(&event.sha256),
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
            withheld: event.withheld(),
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

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}"); // writing to a String can't fail
        out
    })
}

/// A delivery in JSON.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeliveryJson {
    /// `<event id>.<n>`.
    #[schema(value_type = String)]
    pub id: DeliveryId,
    /// The target's URL.
    pub target: String,
    /// The target's id; it may be gone.
    pub target_id: TargetId,
    /// How far it has come.
    pub status: DeliveryState,
    /// A replay rather than the first hand-over.
    pub replay: bool,
    /// Where it stands while its target is paused or down; null elsewhere, and where more than one event is told of.
    pub queue: Option<Queue>,
    /// Why it was skipped, or the last thing that went wrong.
    pub last_error: Option<String>,
    /// When it is tried next.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub next_attempt_at: Option<Timestamp>,
    /// When it ended.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub completed_at: Option<Timestamp>,
    /// Its tries, in order.
    pub attempts: Vec<AttemptJson>,
}

impl From<&Delivery> for DeliveryJson {
    fn from(delivery: &Delivery) -> Self {
        Self {
            id: delivery.id,
            target: delivery.target_url.clone(),
            target_id: delivery.target,
            status: delivery.state,
            replay: delivery.replay,
            queue: delivery.queue,
            last_error: delivery.last_error.clone(),
            next_attempt_at: delivery.next_attempt_at,
            completed_at: delivery.completed_at,
            attempts: delivery.attempts.iter().map(AttemptJson::from).collect(),
        }
    }
}

/// One try in JSON.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AttemptJson {
    /// Which try, from 1.
    pub number: u32,
    /// When it began.
    #[schema(value_type = String, format = "date-time")]
    pub started_at: Timestamp,
    /// How long it took, in milliseconds; 0 where hookmitt ended before it did.
    pub duration_ms: u64,
    /// The status that was answered.
    pub response_status: Option<u16>,
    /// The header lines that were answered.
    #[schema(value_type = Vec<(String, crate::HeaderValueJson)>)]
    pub response_headers: HeaderLines,
    /// The first 64 KiB of the answer's body as text, lossily.
    pub response_body: String,
    /// There was more of the body than is kept (1 MiB) or shown here.
    pub response_truncated: bool,
    /// What went wrong, where no whole answer came.
    pub error: Option<String>,
    /// It was sent, and no answer came: whether it was acted on is not known.
    #[serde(default)]
    pub ambiguous: bool,
}

/// How much of a response's body a JSON answer carries; the API hands out the rest as bytes.
const SHOWN_BODY: usize = 64 * 1024;

impl From<&Attempt> for AttemptJson {
    fn from(attempt: &Attempt) -> Self {
        let shown = &attempt.body[..attempt.body.len().min(SHOWN_BODY)];
        let head = attempt.response.as_ref();
        Self {
            number: attempt.number,
            started_at: attempt.started_at,
            duration_ms: u64::try_from(attempt.duration.as_millis()).unwrap_or(u64::MAX),
            response_status: head.map(|head| head.status),
            response_headers: head.map(|head| head.headers.clone()).unwrap_or_default(),
            response_body: String::from_utf8_lossy(shown).into_owned(),
            response_truncated: attempt.body_truncated || shown.len() < attempt.body.len(),
            error: attempt.error.clone(),
            ambiguous: attempt.is_ambiguous(),
        }
    }
}
