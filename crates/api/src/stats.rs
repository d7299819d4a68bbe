//! Statistics of the inbox.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{Engine, SourceCount, ViewCounts};
use hookmitt_event::{TargetId, Verdict};
use serde::Serialize;

use crate::{Problem, refusals::RefusedJson};

/// How many of the latest refusals the statistics show.
const REFUSED: usize = 200;

/// Statistics of the inbox.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct StatsJson {
    events: u64,
    duplicates: u64,
    body_bytes: u64,
    /// The number of events with each verdict.
    #[schema(value_type = std::collections::BTreeMap<String, u64>)]
    verdicts: serde_json::Map<String, serde_json::Value>,
    /// The number of deliveries in each state.
    #[schema(value_type = std::collections::BTreeMap<String, u64>)]
    deliveries: serde_json::Map<String, serde_json::Value>,
    /// The number of events of each source, sorted by name. A removed source is listed as long as it has events.
    sources: Vec<SourceCountJson>,
    /// The number of events in each view.
    views: ViewsJson,
    /// The targets that have pending or running deliveries.
    targets: Vec<TargetCountJson>,
    /// Whether this process delivers.
    delivers: bool,
    /// When this process started.
    started_at: String,
    /// The latest requests that were refused, newest first.
    refused: Vec<RefusedJson>,
    /// The disk that holds the inbox; null if the system doesn't say how large it is.
    disk: Option<DiskJson>,
}

/// A disk, in bytes.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct DiskJson {
    total: u64,
    free: u64,
    /// Whether new events will soon be refused.
    nearly_full: bool,
}

/// The number of events of a source.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SourceCountJson {
    slug: String,
    events: u64,
    /// The verdict of the source's newest event; left out if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    newest_verdict: Option<Verdict>,
}

/// The number of pending and running deliveries of a target.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TargetCountJson {
    target_id: TargetId,
    waiting: u64,
}

/// The number of events that `?view=` lists, for each view.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ViewsJson {
    /// Events that are invalid, or have a failed or dead delivery.
    needs_action: u64,
    /// Events with an invalid signature.
    invalid: u64,
    /// Events with a delivery that used up its attempts.
    dead_letter: u64,
    /// Events with a delivery that is held up because its target is paused or down.
    waiting: u64,
}

impl From<ViewCounts> for ViewsJson {
    fn from(counts: ViewCounts) -> Self {
        let ViewCounts { needs_action, invalid, dead_letter, waiting } = counts;
        Self { needs_action, invalid, dead_letter, waiting }
    }
}

impl From<SourceCount> for SourceCountJson {
    fn from(count: SourceCount) -> Self {
        let SourceCount { slug, events, newest } = count;
        Self { slug, events, newest_verdict: newest }
    }
}

/// Returns statistics of the inbox.
#[utoipa::path(get, path = "/api/stats", responses((status = 200, body = StatsJson)))]
pub(crate) async fn stats(State(engine): State<Arc<Engine>>) -> Result<Json<StatsJson>, Problem> {
    let stats = engine.inbox().stats().await?;
    let refused = engine.latest_refusals(REFUSED).await?;
    Ok(Json(StatsJson {
        events: stats.events,
        duplicates: stats.duplicates,
        body_bytes: stats.body_bytes,
        verdicts: stats.verdicts.iter().map(|(verdict, n)| (verdict.to_string(), (*n).into())).collect(),
        deliveries: stats.deliveries.iter().map(|(state, n)| (state.to_string(), (*n).into())).collect(),
        sources: stats.sources.into_iter().map(SourceCountJson::from).collect(),
        views: stats.views.into(),
        targets: stats
            .targets
            .into_iter()
            .map(|(target_id, waiting)| TargetCountJson { target_id, waiting })
            .collect(),
        delivers: *engine.owns_delivery().borrow(),
        started_at: engine.started_at().to_string(),
        refused: refused.into_iter().map(RefusedJson::from).collect(),
        disk: engine.inbox().disk().map(|disk| DiskJson {
            total: disk.total,
            free: disk.free,
            nearly_full: disk.is_nearly_full(),
        }),
    }))
}
