//! Targets: where events go.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use hookmitt_engine::{Engine, NamedSource, Probed, TargetChange, TargetSettings};
use hookmitt_event::{OrderMode, Slug, Target, TargetId, TargetKind, TargetState};
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    events::Items,
    input::{Asked, Body, Path, settings},
    sources::slug,
};

/// A target, as the API returns it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TargetView {
    id: TargetId,
    /// The source whose events the target gets; null for every source.
    source: Option<Slug>,
    url: String,
    /// The order mode: `sequential`, `fifo`, `fifo-by-key` or `parallel:N`.
    #[schema(value_type = String)]
    order: OrderMode,
    attempts: u32,
    timeout_ms: u64,
    retry_base_ms: u64,
    retry_cap_ms: u64,
    preserve_host: bool,
    hookmitt_headers: bool,
    /// Whether a person paused the target. What its server does is apart from that.
    paused: bool,
    /// What was last found at the target, by sending or by looking whether somebody listens there.
    state: TargetState,
    kind: TargetKind,
}

impl TargetView {
    fn new(target: &Target, state: TargetState) -> Self {
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
            state,
            kind: target.kind,
        }
    }
}

/// Returns a target with its state.
async fn view(engine: &Engine, target: &Target) -> Result<TargetView, Problem> {
    let state = engine.targets.states().await?.remove(&target.id).unwrap_or_default();
    Ok(TargetView::new(target, state))
}

/// Which targets are listed, and whether they are looked at.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Listed {
    /// Only those that get this source's events.
    source: Option<String>,
    /// Looks first whether somebody listens at each target on this machine or in its own network: one TCP connection to
    /// each, over which nothing is sent, at most one in 5 seconds. That takes a second at most.
    look: bool,
}

/// Lists all targets, including those of running `listen` commands, but not URLs that were given once.
#[utoipa::path(get, operation_id = "list_targets", path = "/api/targets", params(Listed), responses((status = 200, body = Items<TargetView>)))]
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    Asked(listed): Asked<Listed>,
) -> Result<Json<Items<TargetView>>, Problem> {
    let source = listed.source.as_deref().map(slug).transpose()?;
    let is_wanted = |target: &Arc<Target>| {
        target.kind != TargetKind::Once
            && (source.is_none() || target.source.is_none() || target.source == source)
    };
    let mut targets = engine.targets.all();
    targets.retain(is_wanted);
    if listed.look {
        engine.targets.look(&targets).await?;
    }
    let mut states = engine.targets.states().await?;
    let mut view =
        |target: &Arc<Target>| TargetView::new(target, states.remove(&target.id).unwrap_or_default());
    Ok(Items::all(targets.iter().map(&mut view)))
}

/// A target to add.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(crate) struct NewTarget {
    /// The source whose events the target gets; null for every source.
    #[serde(default)]
    source: Option<String>,
    /// Whether the source is created if it does not exist, whatever its name; else only a provider's id creates one.
    #[serde(default)]
    create: bool,
    /// The target's settings. `url` is required.
    #[serde(flatten)]
    #[schema(value_type = TargetChange)]
    settings: serde_json::Map<String, serde_json::Value>,
}

/// Adds a target. It gets the events that come in from now on. A provider's id as the name of a source that does not
/// exist creates that provider's source.
#[utoipa::path(post, operation_id = "add_target", path = "/api/targets", request_body = NewTarget, responses((status = 201, body = TargetView), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn add(
    State(engine): State<Arc<Engine>>,
    Body(target): Body<NewTarget>,
) -> Result<(StatusCode, Json<TargetView>), Problem> {
    let given = target.settings.into_iter().filter(|(_, value)| !value.is_null());
    let change: TargetChange = settings(given.collect())?;
    let slug = target.source.as_deref().map(slug).transpose()?;
    let source = slug.map(|slug| NamedSource { slug, create: target.create });
    let added = engine.targets.add(source, change, TargetKind::Kept).await?;
    Ok((StatusCode::CREATED, Json(view(&engine, &added).await?)))
}

/// Returns one target.
#[utoipa::path(get, operation_id = "show_target", path = "/api/targets/{id}", params(("id" = i64, Path)), responses((status = 200, body = TargetView), (status = 404, body = Problem)))]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<TargetView>, Problem> {
    let target = engine.targets.one(number(&id)?)?;
    Ok(Json(view(&engine, &target).await?))
}

/// Changes, pauses or resumes a target. Absent fields stay as they are.
#[utoipa::path(patch, operation_id = "change_target", path = "/api/targets/{id}", params(("id" = i64, Path)), request_body = TargetChange, responses((status = 200, body = TargetView), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn change(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
    Body(change): Body<TargetChange>,
) -> Result<Json<TargetView>, Problem> {
    let changed = engine.targets.change(number(&id)?, change).await?;
    Ok(Json(view(&engine, &changed).await?))
}

/// Removes a target. Deliveries that wait for it fail.
#[utoipa::path(delete, operation_id = "remove_target", path = "/api/targets/{id}", params(("id" = i64, Path)), responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn remove(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    engine.targets.remove(number(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A URL to probe.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Probe {
    /// The URL, in any form that a target's URL may have, such as `3000` or `localhost:3000`.
    url: String,
}

/// Checks whether somebody listens at a URL, with one TCP connection of at most one second.
#[utoipa::path(post, operation_id = "probe_target", path = "/api/targets/probe", request_body = Probe, responses((status = 200, body = Probed), (status = 400, body = Problem)))]
pub(crate) async fn probe(
    State(engine): State<Arc<Engine>>,
    Body(probe): Body<Probe>,
) -> Result<Json<Probed>, Problem> {
    Ok(Json(engine.targets.probe(&probe.url).await?))
}

/// Tries a target now: resumes it if it was paused, and checks whether it answers if it was down.
#[utoipa::path(post, operation_id = "try_target", path = "/api/targets/{id}/try", params(("id" = i64, Path)), responses((status = 200, body = Probed), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn try_now(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<Probed>, Problem> {
    Ok(Json(engine.targets.try_now(number(&id)?).await?))
}

fn number(text: &str) -> Result<TargetId, Problem> {
    let number = text.parse().map(TargetId);
    number.map_err(|_| Problem::bad_input("that isn't a target's id", "`hookmitt target list` shows them"))
}
