//! Requests that were not taken, so that they can be logged and shown.

use std::net::SocketAddr;

use hookmitt_event::Timestamp;

use crate::head::BodyLength;

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
    /// The body is larger than is taken.
    TooLarge,
    /// The body stopped before its end, or its end can't be told.
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
            Self::TooLarge => "body-too-large",
            Self::Truncated => "body-truncated",
            Self::TooSlow => "body-too-slow",
            Self::Unavailable => "not-stored",
        }
    }
}

/// A body that was not gathered whole.
pub(crate) struct Short {
    pub(crate) status: u16,
    pub(crate) reason: RefusalReason,
    pub(crate) message: String,
    pub(crate) hint: &'static str,
}

impl Short {
    pub(crate) fn slow(so_far: usize) -> Self {
        Self {
            status: 408,
            reason: RefusalReason::TooSlow,
            message: format!("the body stopped for too long after {so_far} bytes"),
            hint: "send the whole body without long pauses",
        }
    }

    pub(crate) fn chunks(why: &str) -> Self {
        Self {
            status: 400,
            reason: RefusalReason::Truncated,
            message: format!("the chunked body is malformed: {why}"),
            hint: "write chunks as RFC 9112, 7.1 says, or send Content-Length; nothing was stored",
        }
    }

    pub(crate) fn truncated(so_far: usize, length: BodyLength) -> Self {
        let message = match length {
            BodyLength::Known(length) => format!("the body ended after {so_far} of {length} bytes"),
            BodyLength::Chunked => format!("the chunked body broke off after {so_far} bytes"),
        };
        let hint = "send the whole body; nothing was stored";
        Self { status: 400, reason: RefusalReason::Truncated, message, hint }
    }
}
