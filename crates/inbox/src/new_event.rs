//! What is stored, and what became of it.

use hookmitt_event::{
    Cause, DedupeKey, DeliveryId, EventId, Facts, HandshakeAnswer, HeaderLines, OnDuplicate, Request,
    TargetId, Timestamp, Verdict, Via,
};

use crate::SingleUse;

/// A judged request, ready to be stored.
#[derive(Clone, Debug)]
pub struct NewEvent {
    /// Its id, made by the caller.
    pub id: EventId,
    /// The row of its source.
    pub source: i64,
    /// The request, byte for byte.
    pub request: Request,
    /// The URL as the provider called it, where it isn't `http://` + Host + `/slug` + path.
    pub url: Option<String>,
    /// The sender's address.
    pub remote: Option<String>,
    /// When it was received.
    pub received_at: Timestamp,
    /// How it came in.
    pub via: Via,
    /// The catalogue id of its provider.
    pub provider: Option<String>,
    /// It may set the provider of its source. Whether it does is decided where it is stored.
    pub finds_provider: bool,
    /// What was read out of it.
    pub facts: Facts,
    /// What it was answered as a set-up request.
    pub handshake_answer: Option<HandshakeAnswer>,
    /// What verification found.
    pub verdict: Verdict,
    /// Why.
    pub causes: Vec<Cause>,
    /// SHA-256 of the body.
    pub sha256: [u8; 32],
    /// What makes it the same as another.
    pub dedupe_key: DedupeKey,
    /// The first 16 bytes of SHA-256 over the key as it prints.
    pub key_hash: [u8; 16],
    /// Whether it may own its key: valid where the source can prove anything, and not from a web page.
    pub may_own: bool,
    /// The signed id that only this body may come under; `None` where the signature covers the body.
    pub single_use: Option<SingleUse>,
    /// Whether the source rejects, so that another body under that id is withheld.
    pub rejects: bool,
    /// What the source does with a repeat.
    pub on_duplicate: OnDuplicate,
    /// Sent by a web page of another origin, or by one that may be.
    pub browser: bool,
    /// A web page's navigation that is forwarded all the same.
    pub callback: bool,
    /// The name that it was called by, where it is withheld because that is none of this machine's.
    pub foreign_host: Option<String>,
    /// The delivery of ours that it says it is: where that is so, it isn't forwarded again.
    pub delivery_of: Option<DeliveryId>,
    /// Tunnel and sequence, or sync id: a re-send with the same adds no row.
    pub arrival_key: Option<Vec<u8>>,
    /// The lines that a relay's trusted proxy added to the request's own.
    pub forwarded: Option<HeaderLines>,
    /// The tunnel whose open gap it was caught up from.
    pub caught_up_by: Option<i64>,
    /// The event that it is an edit of.
    pub parent: Option<EventId>,
    /// Where it goes.
    pub route: Route,
}

/// What became of a new event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The id of the event: an earlier one's, where the arrival key was known.
    pub id: EventId,
    /// Its sequence number.
    pub seq: i64,
    /// The first event with the same key.
    pub duplicate_of: Option<EventId>,
    /// The deliveries that wait to be sent.
    pub waiting: Vec<TargetId>,
    /// How many deliveries the event has, those skipped included.
    pub deliveries: u32,
    /// Another request came under its arrival key or its id before.
    pub name_was_used: bool,
    /// It is withheld, for its signed id came with another body before.
    pub turned_away: bool,
    /// It set the provider of its source.
    pub set_provider: bool,
}

/// Where an arriving event is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// To its source's targets.
    Targets,
    /// To its source's targets, but not by itself: its deliveries are `skipped`, for the reason given.
    Withheld(&'static str),
    /// To its source's targets, once it is found valid: until then its deliveries are `skipped`.
    AwaitsVerdict,
    /// To these targets alone, whatever it repeats.
    To(Vec<TargetId>),
    /// Nowhere.
    Nowhere,
}

impl NewEvent {
    /// About how many bytes it adds. Never none: on a disk that is nearly full, only what adds something is refused, and
    /// keeps its place among what is.
    pub(crate) fn weight(&self) -> usize {
        let Request { headers, body, .. } = &self.request;
        1 + headers.as_wire().len() + body.len()
    }
}
