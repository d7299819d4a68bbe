//! What a row of a list says of an event beside the event itself.

use serde::{Deserialize, Serialize};

use crate::{DeliveryId, DeliveryState, TargetId, Timestamp};

/// How often an event came in, and how its deliveries stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Glance {
    /// How often it came in: the events with the same first that are not in the bin, itself included.
    pub copies: u64,
    /// One of those has other bytes than the first.
    pub copies_differ: bool,
    /// Its most telling delivery; null where there is none.
    pub delivery: Option<DeliveryGlance>,
}

/// The most telling delivery of an event, with what came of its last attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeliveryGlance {
    /// `<event id>.<n>`.
    #[schema(value_type = String)]
    pub id: DeliveryId,
    /// The target's id; it may be gone.
    pub target_id: TargetId,
    /// The target's URL.
    pub target: String,
    /// How far it has come.
    pub status: DeliveryState,
    /// It is held up: its target is paused, or nobody answers there.
    pub waiting: bool,
    /// It was sent, and no answer came: whether it was acted on is not known.
    pub ambiguous: bool,
    /// The status that was answered last.
    pub response_status: Option<u16>,
    /// How long the last attempt took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Why it was skipped, or the last thing that went wrong.
    pub error: Option<String>,
    /// When it is tried next.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub next_attempt_at: Option<Timestamp>,
    /// How many deliveries the event has.
    pub count: u64,
}
