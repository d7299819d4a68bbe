//! One captured request and everything that is known about it.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{Cause, EventId, HeaderLines, Request, Slug, Tag, Timestamp, Verdict};

/// How an event came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// It came in at the capture port.
    Direct,
    /// It came through a relay.
    Tunnel,
    /// It was fetched from the provider's own API.
    BackupSync,
    /// It was imported from a fixture or HAR file.
    Import,
    /// `hookmitt send` made it.
    Send,
    /// It is an edited or re-signed copy of another event.
    Edit,
}

impl Via {
    /// Every way in. The inbox stores one as its position here, from 0.
    pub const ALL: [Self; 6] =
        [Self::Direct, Self::Tunnel, Self::BackupSync, Self::Import, Self::Send, Self::Edit];

    /// Returns the name used in JSON and filters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Tunnel => "tunnel",
            Self::BackupSync => "backup_sync",
            Self::Import => "import",
            Self::Send => "send",
            Self::Edit => "edit",
        }
    }
}

/// The facts that a provider's catalogue entry (or a generic source's settings) reads out of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The provider's own id of the event, if the request has one.
    pub event_id: Option<String>,
    /// The event's type, such as `push` or `invoice.paid`.
    pub event_type: Option<String>,
    /// A short subject for people, such as `octocat/hello: Fix the build`.
    pub title: Option<String>,
    /// When the event happened, by the provider's clock.
    pub event_time: Option<Timestamp>,
    /// The object that the event is about, such as `cus_123`, if the order of events matters for it.
    pub object: Option<String>,
    /// The name of the set-up request, such as `url_verification`, if the request is one.
    pub handshake: Option<&'static str>,
}

/// The answer to a set-up request, without its header lines because they may contain a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HandshakeAnswer {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: String,
    /// When the confirmation URL was called, if the set-up request asks for that and it was done.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, format = "date-time"))]
    pub confirmed_at: Option<Timestamp>,
}

/// Who answered the sender of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Answerer {
    /// Hookmitt did, at a port of its own.
    Hookmitt,
    /// The relay did. If the sender was held for an answer, Hookmitt gave the relay one to pass on.
    Relay,
    /// The channel did, before the event came in.
    Channel,
}

/// What the sender of an event was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SenderAnswer {
    /// Who answered.
    pub by: Answerer,
    /// The status that Hookmitt answered, or gave the relay to pass on. Null if it did neither.
    pub status: Option<u16>,
    /// How long after the whole request was there, in milliseconds.
    pub after_ms: Option<u64>,
}

/// What a person can do about a set-up request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum HandshakeOffer {
    /// Save the secret that the request delivers. The provider signs with it from now on, and it is not stored yet.
    SaveSecret,
    /// Call the provider's confirmation URL.
    Confirm,
}

/// The secret that made the signature of an event that was signed here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignedWith {
    /// No secret: the event was edited and not signed again.
    Nothing,
    /// A public test secret, with its name.
    Test(String),
    /// A secret of the user's own. If the source defines its own scheme, this also holds the place of the signature.
    Own(Option<String>),
}

impl fmt::Display for SignedWith {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => out.write_str("nothing"),
            Self::Test(name) => write!(out, "test:{name}"),
            Self::Own(None) => out.write_str("own"),
            Self::Own(Some(place)) => write!(out, "own:{place}"),
        }
    }
}

impl FromStr for SignedWith {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.split_once(':') {
            None if text == "nothing" => Self::Nothing,
            None if text == "own" => Self::Own(None),
            Some(("test", name)) => Self::Test(name.to_owned()),
            Some(("own", place)) => Self::Own(Some(place.to_owned())),
            _ => return Err(format!("not a way of signing: {text}")),
        })
    }
}

/// The key by which two events of a source count as the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DedupeKey {
    /// The provider's event id.
    Id(String),
    /// SHA-256 (hex) over method, path, query and body, if the provider gives no id. It identifies duplicates for five
    /// minutes only.
    Content(String),
}

impl fmt::Display for DedupeKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(out, "id:{id}"),
            Self::Content(hash) => write!(out, "content:{hash}"),
        }
    }
}

impl FromStr for DedupeKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some(("id", id)) => Ok(Self::Id(id.to_owned())),
            Some(("content", hash)) => Ok(Self::Content(hash.to_owned())),
            _ => Err(format!("not a dedupe key: {text}")),
        }
    }
}

/// One captured request as the inbox stores it.
#[derive(Clone, Debug)]
pub struct Event {
    /// The event's id.
    pub id: EventId,
    /// The event's sequence number in this inbox, from 1 (`#1234`).
    pub seq: i64,
    /// The source to which the event was sent.
    pub source: Slug,
    /// The catalogue id of the provider, whether set by hand or recognised.
    pub provider: Option<String>,
    /// The request, byte for byte. In lists its body is empty; `size` holds the body's size all the same.
    pub request: Request,
    /// The URL that the provider called.
    pub url: String,
    /// The sender's address.
    pub remote: Option<String>,
    /// The header lines that a relay's trusted proxy added to the request. Read only with a single event.
    pub forwarded: Option<HeaderLines>,
    /// The event's type, as read out of the request.
    pub event_type: Option<String>,
    /// A short subject for people.
    pub title: Option<String>,
    /// When the event happened, by the provider's clock.
    pub event_time: Option<Timestamp>,
    /// The size of the body in bytes.
    pub size: u64,
    /// SHA-256 of the body.
    pub sha256: [u8; 32],
    /// When the event was received.
    pub received_at: Timestamp,
    /// How long the event had been stored when it was read, by the inbox's own clock. Known only if a single whole
    /// event is read, and not for events that an earlier version stored.
    pub stored_for: Option<Duration>,
    /// How the event came in.
    pub via: Via,
    /// What signature verification found.
    pub verdict: Verdict,
    /// Why the verdict is `invalid`, likeliest cause first.
    pub causes: Vec<Cause>,
    /// The key by which the event's duplicates are found.
    pub dedupe_key: Option<DedupeKey>,
    /// The first event with the same dedupe key, if this event is a duplicate.
    pub duplicate_of: Option<EventId>,
    /// Whether the event is a duplicate with other bytes than the first event.
    pub conflict: bool,
    /// Whether the event folds: it is a duplicate by its id, nothing of it was sent by itself, and nothing else is
    /// remarkable about it.
    pub folds: bool,
    /// Whether a newer event for the same object had already been delivered.
    pub stale: bool,
    /// Whether a web page other than Hookmitt's own sent the request, or may have sent it.
    pub browser: bool,
    /// Whether the event is a web page's navigation that was forwarded all the same, because the local server answers
    /// it (`respond = app`).
    pub callback: bool,
    /// The host name that was called, if the event was withheld because the name is not one of this machine's.
    pub foreign_host: Option<String>,
    /// What the sender was answered. Read only with a single event; `None` if nobody asked, or if it isn't known.
    pub answered: Option<SenderAnswer>,
    /// The event of which this event is an edited copy.
    pub parent: Option<EventId>,
    /// The name of the set-up request, if the event is one.
    pub handshake: Option<String>,
    /// The answer to the set-up request.
    pub handshake_answer: Option<HandshakeAnswer>,
    /// When the event was moved to the bin.
    pub deleted_at: Option<Timestamp>,
    /// The secret that made the event's signature, if the event was signed here.
    pub signed_with: Option<SignedWith>,
    /// Whether a person pinned the event, so that retention keeps it.
    pub pinned: bool,
    /// What a person noted about the event.
    pub note: Option<String>,
    /// The tags that people gave to the event, sorted.
    pub tags: Vec<Tag>,
}
