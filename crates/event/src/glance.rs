//! What a row of an event list shows besides the event itself.

use serde::{Deserialize, Serialize};

use crate::{DeliveryId, DeliveryState, TargetId, Timestamp};

/// How often an event came in, and the state of its deliveries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Glance {
    /// How many copies of the event came in and are not in the bin. The first event and all its duplicates count.
    pub copies: u64,
    /// Whether a duplicate has other bytes than the first event.
    pub copies_differ: bool,
    /// How many of these copies fold: they are duplicates by their id, and nothing of them was sent by itself.
    pub folded: u64,
    /// Whether the event itself folds. A list with `fold` leaves it out if it shows the first event.
    pub folds: bool,
    /// The event's most important delivery; null if it has none.
    pub delivery: Option<DeliveryGlance>,
}

/// The most important delivery of an event, with the outcome of its last attempt. An event's status follows from this
/// delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DeliveryGlance {
    /// The delivery's id, `<event id>.<n>`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub id: DeliveryId,
    /// The target's id. The target may have been removed since.
    pub target_id: TargetId,
    /// The target's URL. Empty if the target has been removed.
    pub target: String,
    /// The delivery's state.
    pub status: DeliveryState,
    /// Whether the delivery is held up because its target is paused or down.
    pub waiting: bool,
    /// Whether the last attempt was sent but not answered. Then it is unknown whether the target acted on it.
    pub ambiguous: bool,
    /// The status of the last attempt's response.
    pub response_status: Option<u16>,
    /// How long the last attempt took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Why the delivery was skipped, or what went wrong last.
    pub error: Option<String>,
    /// When the next attempt is due.
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, format = "date-time"))]
    pub next_attempt_at: Option<Timestamp>,
    /// How many deliveries the event has.
    pub count: u64,
}
