//! What callers hand in to be stored, and what they get back.

use std::time::{Duration, Instant};

use hookmitt_event::{
    Cause, DedupeKey, DeliveryId, EventId, Facts, HandshakeAnswer, HeaderLines, OnDuplicate, Request,
    TargetId, Timestamp, Verdict, Via,
};

use crate::SingleUse;

/// A request with its verdict, ready to be stored.
#[derive(Clone, Debug)]
pub struct NewEvent {
    /// The event's id, made by the caller.
    pub id: EventId,
    /// The row of the event's source.
    pub source: i64,
    /// The request, byte for byte.
    pub request: Request,
    /// The URL that the provider called, if it isn't `http://` + Host + `/slug` + path.
    pub url: Option<String>,
    /// The sender's address.
    pub remote: Option<String>,
    /// When the request was received.
    pub received_at: Timestamp,
    /// How the event came in.
    pub via: Via,
    /// The catalogue id of the event's provider.
    pub provider: Option<String>,
    /// Whether the event may set the provider of its source. Whether it does is decided when it is stored.
    pub finds_provider: bool,
    /// What was read out of the request: type, title, time and so on.
    pub facts: Facts,
    /// The answer that the request got as a set-up request.
    pub handshake_answer: Option<HandshakeAnswer>,
    /// What verification found.
    pub verdict: Verdict,
    /// Why verification found that.
    pub causes: Vec<Cause>,
    /// SHA-256 of the body.
    pub sha256: [u8; 32],
    /// What makes the event the same as another one.
    pub dedupe_key: DedupeKey,
    /// The first 16 bytes of the SHA-256 of the key's text.
    pub key_hash: [u8; 16],
    /// Whether the event may own its dedupe key: it must be valid if its source can prove anything, and must not come
    /// from a web page.
    pub may_own: bool,
    /// The signed id under which only this body may come; `None` if the signature covers the body.
    pub single_use: Option<SingleUse>,
    /// Whether the source rejects events that aren't valid. If so, another body under that signed id is withheld.
    pub rejects: bool,
    /// What the source does with a duplicate.
    pub on_duplicate: OnDuplicate,
    /// Whether the request was sent by a web page that is, or may be, of another origin.
    pub browser: bool,
    /// Whether the request is a web page's navigation that is forwarded nevertheless.
    pub callback: bool,
    /// The host name that the request named, if the event is withheld because that name is not one of this machine's.
    pub foreign_host: Option<String>,
    /// The delivery of ours that the request claims to be. If that delivery exists, the event isn't forwarded again.
    pub delivery_of: Option<DeliveryId>,
    /// Tunnel and sequence number, or sync id. A re-send with the same key adds no row.
    pub arrival_key: Option<Vec<u8>>,
    /// The hash of the event's type and object, if backup sync of its source copies objects ([`object_hash`]).
    ///
    /// [`object_hash`]: crate::object_hash
    pub object_key: Option<[u8; 16]>,
    /// The header lines that a relay's trusted proxy added to the request's own.
    pub forwarded: Option<HeaderLines>,
    /// The tunnel whose open gap counts the event as caught up.
    pub caught_up_by: Option<i64>,
    /// What the sender is answered, if that is known before the event is stored.
    pub planned: Option<PlannedAnswer>,
    /// The event of which this one is an edit.
    pub parent: Option<EventId>,
    /// The event in place of which this one is stored: it is deleted in the same commit.
    pub moved_from: Option<EventId>,
    /// Where the event goes.
    pub route: Route,
}

/// The answer to a sender, if it is known before the event is stored.
#[derive(Clone, Copy, Debug)]
pub enum PlannedAnswer {
    /// It goes out as soon as the event is stored.
    Ours {
        /// The status.
        status: u16,
        /// When the whole request was there.
        since: Instant,
        /// How long the answer is delayed once the event is stored.
        delay: Duration,
    },
    /// The channel through which the event came has answered already.
    Channels,
}

/// What stands for a channel's answer in place of a status.
pub(crate) const CHANNELS: u16 = 0;

impl PlannedAnswer {
    /// Returns the status, and how long after the request the answer goes out, if the event is stored now.
    pub(crate) fn now(&self) -> (u16, Option<Duration>) {
        match self {
            Self::Ours { status, since, delay } => (*status, Some(since.elapsed() + *delay)),
            Self::Channels => (CHANNELS, None),
        }
    }
}

/// What became of a new event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The id of the stored event: an earlier event's if the arrival key was known.
    pub id: EventId,
    /// The event's sequence number.
    pub seq: i64,
    /// The first event with the same dedupe key, if this one is a duplicate.
    pub duplicate_of: Option<EventId>,
    /// The targets of the deliveries that wait to be sent, or that waited for an event that was moved.
    pub waiting: Vec<TargetId>,
    /// How many deliveries were made for the event, including skipped ones.
    pub deliveries: u32,
    /// Whether another request came before under the same arrival key or id.
    pub name_was_used: bool,
    /// Whether the event is withheld because its signed id came before with another body.
    pub turned_away: bool,
    /// Whether the event set the provider of its source.
    pub set_provider: bool,
    /// How long after the request a planned answer goes out, as it was stored.
    pub answered_after: Option<Duration>,
}

/// Where an arriving event goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// To its source's targets.
    Targets,
    /// To its source's targets, but only by hand: its deliveries are `skipped`, for this reason.
    Withheld(&'static str),
    /// To its source's targets once the event is found valid. Until then its deliveries are `skipped`.
    AwaitsVerdict,
    /// To these targets only, even if the event is a duplicate.
    To(Vec<TargetId>),
    /// Nowhere.
    Nowhere,
}

impl NewEvent {
    /// Returns about how many bytes the event adds, never zero. If the disk is nearly full, only jobs with a weight are
    /// refused; an event must be refused in its turn, and not overtake an earlier one.
    pub(crate) fn weight(&self) -> usize {
        let Request { headers, body, .. } = &self.request;
        1 + headers.as_wire().len() + body.len()
    }
}
