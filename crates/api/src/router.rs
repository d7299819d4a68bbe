//! Every route with its description.

use std::sync::Arc;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    http::StatusCode,
    middleware::from_fn,
    routing::{get, post},
};
use hookmitt_engine::Engine;
use utoipa::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    Problem, audit, backup, bin, bytes, deliveries, doctor, document, events, fixtures, handshakes, jobs,
    listen, live, marks, origin, providers, reconciled, refusals, retention, samples, search, searches,
    secrets, session, session::Sessions, sources, stats, sync, sync_reports, targets, test_keys, trash,
    tunnels, verdict,
};

/// The maximum size of a request body in bytes. Larger sets of fixtures are imported in several requests.
const MOST: usize = 64 * 1024 * 1024;

/// The state that the handlers share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) engine: Arc<Engine>,
    pub(crate) sessions: Arc<Sessions>,
}

impl axum::extract::FromRef<Shared> for Arc<Engine> {
    fn from_ref(shared: &Shared) -> Self {
        Arc::clone(&shared.engine)
    }
}

impl axum::extract::FromRef<Shared> for Arc<Sessions> {
    fn from_ref(shared: &Shared) -> Self {
        Arc::clone(&shared.sessions)
    }
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Hookmitt",
        description = "The management API of a hookmitt inbox. Errors are application/problem+json with a stable `code`."
    ),
    components(schemas(live::DeliveryMoved, live::Unmatched, refusals::RefusedJson))
)]
struct Described;

/// Returns the routes for trusted callers: those in this process, and those at its private socket.
pub(crate) fn private(engine: Arc<Engine>, sessions: Arc<Sessions>) -> Router {
    let (router, document) = described();
    let router = router
        .route("/api/session/code", post(session::code))
        .route("/api/backup", post(backup::backup))
        .route("/api/doctor/fix", post(doctor::fix));
    finished(router, &document, engine, sessions).layer(from_fn(origin::trusted))
}

/// Returns the routes for callers over TCP, without any access check.
pub(crate) fn public(engine: Arc<Engine>, sessions: Arc<Sessions>) -> Router {
    let (router, document) = described();
    finished(router, &document, engine, sessions).layer(from_fn(origin::known))
}

fn finished(
    router: Router<Shared>,
    document: &utoipa::openapi::OpenApi,
    engine: Arc<Engine>,
    sessions: Arc<Sessions>,
) -> Router {
    let document = Arc::new(document::exact(document));
    router
        .route("/api/openapi.json", get(async move || axum::Json(document.as_ref().clone())))
        .fallback(async || Problem::new(StatusCode::NOT_FOUND, "no-such-route", "not found", SEE))
        .method_not_allowed_fallback(async || {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "no-such-method", "method not allowed", SEE)
        })
        .layer(DefaultBodyLimit::max(MOST))
        .with_state(Shared { engine, sessions })
}

const SEE: &str = "GET /api/openapi.json lists all routes";

/// Returns the OpenAPI document.
pub fn openapi() -> serde_json::Value {
    document::exact(&described().1)
}

fn described() -> (Router<Shared>, utoipa::openapi::OpenApi) {
    about_events().merge(about_settings()).merge(kept()).split_for_parts()
}

/// Returns the routes about events, and what is done with them.
fn about_events() -> OpenApiRouter<Shared> {
    OpenApiRouter::with_openapi(Described::openapi())
        .routes(routes!(events::list))
        .routes(routes!(events::count))
        .routes(routes!(search::typed))
        .routes(routes!(events::show, events::delete, marks::change))
        .routes(routes!(bytes::body))
        .routes(routes!(events::copies))
        .routes(routes!(events::restore))
        .routes(routes!(events::assign))
        .routes(routes!(verdict::verify))
        .routes(routes!(verdict::explanation))
        .routes(routes!(handshakes::save_secret))
        .routes(routes!(handshakes::confirm))
        .routes(routes!(events::deliveries))
        .routes(routes!(deliveries::replay))
        .routes(routes!(deliveries::retry))
        .routes(routes!(deliveries::retry_one))
        .routes(routes!(deliveries::retry_many))
        .routes(routes!(deliveries::outcome))
        .routes(routes!(deliveries::stop))
        .routes(routes!(bin::delete))
        .routes(routes!(bin::restore))
        .routes(routes!(jobs::list))
        .routes(routes!(jobs::show, jobs::cancel))
        .routes(routes!(jobs::result))
        .routes(routes!(jobs::resume))
        .routes(routes!(jobs::undo))
}

/// Returns the routes about what is set up, and about hookmitt itself.
fn about_settings() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(sources::list, sources::add))
        .routes(routes!(sources::show, sources::change, sources::remove))
        .routes(routes!(sources::withheld))
        .routes(routes!(sources::urls))
        .routes(routes!(secrets::list))
        .routes(routes!(secrets::set, secrets::remove))
        .routes(routes!(test_keys::show, test_keys::make))
        .routes(routes!(targets::list, targets::add))
        .routes(routes!(targets::show, targets::change, targets::remove))
        .routes(routes!(targets::probe))
        .routes(routes!(targets::try_now))
        .routes(routes!(tunnels::list, tunnels::add))
        .routes(routes!(tunnels::show, tunnels::change, tunnels::remove))
        .routes(routes!(tunnels::announce))
        .routes(routes!(tunnels::public))
        .routes(routes!(tunnels::invite))
        .routes(routes!(tunnels::devices))
        .routes(routes!(tunnels::revoke))
        .routes(routes!(tunnels::gaps))
        .routes(routes!(tunnels::between))
        .routes(routes!(providers::list))
        .routes(routes!(fixtures::export))
        .routes(routes!(fixtures::import))
        .routes(routes!(samples::send))
        .routes(routes!(searches::list, searches::add))
        .routes(routes!(searches::change, searches::remove))
        .routes(routes!(live::live))
        .routes(routes!(listen::listen))
        .routes(routes!(stats::stats))
        .routes(routes!(doctor::doctor))
        .routes(routes!(doctor::healthz))
        .routes(routes!(session::open))
}

/// Returns the routes of what is kept beside the events, and of what is let go.
fn kept() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(marks::tags))
        .routes(routes!(trash::list))
        .routes(routes!(trash::restore))
        .routes(routes!(trash::delete))
        .routes(routes!(trash::empty))
        .routes(routes!(trash::clear))
        .routes(routes!(retention::show, retention::change))
        .routes(routes!(retention::would_go, retention::prune))
        .routes(routes!(sync::list))
        .routes(routes!(sync::show, sync::change, sync::begin))
        .routes(routes!(sync::set_key, sync::remove_key))
        .routes(routes!(sync::check))
        .routes(routes!(reconciled::days))
        .routes(routes!(reconciled::events))
        .routes(routes!(sync_reports::reports))
        .routes(routes!(sync_reports::report))
        .routes(routes!(sync_reports::deliver))
        .routes(routes!(audit::list))
        .routes(routes!(refusals::list))
}
