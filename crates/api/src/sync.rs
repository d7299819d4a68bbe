//! Backup sync: fetches from providers' own APIs what never came.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use hookmitt_engine::{Engine, SecretText, SyncChange, SyncRequest, SyncView};
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    events::Items,
    input::{Body, Path},
    jobs::Begun,
    sources::slug,
};

/// Lists how every source is synced.
#[utoipa::path(get, operation_id = "list_sync", path = "/api/sync", responses((status = 200, body = Items<SyncView>)))]
pub(crate) async fn list(State(engine): State<Arc<Engine>>) -> Result<Json<Items<SyncView>>, Problem> {
    Ok(Items::all(engine.sync.all().await?))
}

/// Tells how a source is synced.
#[utoipa::path(get, operation_id = "show_sync", path = "/api/sync/{source}", params(("source" = String, Path)), responses((status = 200, body = SyncView), (status = 404, body = Problem)))]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    Path(name): Path<String>,
) -> Result<Json<SyncView>, Problem> {
    Ok(Json(engine.sync.one(&slug(&name)?).await?))
}

/// Changes how a source is synced.
#[utoipa::path(patch, operation_id = "change_sync", path = "/api/sync/{source}", params(("source" = String, Path)), request_body = SyncChange, responses((status = 200, body = SyncView), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn change(
    State(engine): State<Arc<Engine>>,
    Path(name): Path<String>,
    Body(change): Body<SyncChange>,
) -> Result<Json<SyncView>, Problem> {
    Ok(Json(engine.sync.change(&slug(&name)?, change).await?))
}

/// Syncs a source with its provider, as a job. If that runs or waits already, its job is returned.
#[utoipa::path(post, operation_id = "sync", path = "/api/sync/{source}", params(("source" = String, Path)), request_body = SyncRequest, responses((status = 202, body = Begun), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn begin(
    State(engine): State<Arc<Engine>>,
    Path(name): Path<String>,
    Body(request): Body<SyncRequest>,
) -> Result<Begun, Problem> {
    engine.deliver_if_alone().await?;
    Ok(engine.sync.ask(&slug(&name)?, request).await?.into())
}

/// An API key to store: either its value, or the environment variable that holds it.
#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NewApiKey {
    /// The value, in base64.
    #[schema(value_type = Option<String>)]
    value_base64: Option<SecretText>,
    /// The name of an environment variable. The serving process reads the key from it.
    env: Option<String>,
}

/// Stores the API key of a source. From then on it is synced by itself, unless it is set otherwise.
#[utoipa::path(put, operation_id = "set_api_key", path = "/api/sync/{source}/key", params(("source" = String, Path)), request_body = NewApiKey, responses((status = 200, body = SyncView), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn set_key(
    State(engine): State<Arc<Engine>>,
    Path(name): Path<String>,
    Body(key): Body<NewApiKey>,
) -> Result<Json<SyncView>, Problem> {
    let source = slug(&name)?;
    match (key.value_base64, key.env) {
        (Some(text), None) => {
            let value = text.decoded().map_err(|_| {
                Problem::bad_input("value_base64 isn't valid base64", "encode the key's bytes")
            })?;
            Ok(Json(engine.sync.set_key(&source, value).await?))
        }
        (None, Some(variable)) => Ok(Json(engine.sync.set_key_env(&source, variable).await?)),
        _ => Err(Problem::bad_input("a key needs either value_base64 or env", "send exactly one of them")),
    }
}

/// Removes the API key of a source, which isn't synced any more then.
#[utoipa::path(delete, operation_id = "remove_api_key", path = "/api/sync/{source}/key", params(("source" = String, Path)), responses((status = 204), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn remove_key(
    State(engine): State<Arc<Engine>>,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    engine.sync.remove_key(&slug(&name)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What a provider's API says of a key.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct KeyChecked {
    /// Whether the key is good.
    ok: bool,
    /// Why not.
    why: Option<String>,
    /// What to do about it.
    hint: Option<String>,
}

/// Asks the provider's API whether the key is good, with a request that changes nothing.
#[utoipa::path(post, operation_id = "check_api_key", path = "/api/sync/{source}/check", params(("source" = String, Path)), responses((status = 200, body = KeyChecked), (status = 400, body = Problem), (status = 404, body = Problem), (status = 502, body = Problem)))]
pub(crate) async fn check(
    State(engine): State<Arc<Engine>>,
    Path(name): Path<String>,
) -> Result<Json<KeyChecked>, Problem> {
    let refused = engine.sync.check(&slug(&name)?).await?;
    let (why, hint) = match &refused {
        Some((why, hint)) => (Some(why.clone()), hint.clone()),
        None => (None, None),
    };
    Ok(Json(KeyChecked { ok: refused.is_none(), why, hint }))
}
