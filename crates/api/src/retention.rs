//! How long events are kept, and pruning.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{Engine, KeepChange, Prunable, WouldGo};
use hookmitt_event::{Kept, Retention, Timestamp};
use serde::Serialize;

use crate::{Problem, input::Body, jobs::Begun};

/// Tells how long events are kept.
#[utoipa::path(get, operation_id = "show_retention", path = "/api/retention", responses((status = 200, body = Retention)))]
pub(crate) async fn show(State(engine): State<Arc<Engine>>) -> Result<Json<Retention>, Problem> {
    Ok(Json(engine.keeping.now().await?))
}

/// Changes how long events are kept. What has been kept for long enough by then is deleted in the background.
#[utoipa::path(patch, operation_id = "change_retention", path = "/api/retention", request_body = KeepChange, responses((status = 200, body = Retention), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn change(
    State(engine): State<Arc<Engine>>,
    Body(change): Body<KeepChange>,
) -> Result<Json<Retention>, Problem> {
    for slug in change.sources.keys().filter_map(|name| name.parse().ok()) {
        engine.sources.one(&slug)?; // which names those that were perhaps meant
    }
    Ok(Json(engine.keeping.change(change).await?))
}

/// What pruning would delete now.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct PrunableJson {
    /// The events that would go, by why, by source and by what they count as.
    items: Vec<WouldGoJson>,
    /// How many bytes of the inbox file are in use.
    in_use: u64,
    /// How many of these are more than the limit allows.
    over_limit: u64,
    /// Whether all were counted; counting ends after 10 seconds.
    complete: bool,
}

/// Some events that pruning would delete.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct WouldGoJson {
    source: String,
    /// What they count as.
    kept: Kept,
    /// Why they would go: `age`, because they have been kept for long enough; `size_limit` or `disk_full`, because they
    /// are the oldest. Of those the numbers are estimates.
    why: &'static str,
    /// The number of events.
    events: u64,
    /// The bytes of their bodies.
    bytes: u64,
    /// When the oldest was received.
    #[schema(value_type = String, format = "date-time")]
    oldest: Timestamp,
}

impl From<Prunable> for PrunableJson {
    fn from(prunable: Prunable) -> Self {
        let Prunable { items, in_use, over_limit, complete } = prunable;
        let json = |WouldGo { source, kept, why, events, bytes, oldest }| WouldGoJson {
            source,
            kept,
            why: why.as_str(),
            events,
            bytes,
            oldest,
        };
        Self { items: items.into_iter().map(json).collect(), in_use, over_limit, complete }
    }
}

/// Counts what pruning would delete now, without deleting anything.
#[utoipa::path(get, operation_id = "show_prunable", path = "/api/prune", responses((status = 200, body = PrunableJson)))]
pub(crate) async fn would_go(State(engine): State<Arc<Engine>>) -> Result<Json<PrunableJson>, Problem> {
    Ok(Json(engine.keeping.would_go().await?.into()))
}

/// Deletes what has been kept for long enough now, as a job, rather than in the background.
#[utoipa::path(post, operation_id = "prune", path = "/api/prune", responses((status = 202, body = Begun), (status = 409, body = Problem)))]
pub(crate) async fn prune(State(engine): State<Arc<Engine>>) -> Result<Begun, Problem> {
    engine.deliver_if_alone().await?;
    Ok(engine.jobs.prune().await?.into())
}
