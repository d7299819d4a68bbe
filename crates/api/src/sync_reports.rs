//! What backup sync found, one report a sync.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{Engine, SyncReport};
use hookmitt_event::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    events::Items,
    input::{Asked, Path},
    jobs::Begun,
    sources::slug,
    wanted::{cursor, limit},
};

/// What one sync of a source found.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SyncReportJson {
    /// The report's number.
    id: i64,
    /// The source.
    source: String,
    /// The job's number. Jobs are forgotten sooner than reports.
    job: i64,
    /// The first moment that was asked for.
    #[schema(value_type = String, format = "date-time")]
    since: Timestamp,
    /// The first moment that was too late.
    #[schema(value_type = String, format = "date-time")]
    until: Timestamp,
    /// Whether nothing was to be added.
    dry_run: bool,
    #[schema(value_type = String, format = "date-time")]
    began_at: Timestamp,
    /// Null if it runs, or if the process ended before it did.
    #[schema(value_type = Option<String>, format = "date-time")]
    ended_at: Option<Timestamp>,
    /// Why it ended before everything was listed.
    why: Option<String>,
    /// How many events the provider listed.
    checked: u64,
    /// How many of them were here.
    here: u64,
    /// How many were added.
    added: u64,
    /// How many are missing that this dry run would have added.
    missing: u64,
    /// How many can't be recovered.
    lost: u64,
    /// How many of those added are kept, and can be delivered.
    kept: u64,
}

impl From<SyncReport> for SyncReportJson {
    fn from(report: SyncReport) -> Self {
        Self {
            id: report.id,
            source: report.source.to_string(),
            job: report.job,
            since: report.since,
            until: report.until,
            dry_run: report.dry_run,
            began_at: report.began_at,
            ended_at: report.ended_at,
            why: report.why,
            checked: report.checked,
            here: report.here,
            added: report.added,
            missing: report.missing,
            lost: report.lost,
            kept: report.kept,
        }
    }
}

/// Which reports are wanted.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WantedReports {
    /// Only reports of this source.
    source: Option<String>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
    /// The number of reports, 1 to 1000; 100 by default.
    limit: Option<u32>,
}

/// Lists what syncs found, newest first, one page at a time.
#[utoipa::path(get, operation_id = "list_sync_reports", path = "/api/sync-reports", params(WantedReports), responses((status = 200, body = Items<SyncReportJson>), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn reports(
    State(engine): State<Arc<Engine>>,
    Asked(wanted): Asked<WantedReports>,
) -> Result<Json<Items<SyncReportJson>>, Problem> {
    let source = wanted.source.as_deref().map(slug).transpose()?;
    let (cursor, limit) = (cursor(wanted.cursor.as_deref())?, limit(wanted.limit)?);
    let page = engine.sync.reports(source.as_ref(), cursor, limit as usize).await?;
    let items = page.items.into_iter().map(SyncReportJson::from).collect();
    Ok(Json(Items { items, next_cursor: page.next.map(|next| next.to_string()) }))
}

/// Returns what one sync found.
#[utoipa::path(get, operation_id = "show_sync_report", path = "/api/sync-reports/{id}", params(("id" = i64, Path)), responses((status = 200, body = SyncReportJson), (status = 404, body = Problem)))]
pub(crate) async fn report(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<i64>,
) -> Result<Json<SyncReportJson>, Problem> {
    Ok(Json(engine.sync.report(id).await?.into()))
}

/// Delivers what a sync added and kept, as a job.
#[utoipa::path(post, operation_id = "deliver_synced", path = "/api/sync-reports/{id}/deliver", params(("id" = i64, Path)), responses((status = 202, body = Begun), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn deliver(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<i64>,
) -> Result<Begun, Problem> {
    engine.deliver_if_alone().await?;
    Ok(engine.sync.deliver(id).await?.into())
}
