//! Requests that were refused, so that they can be logged and shown.

use std::net::SocketAddr;

use hookmitt_event::{HeaderLines, Timestamp};

use crate::{Reply, head::BodyLength};

/// A request that was not stored.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// When it was refused.
    pub at: Timestamp,
    /// The sender's address.
    pub remote: SocketAddr,
    /// The head, if it was understood.
    pub head: Option<RefusedHead>,
    /// The size of the body in bytes, as the head stated it or as it was received.
    pub size: Option<u64>,
    /// The status of the answer.
    pub status: u16,
    /// The stable code of the answer.
    pub code: &'static str,
    /// What happened, as a sentence.
    pub message: String,
}

/// What is remembered of the head of a refused request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedHead {
    /// The method.
    pub method: String,
    /// The request target as it came.
    pub target: String,
    /// The header lines.
    pub headers: HeaderLines,
}

/// Why a request is refused, and what the sender is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// A stable code.
    pub code: &'static str,
    /// What happened, as a sentence.
    pub message: String,
    /// The answer.
    pub reply: Reply,
}

impl Denial {
    /// Makes a denial with a stable code and the next step.
    pub fn new(status: u16, code: &'static str, message: impl Into<String>, hint: &str) -> Self {
        let message = message.into();
        let reply = Reply::problem(status, code, &message, hint);
        Self { code, message, reply }
    }

    /// Makes the same, with the number of seconds after which to try again.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.reply.headers.retain(|(name, _)| name != "retry-after");
        self.reply.headers.push(("retry-after".to_owned(), seconds.to_string().into_bytes()));
        self
    }
}

/// Why a request was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalReason {
    /// The head is malformed or too large.
    Head,
    /// The body is larger than the limit.
    TooLarge,
    /// The body broke off before its end, or its end can't be determined.
    Truncated,
    /// The body came too slowly.
    TooSlow,
    /// Too many bytes are in flight.
    Unavailable,
}

impl RefusalReason {
    /// Returns a stable code.
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
            message: format!("the body paused for too long after {so_far} bytes"),
            hint: "send the whole body without long pauses",
        }
    }

    pub(crate) fn chunks(why: &str) -> Self {
        Self {
            status: 400,
            reason: RefusalReason::Truncated,
            message: format!("the chunked body is malformed: {why}"),
            hint: "write chunks as in RFC 9112, 7.1, or send Content-Length; nothing was stored",
        }
    }

    pub(crate) fn truncated(so_far: usize, length: BodyLength) -> Self {
        let message = match length {
            BodyLength::Known(length) => format!("the body ended after {so_far} of {length} bytes"),
            BodyLength::Chunked => format!("the chunked body was cut off after {so_far} bytes"),
        };
        let hint = "send the whole body; nothing was stored";
        Self { status: 400, reason: RefusalReason::Truncated, message, hint }
    }
}
