//! Pins, notes and tags.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{Engine, MarkChange};
use serde::Serialize;

use crate::{
    Problem,
    event_json::EventJson,
    events::{Items, named, shown},
    input::{Body, Path},
};

/// Pins an event, and sets its note and its tags. Absent fields stay as they are; a null note is removed.
#[utoipa::path(patch, operation_id = "mark_event", path = "/api/events/{id}", params(("id" = String, Path)), request_body = MarkChange, responses((status = 200, body = EventJson), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn change(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
    Body(change): Body<MarkChange>,
) -> Result<Json<EventJson>, Problem> {
    let id = named(&engine, &id).await?;
    engine.marking.change(id, change).await?;
    shown(&engine, id).await
}

/// A tag, and how many events have it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TagJson {
    /// The tag as it was first written.
    name: String,
    /// The number of events with the tag, without those in the bin.
    count: u64,
}

/// Lists all tags, sorted.
#[utoipa::path(get, operation_id = "list_tags", path = "/api/tags", responses((status = 200, body = Items<TagJson>)))]
pub(crate) async fn tags(State(engine): State<Arc<Engine>>) -> Result<Json<Items<TagJson>>, Problem> {
    let tags = engine.marking.tags().await?;
    Ok(Items::all(tags.into_iter().map(|tag| TagJson { name: tag.name, count: tag.events })))
}
