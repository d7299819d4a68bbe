//! Counters and gauges for a monitor (Prometheus).

use std::{fmt, sync::atomic::AtomicI64, time::Duration};

use hookmitt_event::Timestamp;
use hookmitt_mailbox::Usage;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Why {
    code: &'static str,
}

/// Values that are read when the monitor asks, and not counted as things happen.
pub(crate) struct Present {
    /// What the store holds.
    pub(crate) usage: Usage,
    /// How long the store's oldest letter has waited.
    pub(crate) oldest_age: Duration,
    /// The number of connected devices.
    pub(crate) devices: usize,
    /// The sealed bytes of letters in memory for devices.
    pub(crate) outgoing: usize,
    /// When the certificate expires.
    pub(crate) certificate: Option<Timestamp>,
}

/// The counters and gauges.
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
    /// `secure` says whether there is a certificate to watch.
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
        all.register("accepted", "Requests received completely", metrics.accepted.clone());
        all.register("stored", "Events stored durably", metrics.stored.clone());
        all.register("delivered", "Events acknowledged by a device", metrics.delivered.clone());
        all.register("refused", "Requests refused, by code", metrics.refused.clone());
        all.register("tunnels", "Open tunnels", metrics.tunnels.clone());
        all.register("depth", "Events waiting", metrics.depth.clone());
        all.register("depth_bytes", "Sealed bytes waiting", metrics.depth_bytes.clone());
        all.register("oldest_age_seconds", "Age of the oldest waiting event", metrics.oldest.clone());
        all.register("devices", "Connected devices", metrics.devices.clone());
        let what = "Sealed bytes in memory for devices, beyond each device's small share";
        all.register("outgoing_bytes", what, metrics.outgoing.clone());
        if secure {
            let what = "When the certificate expires, in Unix time; 0 while there is none";
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

    /// Returns all metrics as a monitor reads them (OpenMetrics).
    pub(crate) fn text(&self, present: &Present) -> Result<String, fmt::Error> {
        let gauge = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        self.tunnels.set(gauge(present.usage.tunnels));
        self.depth.set(gauge(present.usage.letters));
        self.depth_bytes.set(gauge(present.usage.bytes));
        self.oldest.set(gauge(present.oldest_age.as_secs()));
        self.devices.set(i64::try_from(present.devices).unwrap_or(i64::MAX));
        self.outgoing.set(i64::try_from(present.outgoing).unwrap_or(i64::MAX));
        if let Some(until) = present.certificate {
            self.certificate.set(until.as_seconds());
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
