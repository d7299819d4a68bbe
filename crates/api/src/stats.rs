//! Statistics of the inbox.

use std::sync::Arc;

use axum::{Json, extract::State};
use futures_util::TryFutureExt as _;
use hookmitt_engine::{Backlogs, Disk, Engine, EngineError, Period, SourceCount, ViewCounts};
use hookmitt_event::{TargetId, Timestamp, Verdict};
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    history::{By, FailureJson, HistoryJson, LagJson},
    input::Asked,
    refusals::RefusedJson,
    trash::moment,
};

/// How many of the latest refusals the statistics show.
const REFUSED: usize = 200;

/// How many of the latest failures the statistics show.
const FAILURES: u32 = 20;

/// Asks for the history, which is left out if nothing is given.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// From the hour of this time on, RFC 3339.
    since: Option<String>,
    /// Up to the hour of this time, RFC 3339.
    until: Option<String>,
    /// By what it is broken down.
    #[param(inline)]
    by: Option<By>,
}

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
    /// How long events wait to be delivered.
    lag: LagJson,
    /// What the data directory takes of its disk.
    disk: DiskJson,
    /// That the inbox was found damaged, so that nothing is stored until hookmitt is started again; null if it wasn't.
    damage: Option<String>,
    /// What was recovered of a damaged inbox, as long as the damaged file is kept; null if there is none.
    recovered: Option<String>,
    /// How far the upkeep has come that follows the events.
    upkeep: UpkeepJson,
    /// About what retention will delete within the next day; pinned events are counted, too.
    retention: RetentionJson,
    /// The events of the period in numbers, whether they are still there or not; null unless it was asked for.
    history: Option<HistoryJson>,
    /// The latest deliveries of the period's events that failed or died; null unless the history was asked for.
    failures: Option<Vec<FailureJson>>,
}

/// What the data directory takes of its disk, in bytes.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct DiskJson {
    /// The inbox.
    database: u64,
    /// The inbox's log.
    log: u64,
    /// The search index; null if there is none that can be read.
    index: Option<u64>,
    /// What is free; null if the system doesn't say.
    free: Option<u64>,
    /// How large the whole disk is; null if the system doesn't say.
    total: Option<u64>,
    /// Whether new events will soon be refused.
    nearly_full: bool,
}

impl From<Disk> for DiskJson {
    fn from(disk: Disk) -> Self {
        let Disk { database, log, index, free, total, nearly_full } = disk;
        Self { database, log, index, free, total, nearly_full }
    }
}

/// How far the upkeep has come that follows the events.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct UpkeepJson {
    /// Up to which sequence number events are in the search index; null if there is none that can be read.
    indexed: Option<u64>,
    /// The last sequence number that was given out.
    last: u64,
    /// How many events wait to be compressed, at most.
    uncompressed: u64,
}

impl From<Backlogs> for UpkeepJson {
    fn from(backlogs: Backlogs) -> Self {
        let Backlogs { indexed, last, uncompressed } = backlogs;
        Self { indexed, last, uncompressed }
    }
}

/// What retention will delete within the next day.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct RetentionJson {
    /// The number of events.
    events: u64,
    /// The size of their bodies, in bytes.
    bytes: u64,
    /// What is wrong with the size limit: that it leaves no room beside what is pinned. Null if nothing is.
    warning: Option<String>,
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

impl Wanted {
    async fn history(&self, engine: &Engine) -> Result<Option<(HistoryJson, Vec<FailureJson>)>, Problem> {
        let Self { since, until, by } = self;
        if since.is_none() && until.is_none() && by.is_none() {
            return Ok(None);
        }
        let period = Period { since: moment(since.as_deref())?, until: moment(until.as_deref())? };
        if let Period { since: Some(since), until: Some(until) } = period
            && since > until
        {
            return Err(Problem::bad_input(format!("{since} is after {until}"), "swap since and until"));
        }
        let history = engine.inbox().history(period, by.and_then(By::kept)).await?;
        let failures = engine.inbox().failures(period, FAILURES).await?;
        let failures = failures.into_iter().map(FailureJson::from).collect();
        Ok(Some((HistoryJson::new(period, *by, &history), failures)))
    }
}

/// Returns statistics of the inbox, and the history of a period if one is asked for.
#[utoipa::path(get, path = "/api/stats", params(Wanted), responses((status = 200, body = StatsJson), (status = 400, body = Problem)))]
pub(crate) async fn stats(
    State(engine): State<Arc<Engine>>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Json<StatsJson>, Problem> {
    let (history, failures) = wanted.history(&engine).await?.unzip();
    let inbox = engine.inbox();
    // Side by side: each is a look at other parts of the inbox.
    let (stats, lag, leaving, backlogs, warning, refused) = tokio::try_join!(
        inbox.stats().map_err(EngineError::from),
        inbox.lag().map_err(EngineError::from),
        inbox.leaving(Timestamp::now()).map_err(EngineError::from),
        engine.backlogs(),
        engine.keeping.size_warning(),
        engine.latest_refusals(REFUSED),
    )?;
    let disk = engine.disk().await;
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
        lag: lag.into(),
        disk: disk.into(),
        damage: engine.damage(),
        recovered: engine.recovered(),
        upkeep: backlogs.into(),
        retention: RetentionJson { events: leaving.events, bytes: leaving.bytes, warning },
        history,
        failures,
    }))
}
