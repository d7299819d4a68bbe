//! Exports events to files, and imports them.

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

/// What to export: either some events or a source.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Export {
    /// The events to export.
    ids: Option<Vec<String>>,
    /// The source whose events to export, at most the newest 1000.
    source: Option<String>,
    /// The file format; only `fixture` is supported.
    format: Option<String>,
    /// Whether to export the exact bytes, including any secrets in them. Must be true, because redaction is not
    /// supported yet.
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
        let detail = format!("the format {format:?} isn't available yet");
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

/// The files to import.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Import {
    items: Vec<ImportFile>,
    /// The source to which the events are imported. By default, each goes to its own source.
    #[serde(default)]
    source: Option<String>,
    /// Whether the events are delivered, too.
    #[serde(default)]
    forward: bool,
}

/// A file to import.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportFile {
    /// The file's name, for messages.
    name: String,
    /// The file's bytes, in base64.
    content_base64: String,
}

/// Imports fixtures. Their signatures are verified again; they are not forwarded unless requested.
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
        let content = STANDARD.decode(&file.content_base64).map_err(|_| {
            Problem::bad_input(format!("{}: content_base64 isn't valid base64", file.name), "")
        })?;
        all.push(engine.fixtures.import(file.name, &content, source.clone(), import.forward).await?);
    }
    Ok(Items::all(all))
}
