//! Set-up requests: what a person can do about them after they were answered.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{Confirmed, Engine};
use hookmitt_event::Slug;
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    events::named,
    input::{Body, Path},
};

/// How to save a delivered secret.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SaveSecret {
    /// The label that distinguishes the secret from others of its source.
    label: Option<String>,
}

/// Where a delivered secret was saved.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SavedSecret {
    source: Slug,
    label: String,
}

/// Saves the secret that a set-up request delivers, and verifies the source's events again.
#[utoipa::path(post, operation_id = "save_delivered_secret", path = "/api/events/{id}/save-secret", params(("id" = String, Path)), request_body = SaveSecret, responses((status = 200, body = SavedSecret), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn save_secret(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
    Body(order): Body<SaveSecret>,
) -> Result<Json<SavedSecret>, Problem> {
    let id = named(&engine, &id).await?;
    let (source, label) = engine.delivered_secrets.save(id, order.label).await?;
    Ok(Json(SavedSecret { source, label }))
}

/// Calls the URL that confirms a set-up request. Only URLs of its provider are called, and only if the request is
/// genuine.
#[utoipa::path(post, operation_id = "confirm_event", path = "/api/events/{id}/confirm", params(("id" = String, Path)), responses((status = 200, body = Confirmed), (status = 400, body = Problem), (status = 404, body = Problem), (status = 502, body = Problem)))]
pub(crate) async fn confirm(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<Confirmed>, Problem> {
    let id = named(&engine, &id).await?;
    Ok(Json(engine.confirmation.confirm(id).await?))
}
