//! The trash: lists it, restores from it, and deletes for good what is in it.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{Engine, JobKind, TrashPlace, Which};
use hookmitt_event::{Slug, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    event_json::EventJson,
    events::{Items, named, row},
    input::{Asked, Body, Path},
    jobs::{AT_ONCE, Begun, NowOrJob, all_named, begun},
    wanted::limit,
};

/// Which page of the trash is wanted.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
    /// The number of events, 1 to 1000; 100 by default.
    limit: Option<u32>,
}

impl Wanted {
    fn place(&self) -> Result<Option<TrashPlace>, Problem> {
        let Some(cursor) = &self.cursor else { return Ok(None) };
        let place = cursor.split_once('-').and_then(|(at, seq)| {
            let deleted_at = Timestamp::from_micros(at.parse().ok()?);
            Some(TrashPlace { deleted_at, seq: seq.parse().ok()? })
        });
        let wrong = || Problem::bad_input("that isn't a cursor", "send next_cursor back unchanged");
        place.map(Some).ok_or_else(wrong)
    }
}

/// Lists the events in the trash, the last deleted first, each with who deleted it.
#[utoipa::path(get, operation_id = "list_trash", path = "/api/trash", params(Wanted), responses((status = 200, body = Items<EventJson>), (status = 400, body = Problem)))]
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Json<Items<EventJson>>, Problem> {
    let page = engine.trash.page(wanted.place()?, limit(wanted.limit)? as usize).await?;
    let items = page.items.iter();
    let items = items.map(|trashed| EventJson { deleted_by: trashed.by, ..row(&trashed.listed) }).collect();
    let cursor = |place: TrashPlace| format!("{}-{}", place.deleted_at.as_micros(), place.seq);
    Ok(Json(Items { items, next_cursor: page.next.map(cursor) }))
}

/// Which events are restored.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Restore {
    /// Ids, prefixes of ids or numbers such as `#12`; at most 1000.
    ids: Vec<String>,
}

/// What was restored.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Restored {
    /// The number of events.
    restored: usize,
    /// How many of their deliveries wait again.
    waiting: usize,
}

/// Restores events, and makes the deliveries wait again that their deletion ended. Up to ten are restored at once; more
/// become a job.
#[utoipa::path(post, operation_id = "restore_from_trash", path = "/api/trash/restore", request_body = Restore, responses((status = 200, body = Restored), (status = 202, body = Begun), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn restore(
    State(engine): State<Arc<Engine>>,
    Body(order): Body<Restore>,
) -> Result<NowOrJob<Restored>, Problem> {
    let ids = all_named(&engine, &order.ids).await?;
    if ids.len() > AT_ONCE {
        return begun(&engine, JobKind::Restore, Which::Events(ids)).await;
    }
    let mut waiting = 0;
    for id in &ids {
        waiting += engine.trash.set_deleted(*id, false).await?;
    }
    Ok(NowOrJob::Now(Restored { restored: ids.len(), waiting }))
}

/// What was deleted for good.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Gone {
    /// The number of events that are gone.
    gone: u64,
    /// The number of events that stay in the trash, because they are being sent right now.
    stay: u64,
}

/// Deletes an event of the trash for good. Its dedupe key is kept: a later copy still counts as a duplicate.
#[utoipa::path(delete, operation_id = "delete_for_good", path = "/api/trash/{id}", params(("id" = String, Path)), responses((status = 200, body = Gone), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn delete(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<Gone>, Problem> {
    let is_gone = engine.trash.delete_for_good(named(&engine, &id).await?).await?;
    Ok(Json(Gone { gone: u64::from(is_gone), stay: u64::from(!is_gone) }))
}

/// What is deleted for good.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Empty {
    /// Only what was deleted before this time, RFC 3339. Without it, everything that is there now.
    before: Option<String>,
}

/// Deletes for good what is in the trash, as a job. What is being sent right now stays, and is among what failed.
#[utoipa::path(post, operation_id = "empty_trash", path = "/api/trash/empty", request_body = Empty, responses((status = 202, body = Begun), (status = 400, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn empty(
    State(engine): State<Arc<Engine>>,
    Body(order): Body<Empty>,
) -> Result<Begun, Problem> {
    let before = moment(order.before.as_deref())?;
    engine.deliver_if_alone().await?;
    Ok(engine.jobs.empty_trash(before).await?.into())
}

/// Which events are moved to the trash.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Clear {
    /// Only this source's events.
    #[schema(value_type = Option<String>)]
    source: Option<Slug>,
    /// Only events received before this time, RFC 3339.
    until: Option<String>,
}

/// Moves the events of a source, or those received before a time, to the trash, as a job. Pinned events stay, and so does
/// what comes later than the request.
#[utoipa::path(post, operation_id = "clear_events", path = "/api/clear", request_body = Clear, responses((status = 202, body = Begun), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn clear(
    State(engine): State<Arc<Engine>>,
    Body(order): Body<Clear>,
) -> Result<Begun, Problem> {
    let until = moment(order.until.as_deref())?;
    if let Some(source) = &order.source {
        engine.sources.one(source)?;
    }
    let which = Which::Clear { source: order.source, until };
    engine.deliver_if_alone().await?;
    Ok(engine.jobs.ask(JobKind::Delete, &which).await?.into())
}

/// Reads a time.
pub(crate) fn moment(text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let parsed = text.map(str::parse::<Timestamp>).transpose();
    parsed.map_err(|error| Problem::bad_input(error.to_string(), "such as 2026-01-31T12:00:00Z"))
}
