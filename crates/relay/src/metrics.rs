//! Counts for a monitor (Prometheus), on a listener of their own.

use std::{sync::Arc, sync::atomic::AtomicI64};

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use hookmitt_event::Timestamp;
use hookmitt_mailbox::Mailbox;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

use crate::{relay::Relay, tls::Tls};

/// What the text is in (OpenMetrics).
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Why {
    code: &'static str,
}

/// What is counted.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    accepted: Counter,
    stored: Counter,
    delivered: Counter,
    refused: Family<Why, Counter>,
    tunnels: Gauge,
    depth: Gauge,
    depth_bytes: Gauge,
    oldest: Gauge<i64, AtomicI64>,
    devices: Gauge,
    outgoing: Gauge,
    certificate: Gauge,
}

impl Metrics {
    /// `secure`: there is a certificate to watch.
    pub(crate) fn new(secure: bool) -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("hookmitt_relay"),
            accepted: Counter::default(),
            stored: Counter::default(),
            delivered: Counter::default(),
            refused: Family::default(),
            tunnels: Gauge::default(),
            depth: Gauge::default(),
            depth_bytes: Gauge::default(),
            oldest: Gauge::default(),
            devices: Gauge::default(),
            outgoing: Gauge::default(),
            certificate: Gauge::default(),
        };
        let all = &mut metrics.registry;
        all.register("accepted", "Requests taken in whole", metrics.accepted.clone());
        all.register("stored", "Letters stored durably", metrics.stored.clone());
        all.register("delivered", "Letters acknowledged by a device", metrics.delivered.clone());
        all.register("refused", "Requests refused, by code", metrics.refused.clone());
        all.register("tunnels", "Open tunnels", metrics.tunnels.clone());
        all.register("depth", "Letters that wait", metrics.depth.clone());
        all.register("depth_bytes", "Sealed bytes that wait", metrics.depth_bytes.clone());
        all.register("oldest_age_seconds", "Age of the oldest letter that waits", metrics.oldest.clone());
        all.register("devices", "Connected devices", metrics.devices.clone());
        let what = "Sealed bytes in memory for devices, beyond each one's small share";
        all.register("outgoing_bytes", what, metrics.outgoing.clone());
        if secure {
            let what = "Until when the certificate is good, in Unix time; 0 while there is none";
            all.register("certificate_expires_timestamp_seconds", what, metrics.certificate.clone());
        }
        metrics
    }

    pub(crate) fn accepted(&self) {
        self.accepted.inc();
    }

    pub(crate) fn stored(&self) {
        self.stored.inc();
    }

    pub(crate) fn delivered(&self, letters: usize) {
        self.delivered.inc_by(u64::try_from(letters).unwrap_or(u64::MAX));
    }

    pub(crate) fn refused(&self, code: &'static str) {
        self.refused.get_or_create(&Why { code }).inc();
    }
}

/// The routes of the private listener.
pub(crate) fn router<M: Mailbox>(relay: Arc<Relay<M>>) -> Router {
    Router::new().route("/metrics", get(told::<M>)).with_state(relay)
}

async fn told<M: Mailbox>(State(relay): State<Arc<Relay<M>>>) -> Response {
    let metrics = &relay.metrics;
    match relay.mailbox.usage().await {
        Ok(usage) => {
            let gauge = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
            metrics.tunnels.set(gauge(usage.tunnels));
            metrics.depth.set(gauge(usage.letters));
            metrics.depth_bytes.set(gauge(usage.bytes));
            let since = usage.oldest.map(|at| relay.now().since(Timestamp::from_micros(at)));
            metrics.oldest.set(gauge(since.unwrap_or_default().as_secs()));
        }
        Err(error) => {
            // Numbers of an earlier moment would pass for those of now.
            tracing::warn!(%error, "the store can't say what it holds");
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
    }
    metrics.devices.set(i64::try_from(relay.sessions.count()).unwrap_or(i64::MAX));
    metrics.outgoing.set(i64::try_from(relay.outgoing.held()).unwrap_or(i64::MAX));
    if let Some(until) = relay.tls.as_ref().and_then(Tls::good_until) {
        metrics.certificate.set(until.as_seconds());
    }
    let mut text = String::new();
    match encode(&mut text, &metrics.registry) {
        Ok(()) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
