//! Serves metrics to a monitor, on a listener of its own.

use std::sync::Arc;

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use hookmitt_event::Timestamp;
use hookmitt_mailbox::Mailbox;

use crate::{metrics::Present, relay::Relay, tls::Tls};

/// The format of the text (OpenMetrics).
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Returns the routes of the private listener.
pub(crate) fn router<M: Mailbox>(relay: Arc<Relay<M>>) -> Router {
    Router::new().route("/metrics", get(told::<M>)).with_state(relay)
}

async fn told<M: Mailbox>(State(relay): State<Arc<Relay<M>>>) -> Response {
    let usage = match relay.mailbox.usage().await {
        Ok(usage) => usage,
        Err(error) => {
            // Old numbers would pass for current ones.
            tracing::warn!(%error, "the store can't say what it holds");
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
    };
    let since = usage.oldest.map(|at| relay.now().since(Timestamp::from_micros(at)));
    let present = Present {
        usage,
        oldest_age: since.unwrap_or_default(),
        devices: relay.sessions.count(),
        outgoing: relay.outgoing.held(),
        certificate: relay.tls.as_ref().and_then(Tls::good_until),
    };
    match relay.metrics.text(&present) {
        Ok(text) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
