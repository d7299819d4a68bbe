//! Deliveries that a person asks for: replays and retries.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{AttemptLine, Edit, Engine, Replayed};
use hookmitt_event::{DeliveryId, Slug};
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    events::{Items, named},
    input::{Body, Path},
};

/// The deliveries of a replay.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ReplayedJson {
    items: Vec<Replayed>,
    /// The secret with which the event was signed again.
    secret: Option<String>,
}

/// Delivers an event again, unchanged or edited.
#[utoipa::path(post, operation_id = "replay_event", path = "/api/events/{id}/replay", params(("id" = String, Path)), request_body = Edit, responses((status = 200, body = ReplayedJson), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn replay(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
    Body(edit): Body<Edit>,
) -> Result<Json<ReplayedJson>, Problem> {
    let id = named(&engine, &id).await?;
    engine.deliver_if_alone().await?;
    let (items, secret) = engine.replays.replay(id, edit).await?;
    Ok(Json(ReplayedJson { items, secret }))
}

/// Retries an event's failed, dead and skipped deliveries: they become pending again.
#[utoipa::path(post, operation_id = "retry_event", path = "/api/events/{id}/retry", params(("id" = String, Path)), responses((status = 200, body = Items<Replayed>), (status = 404, body = Problem)))]
pub(crate) async fn retry(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<Items<Replayed>>, Problem> {
    let id = named(&engine, &id).await?;
    engine.deliver_if_alone().await?;
    Ok(Items::all(engine.retries.event(id).await?))
}

/// Retries one failed, dead or skipped delivery: it becomes pending again. The list is empty if there is nothing to
/// retry.
#[utoipa::path(post, operation_id = "retry_delivery", path = "/api/deliveries/{id}/retry", params(("id" = String, Path, description = "<event id>.<n>")), responses((status = 200, body = Items<Replayed>), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn retry_one(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<Items<Replayed>>, Problem> {
    let id = delivery(&id)?;
    engine.deliver_if_alone().await?;
    Ok(Items::all(engine.retries.one(id).await?))
}

fn delivery(id: &str) -> Result<DeliveryId, Problem> {
    id.parse().map_err(|_| Problem::bad_input("that is no delivery's id", "it reads <event id>.<number>"))
}

/// Which deliveries to retry: either dead letters, or events of a source that were withheld because of a host name.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Many {
    /// Retry the deliveries that used up their attempts.
    #[serde(default)]
    dead_letter: bool,
    /// Send the events that were withheld because this host name was called. The source must allow the name by now.
    #[serde(default)]
    withheld_host: Option<String>,
    /// Only deliveries of this source. Required with `withheld_host`.
    #[serde(default)]
    source: Option<Slug>,
}

/// Which deliveries a request asks for.
enum Asked<'a> {
    Dead(Option<&'a Slug>),
    Withheld(&'a Slug, &'a str),
}

/// Retries all dead letters of one source or of all sources, or sends the events that a source withheld because of the
/// host name that was called.
#[utoipa::path(post, operation_id = "retry_many", path = "/api/retry", request_body = Many, responses((status = 200, body = Items<Replayed>), (status = 400, body = Problem)))]
pub(crate) async fn retry_many(
    State(engine): State<Arc<Engine>>,
    Body(many): Body<Many>,
) -> Result<Json<Items<Replayed>>, Problem> {
    let asked = match (many.dead_letter, &many.withheld_host, &many.source) {
        (true, None, source) => Asked::Dead(source.as_ref()),
        (false, Some(host), Some(source)) => Asked::Withheld(source, host),
        (false, Some(_), None) => {
            return Err(Problem::bad_input("of which source?", "send the source that withheld it, too"));
        }
        _ => {
            let hint = "send {\"dead_letter\": true}, or a source and its withheld_host";
            return Err(Problem::bad_input("it isn't clear what is asked for", hint));
        }
    };
    engine.deliver_if_alone().await?;
    Ok(Items::all(match asked {
        Asked::Dead(source) => engine.retries.dead(source).await?,
        Asked::Withheld(source, host) => engine.withheld_hosts.send(source, host).await?,
    }))
}

/// Waits for the first attempt of a delivery, or for the reason why there is none yet.
#[utoipa::path(get, operation_id = "delivery_outcome", path = "/api/deliveries/{id}/outcome", params(("id" = String, Path)), responses((status = 200, body = AttemptLine), (status = 404, body = Problem)))]
pub(crate) async fn outcome(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<AttemptLine>, Problem> {
    Ok(Json(engine.replays.outcome(delivery(&id)?).await?))
}
