//! Tells on whose behalf a request acts, for the audit trail.

use axum::{extract::Request, middleware::Next, response::Response};
use hookmitt_engine::acting;
use hookmitt_event::Actor;
use http::HeaderName;

/// The header in which trusted callers say who they are: commands and the window, which may have attached to another
/// process.
pub(crate) const ACTOR: HeaderName = HeaderName::from_static("hookmitt-actor");

/// Acts for whom a trusted caller says. Without a word, that is a command.
pub(crate) async fn trusted(request: Request, next: Next) -> Response {
    let said = request.headers().get(ACTOR).and_then(|said| said.to_str().ok()?.parse().ok());
    acting(said.unwrap_or(Actor::Cli), next.run(request)).await
}

/// Acts for whom the token belongs to, as the [`Gate`](crate::Gate) found; what the caller says doesn't count.
pub(crate) async fn known(request: Request, next: Next) -> Response {
    let found = request.extensions().get::<Actor>().copied();
    acting(found.unwrap_or(Actor::Api), next.run(request)).await
}
