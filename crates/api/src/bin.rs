//! Puts many events into the bin, and takes them out again.

use std::sync::Arc;

use axum::extract::State;
use hookmitt_engine::{Engine, JobKind, Which};
use hookmitt_event::EventId;
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    events::Items,
    input::Body,
    jobs::{AT_ONCE, Begun, NowOrJob, all_named, begun},
};

/// Which events are deleted or restored: either those that are named, or those that a search finds.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Meant {
    /// The events, at most 1,000. Each is named by its id, the beginning of its id, `#12`, `last` or `last~2`.
    #[serde(default)]
    events: Vec<String>,
    /// A search. What comes later than the request is left alone.
    #[serde(default)]
    q: Option<String>,
}

/// An event that was deleted or restored.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Moved {
    #[schema(value_type = String, format = "uuid")]
    event_id: EventId,
    /// How many of its deliveries were ended, or wait again.
    deliveries: usize,
}

type Answer = Result<NowOrJob<Items<Moved>>, Problem>;

/// Moves events to the bin, and ends their waiting deliveries. Up to ten that are named are moved at once; more, or
/// those of a search, become a job.
#[utoipa::path(post, operation_id = "delete_events", path = "/api/delete", request_body = Meant, responses((status = 200, body = Items<Moved>), (status = 202, body = Begun), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn delete(State(engine): State<Arc<Engine>>, Body(meant): Body<Meant>) -> Answer {
    meant.moved(&engine, JobKind::Delete).await
}

/// Restores events from the bin, and makes the deliveries wait again that their deletion ended. Up to ten that are named
/// are restored at once; more, or those of a search, become a job.
#[utoipa::path(post, operation_id = "restore_events", path = "/api/restore", request_body = Meant, responses((status = 200, body = Items<Moved>), (status = 202, body = Begun), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn restore(State(engine): State<Arc<Engine>>, Body(meant): Body<Meant>) -> Answer {
    meant.moved(&engine, JobKind::Restore).await
}

impl Meant {
    async fn moved(self, engine: &Engine, kind: JobKind) -> Answer {
        let ids = match (self.q, self.events.as_slice()) {
            (Some(q), []) => return begun(engine, kind, Which::Search(q)).await,
            (None, names @ [_, ..]) => all_named(engine, names).await?,
            _ => {
                let hint = "send either {\"events\": […]} or {\"q\": \"…\"}";
                return Err(Problem::bad_input("it isn't clear which events are meant", hint));
            }
        };
        if ids.len() > AT_ONCE {
            return begun(engine, kind, Which::Events(ids)).await;
        }
        let mut items = Vec::with_capacity(ids.len());
        for event_id in ids {
            let deliveries = engine.trash.set_deleted(event_id, kind == JobKind::Delete).await?;
            items.push(Moved { event_id, deliveries });
        }
        Ok(NowOrJob::Now(Items { items, next_cursor: None }))
    }
}
