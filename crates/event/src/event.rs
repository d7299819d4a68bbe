//! One captured request and everything that is known about it.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{Cause, EventId, HeaderLines, Request, Slug, Timestamp, Verdict};

/// How an event came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// Posted to the capture port.
    Direct,
    /// Through a relay.
    Tunnel,
    /// Fetched from the provider's own API.
    BackupSync,
    /// From a fixture or HAR file.
    Import,
    /// Made by `hookmitt send`.
    Send,
    /// An edited or re-signed copy of another event.
    Edit,
}

impl Via {
    /// Every way in, in the order in which the inbox numbers them from 0.
    pub const ALL: [Self; 6] =
        [Self::Direct, Self::Tunnel, Self::BackupSync, Self::Import, Self::Send, Self::Edit];
}

/// What a provider's catalogue entry (or a generic source's settings) reads out of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The provider's own id of the event, where the request names one.
    pub event_id: Option<String>,
    /// The type, such as `push` or `invoice.paid`.
    pub event_type: Option<String>,
    /// A short human subject, such as `octocat/hello: Fix the build`.
    pub title: Option<String>,
    /// When it happened, by the provider's clock.
    pub event_time: Option<Timestamp>,
    /// The object that the event is about, where order matters (`cus_123`).
    pub object: Option<String>,
    /// The set-up request that this is, such as `url_verification`.
    pub handshake: Option<&'static str>,
}

/// What a set-up request was answered, without its header lines: those may carry a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HandshakeAnswer {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: String,
    /// When the URL was called that confirms it.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub confirmed_at: Option<Timestamp>,
}

/// What can be done with a set-up request by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HandshakeOffer {
    /// It delivers the secret that signs from now on, and that isn't kept yet.
    SaveSecret,
    /// A URL of the provider's is to be called.
    Confirm,
}

/// Whose secret made the signature of an event that was signed here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignedWith {
    /// None: the event was edited, and not signed anew.
    Nothing,
    /// A public test secret, by its name.
    Test(String),
    /// A secret of the owner's; with the place of the signature, where a scheme of the source's own signed.
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
            _ => return Err(format!("nobody signs so: {text}")),
        })
    }
}

/// What makes two events of a source the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DedupeKey {
    /// The provider's event id.
    Id(String),
    /// SHA-256 (hex) over method, path, query and body, where the provider names no id. Holds for five minutes.
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

/// One captured request as the inbox holds it.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its id.
    pub id: EventId,
    /// Its sequence number in this inbox, from 1: `#1234`.
    pub seq: i64,
    /// The source that it came in under.
    pub source: Slug,
    /// The catalogue id of its provider, set or recognised.
    pub provider: Option<String>,
    /// The request, byte for byte. The body is empty where a list was asked for; `size` still holds.
    pub request: Request,
    /// The URL as the provider called it.
    pub url: String,
    /// The sender's address.
    pub remote: Option<String>,
    /// The lines that a relay's trusted proxy added to the request's own. Only where one event is asked for.
    pub forwarded: Option<HeaderLines>,
    /// What was read out of it.
    pub event_type: Option<String>,
    /// A short human subject.
    pub title: Option<String>,
    /// When it happened, by the provider's clock.
    pub event_time: Option<Timestamp>,
    /// Bytes of the body.
    pub size: u64,
    /// SHA-256 of the body.
    pub sha256: [u8; 32],
    /// When it was received.
    pub received_at: Timestamp,
    /// How long it has been stored when it was read, by the inbox's own clock; known only where one whole event is read,
    /// and not of what an earlier version stored.
    pub stored_for: Option<Duration>,
    /// How it came in.
    pub via: Via,
    /// What verification found.
    pub verdict: Verdict,
    /// Why the verdict is `invalid`, likeliest first.
    pub causes: Vec<Cause>,
    /// What makes it the same as another.
    pub dedupe_key: Option<DedupeKey>,
    /// The first event with the same key.
    pub duplicate_of: Option<EventId>,
    /// A duplicate with other bytes than its first.
    pub conflict: bool,
    /// Older than an event already delivered for the same object.
    pub stale: bool,
    /// Sent by a web page of another origin, or by one that may be.
    pub browser: bool,
    /// A web page's navigation that was forwarded all the same, as the local server answers it (`respond = app`).
    pub callback: bool,
    /// The name that it was called by, where it was withheld because that is none of this machine's.
    pub foreign_host: Option<String>,
    /// The event that this one is an edit of.
    pub parent: Option<EventId>,
    /// The set-up request that this is.
    pub handshake: Option<String>,
    /// What that was answered.
    pub handshake_answer: Option<HandshakeAnswer>,
    /// When it was put in the bin.
    pub deleted_at: Option<Timestamp>,
    /// Whose secret made its signature, where it was signed here.
    pub signed_with: Option<SignedWith>,
}
