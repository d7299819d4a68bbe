//! What a monitor is told of the app. Labels are names that this machine's owner chose, or words of ours: never what a
//! sender sends.

use std::{fmt, sync::Arc, time::Duration};

use hookmitt_engine::{Backlogs, Captured, Disk, Engine, EngineError, Lag, Meter, Times};
use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder, NoLabelSet, text::encode},
    metrics::{MetricType, counter::Counter, family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};

/// The bounds of the histograms' buckets, in milliseconds.
const BOUNDS: [f64; 14] =
    [0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 2_500.0, 10_000.0, 30_000.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Origin {
    source: String,
    via: &'static str,
    verdict: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Why {
    code: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Status {
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Part {
    part: &'static str,
}

/// Everything that a monitor is told.
struct Told {
    meter: Meter,
    captured: Vec<Captured>,
    refused: Vec<(&'static str, u64)>,
    lag: Lag,
    disk: Disk,
    backlogs: Backlogs,
}

/// Returns all metrics as text (OpenMetrics), or `None` if the inbox can't be read at the moment.
pub(crate) async fn told(engine: Arc<Engine>) -> Option<String> {
    match read(&engine).await {
        Ok(told) => told.text().ok(),
        Err(error) => {
            tracing::warn!(%error, "the metrics can't be read");
            None
        }
    }
}

async fn read(engine: &Engine) -> Result<Told, EngineError> {
    let (meter, captured) = engine.inbox().metered().await?;
    Ok(Told {
        meter,
        captured,
        refused: engine.refused_since_start().into_iter().collect(),
        lag: engine.inbox().lag().await?,
        disk: engine.disk().await,
        backlogs: engine.backlogs().await?,
    })
}

impl Told {
    fn text(&self) -> Result<String, fmt::Error> {
        let mut all = Registry::with_prefix("hookmitt");
        self.counters(&mut all);
        self.gauges(&mut all);
        let capture = Measured(self.meter.capture.clone());
        let what = "Time from a whole request to its commit";
        all.register_with_unit("capture_duration", what, Unit::Seconds, capture);
        let attempts = Measured(self.meter.delivery.clone());
        all.register_with_unit("attempt_duration", "Time that an attempt took", Unit::Seconds, attempts);
        let mut text = String::new();
        encode(&mut text, &all)?;
        Ok(text)
    }

    fn counters(&self, all: &mut Registry) {
        let captured = Family::<Origin, Counter>::default();
        for Captured { source, via, verdict, events } in &self.captured {
            let origin = Origin { source: source.clone(), via: via.as_str(), verdict: verdict.as_str() };
            captured.get_or_create(&origin).inc_by(*events);
        }
        all.register("captured", "Events stored since the start", captured);
        let refused = Family::<Why, Counter>::default();
        for (code, count) in &self.refused {
            refused.get_or_create(&Why { code }).inc_by(*count);
        }
        all.register("refused", "Requests refused since the start, by code", refused);
        let delivered = Family::<Status, Counter>::default();
        for (state, count) in self.meter.delivered() {
            delivered.get_or_create(&Status { status: state.as_str() }).inc_by(count);
        }
        let what = "Ends of claims since the start, by the state of the delivery; pending waits for a retry";
        all.register("deliveries", what, delivered);
    }

    fn gauges(&self, all: &mut Registry) {
        let Self { lag, disk, backlogs, .. } = self;
        let mut tell = |name: &str, what: &str, value: u64| {
            let gauge: Gauge = Gauge::default();
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
            all.register(name, what, gauge);
        };
        let oldest = lag.oldest.map_or(0, |oldest| oldest.waited.as_secs());
        tell("waiting", "Deliveries that wait or are being tried", lag.deliveries);
        tell("waiting_long", "Those of events that have waited for more than 30 minutes", lag.long);
        tell("waiting_oldest_age_seconds", "For how long the oldest event has waited", oldest);
        tell("unindexed", "Events that the search index doesn't hold yet, at most", backlogs.unindexed());
        tell("uncompressed", "Events that wait to be compressed, at most", backlogs.uncompressed);
        if let Some(free) = disk.free {
            tell("disk_free_bytes", "What is free on the disk of the data directory", free);
        }
        let sizes = Family::<Part, Gauge>::default();
        let parts = [("database", Some(disk.database)), ("log", Some(disk.log)), ("index", disk.index)];
        for (part, bytes) in parts {
            let bytes = i64::try_from(bytes.unwrap_or(0)).unwrap_or(i64::MAX);
            sizes.get_or_create(&Part { part }).set(bytes);
        }
        all.register("disk_used_bytes", "What the data directory's parts take", sizes);
    }
}

/// A histogram that was counted elsewhere.
#[derive(Debug)]
struct Measured(Times);

impl EncodeMetric for Measured {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        let Self(times) = self;
        let mut before = 0;
        let mut buckets: Vec<(f64, u64)> = Vec::with_capacity(BOUNDS.len() + 1);
        for bound in BOUNDS {
            let up_to = times.up_to(Duration::from_secs_f64(bound / 1_000.0));
            buckets.push((bound / 1_000.0, up_to - before));
            before = up_to;
        }
        buckets.push((f64::INFINITY, times.count() - before));
        encoder.encode_histogram::<NoLabelSet>(times.sum().as_secs_f64(), times.count(), &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}
