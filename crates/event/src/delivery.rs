//! One event bound for one target, and its tries.

use std::{fmt, str::FromStr, time::Duration};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{DeliveryId, HeaderLines, TargetId, Timestamp};

/// How far a delivery has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// Waits, for the first time or for its next retry.
    Pending,
    /// Claimed by the process that delivers.
    Processing,
    /// Got a 2xx.
    Completed,
    /// Ended by a reason that a retry can't mend.
    Failed,
    /// Used up its attempts.
    DeadLetter,
    /// Not sent on purpose.
    Skipped,
}

impl DeliveryState {
    /// Every state with its name, in the order in which the inbox numbers them from 0.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Pending, "pending"),
        (Self::Processing, "processing"),
        (Self::Completed, "completed"),
        (Self::Failed, "failed"),
        (Self::DeadLetter, "dead_letter"),
        (Self::Skipped, "skipped"),
    ];

    /// The name used in JSON and filters.
    pub fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

impl fmt::Display for DeliveryState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// The status of an event: the most telling of its deliveries' states, or `captured` without a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventStatus {
    /// A delivery used up its attempts.
    DeadLetter,
    /// A delivery ended by a reason that a retry can't mend.
    Failed,
    /// A delivery is being tried.
    Processing,
    /// A delivery waits.
    Pending,
    /// All were delivered or skipped.
    Completed,
    /// None was sent, on purpose.
    Skipped,
    /// There is no delivery.
    Captured,
}

impl EventStatus {
    /// Every status with its name, most telling first.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::DeadLetter, "dead_letter"),
        (Self::Failed, "failed"),
        (Self::Processing, "processing"),
        (Self::Pending, "pending"),
        (Self::Completed, "completed"),
        (Self::Skipped, "skipped"),
        (Self::Captured, "captured"),
    ];

    /// The status of an event with these deliveries.
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

    /// The name used in JSON and filters.
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
            format!("not a status; one of {}", names.join(", "))
        })
    }
}

/// One event bound for one target.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// The target; it may be gone.
    pub target: TargetId,
    /// The target's URL.
    pub target_url: String,
    /// How far it has come.
    pub state: DeliveryState,
    /// A replay rather than the first hand-over.
    pub replay: bool,
    /// Where it stands while it is held up; known only where one event is shown.
    pub queue: Option<Queue>,
    /// Why it was skipped, or the last thing that went wrong.
    pub last_error: Option<String>,
    /// When it is tried next, where it waits for a retry.
    pub next_attempt_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Its tries, in order.
    pub attempts: Vec<Attempt>,
}

/// Where a delivery stands among those that wait for its target, in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Queue {
    /// Its place, from 1.
    pub place: u64,
    /// How many wait.
    pub of: u64,
}

/// The status line and header lines of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status.
    pub status: u16,
    /// The header lines.
    pub headers: HeaderLines,
}

/// One HTTP try of a delivery, with the response that it got.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Which try, from 1.
    pub number: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// The connection was there: the target may have got the request.
    pub sent: bool,
    /// What was answered, where anything was.
    pub response: Option<ResponseHead>,
    /// The response's body, up to 1 MiB.
    pub body: Bytes,
    /// The body went on beyond that.
    pub body_truncated: bool,
    /// What went wrong, where no whole answer came.
    pub error: Option<String>,
}

impl Attempt {
    /// It was sent, and no answer came: whether it was acted on is not known.
    pub fn is_ambiguous(&self) -> bool {
        self.sent && self.response.is_none()
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
