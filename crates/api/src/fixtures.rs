//! Events out to files, and back in.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_engine::{Engine, EngineError, Exported, Imported};
use serde::Deserialize;

use crate::{
    Problem,
    events::{Items, named},
    input::Body,
    sources::slug,
};

/// What is to be exported.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Export {
    /// These events.
    ids: Option<Vec<String>>,
    /// Or a source's, the newest thousand at most.
    source: Option<String>,
    /// `fixture`.
    format: Option<String>,
    /// With their exact bytes, secrets in them included. Must be true until redaction is built.
    raw: bool,
}

/// Exports events as files.
#[utoipa::path(post, path = "/api/export", request_body = Export, responses((status = 200, body = Items<Exported>), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn export(
    State(engine): State<Arc<Engine>>,
    Body(export): Body<Export>,
) -> Result<Json<Items<Exported>>, Problem> {
    if let Some(format) = export.format.as_deref()
        && format != "fixture"
    {
        let detail = format!("the format {format:?} is not built yet");
        return Err(Problem::new(StatusCode::BAD_REQUEST, "format-missing", detail, "use fixture"));
    }
    if !export.raw {
        return Err(EngineError::RedactionMissing.into());
    }
    let ids = match (export.ids, export.source) {
        (Some(names), None) => {
            let mut ids = Vec::with_capacity(names.len());
            for name in &names {
                ids.push(named(&engine, name).await?);
            }
            ids
        }
        (None, Some(source)) => engine.fixtures.ids_of(&slug(&source)?).await?,
        _ => return Err(Problem::bad_input("give either ids or a source", "such as {\"ids\": [\"last\"]}")),
    };
    Ok(Items::all(engine.fixtures.export_raw(ids).await?))
}

/// Files to be imported.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Import {
    items: Vec<ImportFile>,
    /// Where they go; else each to its own source.
    #[serde(default)]
    source: Option<String>,
    /// Delivers them too.
    #[serde(default)]
    forward: bool,
}

/// A file.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportFile {
    /// Its name, for messages.
    name: String,
    /// Its bytes, base64.
    content_base64: String,
}

/// Imports fixtures: judged anew, not forwarded by default.
#[utoipa::path(post, path = "/api/import", request_body = Import, responses((status = 200, body = Items<Imported>), (status = 400, body = Problem)))]
pub(crate) async fn import(
    State(engine): State<Arc<Engine>>,
    Body(import): Body<Import>,
) -> Result<Json<Items<Imported>>, Problem> {
    let source = import.source.as_deref().map(slug).transpose()?;
    if import.forward {
        engine.deliver_if_alone().await?;
    }
    let mut all = Vec::with_capacity(import.items.len());
    for file in import.items {
        let content = STANDARD
            .decode(&file.content_base64)
            .map_err(|_| Problem::bad_input(format!("{}: content_base64 is no base64", file.name), ""))?;
        all.push(engine.fixtures.import(file.name, &content, source.clone(), import.forward).await?);
    }
    Ok(Items::all(all))
}
