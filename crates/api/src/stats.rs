//! The inbox in numbers.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{Engine, SourceCount, ViewCounts};
use hookmitt_event::TargetId;
use serde::Serialize;

use crate::{Problem, live::RefusedJson};

/// The inbox in numbers.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct StatsJson {
    events: u64,
    duplicates: u64,
    body_bytes: u64,
    /// Events by verdict.
    #[schema(value_type = std::collections::BTreeMap<String, u64>)]
    verdicts: serde_json::Map<String, serde_json::Value>,
    /// Deliveries by state.
    #[schema(value_type = std::collections::BTreeMap<String, u64>)]
    deliveries: serde_json::Map<String, serde_json::Value>,
    /// Events by source, by name. Those of removed sources are there as long as they have events.
    sources: Vec<SourceCountJson>,
    /// Events by what people work through.
    views: ViewsJson,
    /// Targets with deliveries that wait or run.
    targets: Vec<TargetCountJson>,
    /// Whether this process delivers.
    delivers: bool,
    /// When this process began.
    started_at: String,
    /// The last requests that were not taken, newest first.
    refused: Vec<RefusedJson>,
}

/// How many events a source has.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SourceCountJson {
    slug: String,
    events: u64,
}

/// How many deliveries wait for a target, or run there.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TargetCountJson {
    target_id: TargetId,
    waiting: u64,
}

/// How many events `?view=` lists, by view.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ViewsJson {
    /// Invalid, or with a delivery that failed or is dead.
    needs_action: u64,
    /// With a signature that does not hold.
    invalid: u64,
    /// With a delivery that used up its attempts.
    dead_letter: u64,
    /// With a delivery that is held up: its target is paused, or nobody answers there.
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
        Self { slug: count.slug, events: count.events }
    }
}

/// The inbox in numbers.
#[utoipa::path(get, path = "/api/stats", responses((status = 200, body = StatsJson)))]
pub(crate) async fn stats(State(engine): State<Arc<Engine>>) -> Result<Json<StatsJson>, Problem> {
    let stats = engine.inbox().stats().await?;
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
        refused: engine.refusals().iter().map(RefusedJson::from).collect(),
    }))
}
