//! Targets: where events go.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use hookmitt_engine::{Engine, Probed, TargetChange, TargetSettings};
use hookmitt_event::{OrderMode, Slug, Target, TargetId, TargetKind, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    events::Items,
    input::{Asked, Body, Path, settings},
    sources::{OfSource, slug},
};

/// A target as it is shown.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TargetView {
    id: TargetId,
    /// The source whose events it gets; null for every source.
    source: Option<Slug>,
    url: String,
    /// `sequential`, `fifo`, `fifo-by-key` or `parallel:N`.
    #[schema(value_type = String)]
    order: OrderMode,
    attempts: u32,
    timeout_ms: u64,
    retry_base_ms: u64,
    retry_cap_ms: u64,
    preserve_host: bool,
    hookmitt_headers: bool,
    /// Paused by hand.
    paused: bool,
    /// Nobody answered there since then.
    #[schema(value_type = Option<String>, format = "date-time")]
    down_since: Option<Timestamp>,
    kind: TargetKind,
}

impl From<&Target> for TargetView {
    fn from(target: &Target) -> Self {
        let settings = TargetSettings::from(target);
        Self {
            id: target.id,
            source: target.source.clone(),
            url: target.url.clone(),
            order: settings.order,
            attempts: settings.attempts,
            timeout_ms: settings.timeout_ms,
            retry_base_ms: settings.retry_base_ms,
            retry_cap_ms: settings.retry_cap_ms,
            preserve_host: settings.preserve_host,
            hookmitt_headers: settings.hookmitt_headers,
            paused: target.paused,
            down_since: target.down_since,
            kind: target.kind,
        }
    }
}

/// Every target, those of running `listen` commands included.
#[utoipa::path(get, operation_id = "list_targets", path = "/api/targets", params(OfSource), responses((status = 200, body = Items<TargetView>)))]
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    Asked(of): Asked<OfSource>,
) -> Result<Json<Items<TargetView>>, Problem> {
    let source = of.source.as_deref().map(slug).transpose()?;
    let wanted = |target: &&Arc<Target>| {
        target.kind != TargetKind::Once
            && (source.is_none() || target.source.is_none() || target.source == source)
    };
    Ok(Items::all(engine.targets.all().iter().filter(wanted).map(|target| TargetView::from(target.as_ref()))))
}

/// A target to be added.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(crate) struct NewTarget {
    /// The source whose events it gets; null for every source.
    #[serde(default)]
    source: Option<String>,
    /// What is set of it; `url` must be.
    #[serde(flatten)]
    #[schema(value_type = TargetChange)]
    settings: serde_json::Map<String, serde_json::Value>,
}

/// Adds a target. It gets the events that come in from now on.
#[utoipa::path(post, operation_id = "add_target", path = "/api/targets", request_body = NewTarget, responses((status = 201, body = TargetView), (status = 400, body = Problem)))]
pub(crate) async fn add(
    State(engine): State<Arc<Engine>>,
    Body(target): Body<NewTarget>,
) -> Result<(StatusCode, Json<TargetView>), Problem> {
    let given = target.settings.into_iter().filter(|(_, value)| !value.is_null());
    let change: TargetChange = settings(given.collect())?;
    let source = target.source.as_deref().map(slug).transpose()?;
    let added = engine.targets.add(source, change, TargetKind::Kept).await?;
    Ok((StatusCode::CREATED, Json(TargetView::from(added.as_ref()))))
}

/// One target.
#[utoipa::path(get, operation_id = "show_target", path = "/api/targets/{id}", params(("id" = i64, Path)), responses((status = 200, body = TargetView), (status = 404, body = Problem)))]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<TargetView>, Problem> {
    Ok(Json(TargetView::from(engine.targets.one(number(&id)?)?.as_ref())))
}

/// Changes, pauses or resumes a target: what is absent stays.
#[utoipa::path(patch, operation_id = "change_target", path = "/api/targets/{id}", params(("id" = i64, Path)), request_body = TargetChange, responses((status = 200, body = TargetView), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn change(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
    Body(change): Body<TargetChange>,
) -> Result<Json<TargetView>, Problem> {
    let changed = engine.targets.change(number(&id)?, change).await?;
    Ok(Json(TargetView::from(changed.as_ref())))
}

/// Removes a target; what waits for it fails.
#[utoipa::path(delete, operation_id = "remove_target", path = "/api/targets/{id}", params(("id" = i64, Path)), responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn remove(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    engine.targets.remove(number(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A URL that a target may have.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Probe {
    /// As a target's URL: `3000` and `localhost:3000` are understood.
    url: String,
}

/// Looks whether somebody listens there: one TCP connection, for a second at most.
#[utoipa::path(post, operation_id = "probe_target", path = "/api/targets/probe", request_body = Probe, responses((status = 200, body = Probed), (status = 400, body = Problem)))]
pub(crate) async fn probe(
    State(engine): State<Arc<Engine>>,
    Body(probe): Body<Probe>,
) -> Result<Json<Probed>, Problem> {
    Ok(Json(engine.targets.probe(&probe.url).await?))
}

/// Takes a target up again at once: one that was paused goes on, one where nobody answered is asked now.
#[utoipa::path(post, operation_id = "try_target", path = "/api/targets/{id}/try", params(("id" = i64, Path)), responses((status = 200, body = Probed), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn try_now(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<Probed>, Problem> {
    Ok(Json(engine.targets.try_now(number(&id)?).await?))
}

fn number(text: &str) -> Result<TargetId, Problem> {
    let number = text.parse().map(TargetId);
    number.map_err(|_| Problem::bad_input("that is no target's id", "`hookmitt target list` shows them"))
}
