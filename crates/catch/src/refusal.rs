//! Requests that were not taken, so that they can be logged and shown.

use std::net::SocketAddr;

use hookmitt_event::Timestamp;

/// A request that was not stored.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// When.
    pub at: Timestamp,
    /// Who sent it.
    pub remote: SocketAddr,
    /// The request target, where there was one.
    pub target: Option<String>,
    /// The status that was answered.
    pub status: u16,
    /// The stable code of the answer.
    pub code: &'static str,
    /// What happened, as a sentence.
    pub message: String,
}

/// Why a request was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalReason {
    /// The head is malformed or too large.
    Head,
    /// The path names no source.
    Source,
    /// The body is larger than is taken.
    TooLarge,
    /// The body stopped before its end.
    Truncated,
    /// The body came too slowly.
    TooSlow,
    /// Too much is in flight.
    Unavailable,
}

impl RefusalReason {
    /// A stable code.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Head => "bad-request-head",
            Self::Source => "no-such-source",
            Self::TooLarge => "body-too-large",
            Self::Truncated => "body-truncated",
            Self::TooSlow => "body-too-slow",
            Self::Unavailable => "not-stored",
        }
    }
}
