//! Deliveries that a person asks for: replays and retries.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{AttemptLine, Edit, Engine, JobKind, Replay, Replayed, Retried, StoppedCount, Which};
use hookmitt_event::{DeliveryId, Slug};
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    events::{Items, named},
    input::{Body, Path},
    jobs::{AT_ONCE, Begun, NowOrJob, all_named, begun},
};

/// The deliveries of a replay.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ReplayedJson {
    items: Vec<Replayed>,
    /// The secret with which the event was signed again.
    secret: Option<String>,
    /// Whether the edit leaves a signature in the request that no longer fits.
    spoilt: bool,
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
    let Replay { items, secret, spoilt } = engine.replays.replay(id, edit).await?;
    Ok(Json(ReplayedJson { items, secret, spoilt }))
}

/// Deliveries by their ids.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliveryIds {
    /// The ids of the deliveries, `<event id>.<n>`; at most 10,000.
    deliveries: Vec<String>,
}

/// The maximum number of deliveries that are named in one request.
const MOST_DELIVERIES: usize = 10_000;

/// Stops deliveries that wait: they are skipped. What is being sent goes on.
#[utoipa::path(post, operation_id = "stop_deliveries", path = "/api/deliveries/stop", request_body = DeliveryIds, responses((status = 200, body = StoppedCount), (status = 400, body = Problem)))]
pub(crate) async fn stop(
    State(engine): State<Arc<Engine>>,
    Body(named): Body<DeliveryIds>,
) -> Result<Json<StoppedCount>, Problem> {
    if named.deliveries.len() > MOST_DELIVERIES {
        return Err(Problem::bad_input("too many deliveries", "name 10,000 at most"));
    }
    let ids: Vec<_> = named.deliveries.iter().map(|id| delivery(id)).collect::<Result<_, _>>()?;
    Ok(Json(engine.replays.stop(&ids).await?))
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
    id.parse()
        .map_err(|_| Problem::bad_input("that isn't a delivery's id", "write it as <event id>.<number>"))
}

/// Which deliveries to retry: those of some events, dead letters, or events of a source that were withheld because of a
/// host name.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Many {
    /// Retry the failed, dead and skipped deliveries of these events, at most 1,000. Each is named by its id, the
    /// beginning of its id, `#12`, `last` or `last~2`.
    #[serde(default)]
    events: Vec<String>,
    /// Retry the failed, dead and skipped deliveries of the events that this search finds.
    #[serde(default)]
    q: Option<String>,
    /// Retry the deliveries that used up their attempts.
    #[serde(default)]
    dead_letter: bool,
    /// With `dead_letter`: also retry the deliveries that failed for good.
    #[serde(default)]
    failed: bool,
    /// Send the events that were withheld because this host name was called. The source must allow the name by now.
    #[serde(default)]
    withheld_host: Option<String>,
    /// Only deliveries of this source. Required with `withheld_host`.
    #[serde(default)]
    source: Option<Slug>,
}

/// Which deliveries a request asks for.
enum Asked<'a> {
    Events(&'a [String]),
    Search(&'a str),
    Dead(Option<&'a Slug>, bool),
    Withheld(&'a Slug, &'a str),
}

impl Many {
    fn asked(&self) -> Result<Asked<'_>, Problem> {
        if let Self {
            events,
            dead_letter: false,
            failed: false,
            withheld_host: None,
            source: None,
            q: Some(q),
        } = self
            && events.is_empty()
        {
            return Ok(Asked::Search(q));
        }
        match (self.events.as_slice(), self.dead_letter, &self.withheld_host, &self.source) {
            _ if self.q.is_some() => {
                Err(Problem::bad_input("a search can't be combined", "send {\"q\": \"…\"} alone"))
            }
            ([], true, None, source) => Ok(Asked::Dead(source.as_ref(), self.failed)),
            ([], false, Some(host), Some(source)) if !self.failed => Ok(Asked::Withheld(source, host)),
            ([], false, Some(_), None) => {
                Err(Problem::bad_input("the source is missing", "also send the source that withheld it"))
            }
            (events @ [_, ..], false, None, None) if !self.failed => Ok(Asked::Events(events)),
            _ => {
                let hint = "send {\"events\": […]}, {\"q\": \"…\"}, {\"dead_letter\": true}, or a source and its withheld_host";
                Err(Problem::bad_input("it isn't clear what to retry", hint))
            }
        }
    }
}

/// Retries deliveries of many events, and says which can't be sent: those of the named events, all dead letters of one
/// source or of all sources, or the events that a source withheld because of the host name that was called. More than ten
/// named events, or those of a search, become a job.
#[utoipa::path(post, operation_id = "retry_many", path = "/api/retry", request_body = Many, responses((status = 200, body = Retried), (status = 202, body = Begun), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn retry_many(
    State(engine): State<Arc<Engine>>,
    Body(many): Body<Many>,
) -> Result<NowOrJob<Retried>, Problem> {
    let asked = many.asked()?;
    engine.deliver_if_alone().await?;
    Ok(NowOrJob::Now(match asked {
        Asked::Search(q) => return begun(&engine, JobKind::Retry, Which::Search(q.to_owned())).await,
        Asked::Events(names) => {
            let ids = all_named(&engine, names).await?;
            if ids.len() > AT_ONCE {
                return begun(&engine, JobKind::Retry, Which::Events(ids)).await;
            }
            engine.retries.events(&ids).await?
        }
        Asked::Dead(source, failed) => engine.retries.dead(source, failed).await?,
        Asked::Withheld(source, host) => {
            Retried { items: engine.withheld_hosts.send(source, host).await?, skipped: Vec::new() }
        }
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
