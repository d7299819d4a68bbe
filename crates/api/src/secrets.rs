//! Sets, lists and removes secrets. Their values are never returned.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use hookmitt_engine::{Engine, NamedSource, SecretEntry, SecretText};
use serde::Deserialize;

use crate::{
    Problem,
    events::Items,
    input::{Asked, Body, Path},
    sources::{OfSource, slug},
};

/// Lists all secrets without their values.
#[utoipa::path(get, operation_id = "list_secrets", path = "/api/secrets", params(OfSource), responses((status = 200, body = Items<SecretEntry>)))]
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    Asked(of): Asked<OfSource>,
) -> Result<Json<Items<SecretEntry>>, Problem> {
    let all = engine.secrets.list().await?;
    let wanted =
        |entry: &SecretEntry| of.source.as_deref().is_none_or(|source| entry.source.as_str() == source);
    Ok(Items::all(all.into_iter().filter(wanted)))
}

/// A secret to store: either its value, or the environment variable that holds it.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(crate) struct NewSecret {
    /// The value, in base64.
    #[schema(value_type = Option<String>)]
    value_base64: Option<SecretText>,
    /// The name of an environment variable. The serving process reads the secret from it.
    env: Option<String>,
    /// Whether the source is created if it does not exist, whatever its name; else only a provider's id creates one.
    create: bool,
}

/// Stores a secret, and verifies the source's events again. A provider's id as the name of a source that does not exist
/// creates that provider's source.
#[utoipa::path(put, operation_id = "set_secret", path = "/api/sources/{slug}/secrets/{label}", params(("slug" = String, Path), ("label" = String, Path)), request_body = NewSecret, responses((status = 204), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn set(
    State(engine): State<Arc<Engine>>,
    Path((name, label)): Path<(String, String)>,
    Body(secret): Body<NewSecret>,
) -> Result<StatusCode, Problem> {
    let source = NamedSource { slug: slug(&name)?, create: secret.create };
    match (secret.value_base64, secret.env) {
        (Some(text), None) => {
            let value = text.decoded().map_err(|_| {
                Problem::bad_input("value_base64 isn't valid base64", "encode the secret's bytes")
            })?;
            engine.secrets.set(source, label, value).await?;
        }
        (None, Some(variable)) => engine.secrets.set_env(source, label, variable).await?,
        _ => {
            return Err(Problem::bad_input(
                "a secret needs either value_base64 or env",
                "send exactly one of them",
            ));
        }
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a secret.
#[utoipa::path(delete, operation_id = "remove_secret", path = "/api/sources/{slug}/secrets/{label}", params(("slug" = String, Path), ("label" = String, Path)), responses((status = 204), (status = 400, body = Problem)))]
pub(crate) async fn remove(
    State(engine): State<Arc<Engine>>,
    Path((name, label)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    engine.secrets.remove(slug(&name)?, label).await?;
    Ok(StatusCode::NO_CONTENT)
}
