//! Deliveries and their attempts, as the API and the command line print them.

use hookmitt_event::{
    Attempt, Delivery, DeliveryId, DeliveryState, HeaderLines, Queue, TargetId, Timestamp, is_refusal,
};
use serde::{Deserialize, Serialize};

/// A delivery: one event bound for one target.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeliveryJson {
    /// The delivery's id, `<event id>.<n>`.
    #[schema(value_type = String)]
    pub id: DeliveryId,
    /// The target's URL. Empty if the target has been removed.
    pub target: String,
    /// The target's id. The target may have been removed since.
    pub target_id: TargetId,
    /// The delivery's state.
    pub status: DeliveryState,
    /// Whether this is a replay rather than the event's first delivery.
    pub replay: bool,
    /// The delivery's place in the queue while its target is paused or down. Null otherwise, and if the answer is about
    /// more than one event.
    pub queue: Option<Queue>,
    /// Why the delivery was skipped, or what went wrong last.
    pub last_error: Option<String>,
    /// When the next attempt is due.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub next_attempt_at: Option<Timestamp>,
    /// When the delivery ended.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub completed_at: Option<Timestamp>,
    /// The attempts, in order.
    pub attempts: Vec<AttemptJson>,
}

impl From<&Delivery> for DeliveryJson {
    fn from(delivery: &Delivery) -> Self {
        Self {
            id: delivery.id,
            target: delivery.target_url.clone(),
            target_id: delivery.target,
            status: delivery.state,
            replay: delivery.replay,
            queue: delivery.queue,
            last_error: delivery.last_error.clone(),
            next_attempt_at: delivery.next_attempt_at,
            completed_at: delivery.completed_at,
            attempts: delivery.attempts.iter().map(AttemptJson::from).collect(),
        }
    }
}

impl DeliveryJson {
    /// Returns whether the target refused the event the last time, with a status by which apps refuse a request whose
    /// signature they don't accept.
    pub fn is_rejected(&self) -> bool {
        self.attempts.last().and_then(|attempt| attempt.response_status).is_some_and(is_refusal)
    }
}

/// One HTTP attempt of a delivery.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AttemptJson {
    /// The attempt's number, from 1.
    pub number: u32,
    /// When the attempt began.
    #[schema(value_type = String, format = "date-time")]
    pub started_at: Timestamp,
    /// How long the attempt took, in milliseconds. 0 if hookmitt ended before the attempt did.
    pub duration_ms: u64,
    /// The status of the response.
    pub response_status: Option<u16>,
    /// The header lines of the response.
    #[schema(value_type = Vec<(String, hookmitt_event::HeaderValueJson)>)]
    pub response_headers: HeaderLines,
    /// The first 64 KiB of the response body, as text. Bytes that are not UTF-8 are replaced.
    pub response_body: String,
    /// Whether the response body was longer than what is stored (1 MiB) or shown here.
    pub response_truncated: bool,
    /// What went wrong, if there was no complete response.
    pub error: Option<String>,
    /// Whether the request was sent but not answered. Then it is unknown whether the target acted on it.
    #[serde(default)]
    pub ambiguous: bool,
}

/// How much of a response body JSON answers contain, in bytes.
const SHOWN_BODY: usize = 64 * 1024;

impl From<&Attempt> for AttemptJson {
    fn from(attempt: &Attempt) -> Self {
        let shown = &attempt.body[..attempt.body.len().min(SHOWN_BODY)];
        let head = attempt.response.as_ref();
        Self {
            number: attempt.number,
            started_at: attempt.started_at,
            duration_ms: u64::try_from(attempt.duration.as_millis()).unwrap_or(u64::MAX),
            response_status: head.map(|head| head.status),
            response_headers: head.map(|head| head.headers.clone()).unwrap_or_default(),
            response_body: String::from_utf8_lossy(shown).into_owned(),
            response_truncated: attempt.body_truncated || shown.len() < attempt.body.len(),
            error: attempt.error.clone(),
            ambiguous: attempt.is_ambiguous(),
        }
    }
}
