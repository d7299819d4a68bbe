//! Deliveries and their attempts as the API and the command line print them.

use hookmitt_event::{Attempt, Delivery, DeliveryId, DeliveryState, HeaderLines, Queue, TargetId, Timestamp};
use serde::{Deserialize, Serialize};

/// A delivery in JSON.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeliveryJson {
    /// `<event id>.<n>`.
    #[schema(value_type = String)]
    pub id: DeliveryId,
    /// The target's URL.
    pub target: String,
    /// The target's id; it may be gone.
    pub target_id: TargetId,
    /// How far it has come.
    pub status: DeliveryState,
    /// A replay rather than the first hand-over.
    pub replay: bool,
    /// Where it stands while its target is paused or down; null elsewhere, and where more than one event is told of.
    pub queue: Option<Queue>,
    /// Why it was skipped, or the last thing that went wrong.
    pub last_error: Option<String>,
    /// When it is tried next.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub next_attempt_at: Option<Timestamp>,
    /// When it ended.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub completed_at: Option<Timestamp>,
    /// Its tries, in order.
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

/// One try in JSON.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AttemptJson {
    /// Which try, from 1.
    pub number: u32,
    /// When it began.
    #[schema(value_type = String, format = "date-time")]
    pub started_at: Timestamp,
    /// How long it took, in milliseconds; 0 where hookmitt ended before it did.
    pub duration_ms: u64,
    /// The status that was answered.
    pub response_status: Option<u16>,
    /// The header lines that were answered.
    #[schema(value_type = Vec<(String, hookmitt_event::HeaderValueJson)>)]
    pub response_headers: HeaderLines,
    /// The first 64 KiB of the answer's body as text, lossily.
    pub response_body: String,
    /// There was more of the body than is kept (1 MiB) or shown here.
    pub response_truncated: bool,
    /// What went wrong, where no whole answer came.
    pub error: Option<String>,
    /// It was sent, and no answer came: whether it was acted on is not known.
    #[serde(default)]
    pub ambiguous: bool,
}

/// How much of a response's body a JSON answer carries; the API hands out the rest as bytes.
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
