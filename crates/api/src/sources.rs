//! Sources and their URLs.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use hookmitt_engine::{Engine, SourceChange, SourceView, UNASSIGNED, WithheldHost};
use hookmitt_event::Slug;
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    events::Items,
    input::{Asked, Body, Path, settings},
};

/// Reads the name of a source in the path.
pub(crate) fn slug(text: &str) -> Result<Slug, Problem> {
    text.parse().map_err(|error: hookmitt_event::SlugError| {
        Problem::new(StatusCode::BAD_REQUEST, "bad-slug", error.to_string(), "such as github or stripe-test")
    })
}

/// Lists all sources by name.
#[utoipa::path(get, operation_id = "list_sources", path = "/api/sources", responses((status = 200, body = Items<SourceView>)))]
pub(crate) async fn list(State(engine): State<Arc<Engine>>) -> Json<Items<SourceView>> {
    Items::all(engine.sources.all())
}

/// A source to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(crate) struct NewSource {
    /// The source's name in URLs.
    slug: String,
    /// The source's settings.
    #[serde(flatten)]
    #[schema(value_type = SourceChange)]
    settings: serde_json::Map<String, serde_json::Value>,
}

/// Creates a source. Besides `slug`, it takes the same fields as a change.
#[utoipa::path(post, operation_id = "add_source", path = "/api/sources", request_body = NewSource, responses((status = 201, body = SourceView), (status = 400, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn add(
    State(engine): State<Arc<Engine>>,
    Body(source): Body<NewSource>,
) -> Result<(StatusCode, Json<SourceView>), Problem> {
    let change: SourceChange = settings(source.settings)?;
    Ok((StatusCode::CREATED, Json(engine.sources.add(slug(&source.slug)?, change).await?)))
}

/// Returns one source.
#[utoipa::path(get, operation_id = "show_source", path = "/api/sources/{slug}", params(("slug" = String, Path)), responses((status = 200, body = SourceView), (status = 404, body = Problem)))]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    Path(name): Path<String>,
) -> Result<Json<SourceView>, Problem> {
    Ok(Json(engine.sources.one(&slug(&name)?)?))
}

/// Changes a source. Absent fields stay as they are; null removes a setting.
#[utoipa::path(patch, operation_id = "change_source", path = "/api/sources/{slug}", params(("slug" = String, Path)), request_body = SourceChange, responses((status = 200, body = SourceView), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn change(
    State(engine): State<Arc<Engine>>,
    Path(name): Path<String>,
    Body(change): Body<SourceChange>,
) -> Result<Json<SourceView>, Problem> {
    Ok(Json(engine.sources.change(slug(&name)?, change).await?))
}

/// Lists the host names because of which a source withheld events that still wait to be sent.
#[utoipa::path(get, operation_id = "withheld_hosts", path = "/api/sources/{slug}/withheld", params(("slug" = String, Path)), responses((status = 200, body = Items<WithheldHost>), (status = 404, body = Problem)))]
pub(crate) async fn withheld(
    State(engine): State<Arc<Engine>>,
    Path(name): Path<String>,
) -> Result<Json<Items<WithheldHost>>, Problem> {
    Ok(Items::all(engine.withheld_hosts.of(&slug(&name)?).await?))
}

/// Removes a source with its secrets and targets. Its events are kept.
#[utoipa::path(delete, operation_id = "remove_source", path = "/api/sources/{slug}", params(("slug" = String, Path)), responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn remove(
    State(engine): State<Arc<Engine>>,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    engine.sources.remove(slug(&name)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Limits a list to one source.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OfSource {
    /// The source's slug.
    pub(crate) source: Option<String>,
}

/// The URLs to which providers post.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Urls {
    /// The URLs of the capture port, one for each address. Empty if this process has no capture port.
    capture: Vec<String>,
    /// The URLs of each source.
    items: Vec<SourceUrl>,
}

/// The URLs to which the provider of one source posts.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SourceUrl {
    source: Slug,
    /// The source's URL at the capture port, or its public URL if one is set.
    url: String,
    /// The source's URL in each tunnel that is in use.
    public: Vec<String>,
}

/// Returns the URLs to give to providers.
#[utoipa::path(get, operation_id = "source_urls", path = "/api/urls", params(OfSource), responses((status = 200, body = Urls), (status = 404, body = Problem)))]
pub(crate) async fn urls(
    State(engine): State<Arc<Engine>>,
    Asked(of): Asked<OfSource>,
) -> Result<Json<Urls>, Problem> {
    let capture = engine.capture_urls();
    let base = capture.first().cloned().unwrap_or_else(|| "http://127.0.0.1:4400".to_owned());
    let sources = match &of.source {
        Some(name) => vec![engine.sources.one(&slug(name)?)?],
        None => engine.sources.all(),
    };
    let tunnels = engine.tunnels.all().await?;
    let public = |slug: &Slug| {
        let bases = tunnels.iter().filter(|tunnel| tunnel.is_in_use() && slug.as_str() != UNASSIGNED);
        bases.filter_map(|tunnel| tunnel.url_of(slug)).collect()
    };
    let items = sources.into_iter().map(|source| SourceUrl {
        public: public(&source.slug),
        url: source
            .public_url
            .filter(|_| source.public_url_set)
            .unwrap_or_else(|| format!("{base}/{}", source.slug)),
        source: source.slug,
    });
    Ok(Json(Urls { capture, items: items.collect() }))
}
