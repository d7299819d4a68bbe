//! Deliveries (one event bound for one target) and their attempts.

use std::{fmt, str::FromStr, time::Duration};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{DeliveryId, HeaderLines, TargetId, Timestamp};

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// The delivery waits for its first attempt or for its next retry.
    Pending,
    /// The process that delivers has claimed the delivery.
    Processing,
    /// The target answered with a 2xx status.
    Completed,
    /// The delivery ended for a reason that a retry cannot fix.
    Failed,
    /// The delivery used up its attempts.
    DeadLetter,
    /// The delivery was not sent, on purpose.
    Skipped,
}

impl DeliveryState {
    /// Every state with its name. The inbox stores a state as its position here, from 0.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Pending, "pending"),
        (Self::Processing, "processing"),
        (Self::Completed, "completed"),
        (Self::Failed, "failed"),
        (Self::DeadLetter, "dead_letter"),
        (Self::Skipped, "skipped"),
    ];

    /// Returns the name used in JSON and filters.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

impl fmt::Display for DeliveryState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// The status of an event: the most important state among its deliveries, or `captured` if it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EventStatus {
    /// A delivery used up its attempts.
    DeadLetter,
    /// A delivery ended for a reason that a retry cannot fix.
    Failed,
    /// A delivery is being tried.
    Processing,
    /// A delivery waits for its first attempt or for its next retry.
    Pending,
    /// Every delivery was completed or skipped, and at least one was completed.
    Completed,
    /// Every delivery was skipped on purpose.
    Skipped,
    /// The event has no delivery.
    Captured,
}

impl EventStatus {
    /// Every status with its name, most important first.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::DeadLetter, "dead_letter"),
        (Self::Failed, "failed"),
        (Self::Processing, "processing"),
        (Self::Pending, "pending"),
        (Self::Completed, "completed"),
        (Self::Skipped, "skipped"),
        (Self::Captured, "captured"),
    ];

    /// Returns the status of an event whose deliveries have these states.
    pub fn of(states: impl IntoIterator<Item = DeliveryState>) -> Self {
        let rank = |state: DeliveryState| match state {
            DeliveryState::DeadLetter => Self::DeadLetter,
            DeliveryState::Failed => Self::Failed,
            DeliveryState::Processing => Self::Processing,
            DeliveryState::Pending => Self::Pending,
            DeliveryState::Completed => Self::Completed,
            DeliveryState::Skipped => Self::Skipped,
        };
        let first = states.into_iter().map(rank).min_by_key(|status| *status as u8);
        first.unwrap_or(Self::Captured)
    }

    /// Returns the name used in JSON and filters.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

impl fmt::Display for EventStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

impl FromStr for EventStatus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text);
        found.map(|(status, _)| *status).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!("not a status: use one of {}", names.join(", "))
        })
    }
}

/// One event bound for one target.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The delivery's id.
    pub id: DeliveryId,
    /// The target's id. The target may have been removed since.
    pub target: TargetId,
    /// The target's URL. Empty if the target has been removed.
    pub target_url: String,
    /// The delivery's state.
    pub state: DeliveryState,
    /// Whether this is a replay rather than the event's first delivery.
    pub replay: bool,
    /// The delivery's place in the queue while its target is paused or down. Known only if a single event is shown.
    pub queue: Option<Queue>,
    /// Why the delivery was skipped, or what went wrong last.
    pub last_error: Option<String>,
    /// When the next attempt is due, if the delivery waits for a retry.
    pub next_attempt_at: Option<Timestamp>,
    /// When the delivery ended.
    pub completed_at: Option<Timestamp>,
    /// The attempts, in order.
    pub attempts: Vec<Attempt>,
}

/// The place of a delivery in the queue of its target, in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Queue {
    /// The delivery's place, from 1.
    pub place: u64,
    /// How many deliveries wait for the target.
    pub of: u64,
}

/// The status and header lines of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status.
    pub status: u16,
    /// The header lines.
    pub headers: HeaderLines,
}

/// One HTTP attempt of a delivery, with the response that it got.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The attempt's number, from 1.
    pub number: u32,
    /// When the attempt began.
    pub started_at: Timestamp,
    /// How long the attempt took.
    pub duration: Duration,
    /// Whether there was a connection, so that the target may have received the request.
    pub sent: bool,
    /// The head of the response, if there was a response.
    pub response: Option<ResponseHead>,
    /// The response body, at most 1 MiB of it.
    pub body: Bytes,
    /// Whether the response body was longer than what is stored.
    pub body_truncated: bool,
    /// What went wrong, if there was no complete response.
    pub error: Option<String>,
}

/// Whether apps answer with this status when they don't accept a signature: 400, 401 or 403.
pub const fn is_refusal(status: u16) -> bool {
    matches!(status, 400 | 401 | 403)
}

impl Attempt {
    /// Returns whether the request was sent but not answered. Then it is unknown whether the target acted on it.
    pub fn is_ambiguous(&self) -> bool {
        self.sent && self.response.is_none()
    }

    /// Returns the status if it [refuses](is_refusal) the event.
    pub fn refusing_status(&self) -> Option<u16> {
        Some(self.response.as_ref()?.status).filter(|status| is_refusal(*status))
    }
}

impl Delivery {
    /// Returns the attempt by which the target refused the event the last time, if it did.
    pub fn refused_by_app(&self) -> Option<&Attempt> {
        self.attempts.last().filter(|attempt| attempt.refusing_status().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_the_most_telling_state() {
        use DeliveryState::{Completed, DeadLetter, Pending, Skipped};
        assert_eq!(EventStatus::of([Completed, DeadLetter, Pending]), EventStatus::DeadLetter);
        assert_eq!(EventStatus::of([Skipped, Completed]), EventStatus::Completed);
        assert_eq!(EventStatus::of([]), EventStatus::Captured);
    }
}
