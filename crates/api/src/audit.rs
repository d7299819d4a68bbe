//! The audit trail.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse as _, Response},
};
use hookmitt_engine::{AuditEntry, AuditFilter, Engine};
use hookmitt_event::{Actor, Deed, EventId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    events::Items,
    input::Asked,
    trash::moment,
    wanted::{cursor, limit},
};

/// Selects entries of the audit trail.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Only entries of this time or later, RFC 3339.
    since: Option<String>,
    /// Only entries before this time, RFC 3339.
    until: Option<String>,
    /// Only what they did: `window`, `page`, `cli`, `api`, `up` or `retention`.
    who: Option<String>,
    /// Only this deed, such as `deleted` or `secret_set`.
    what: Option<String>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
    /// The number of entries, 1 to 1000; 100 by default.
    limit: Option<u32>,
    /// Return all entries from the cursor on, each as JSON on a line of its own.
    lines: bool,
}

/// An entry of the audit trail.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct AuditJson {
    id: i64,
    /// When it was done, RFC 3339.
    #[schema(value_type = String, format = "date-time")]
    at: Timestamp,
    /// Who did it.
    who: Actor,
    /// What was done.
    what: Deed,
    /// The event, which may be gone by now.
    #[schema(value_type = Option<String>, format = "uuid")]
    event_id: Option<EventId>,
    /// The event's sequence number.
    seq: Option<i64>,
    /// The source's slug.
    source: Option<String>,
    /// The origin of the target's URL.
    target: Option<String>,
    /// What else there is to know, for example `label` of a secret or the number of `events`. Never a secret.
    #[schema(value_type = std::collections::BTreeMap<String, serde_json::Value>)]
    detail: serde_json::Map<String, serde_json::Value>,
}

impl From<AuditEntry> for AuditJson {
    fn from(entry: AuditEntry) -> Self {
        let AuditEntry { id, at, who, what, subject } = entry;
        let (event_id, seq) = subject.event.unzip();
        let (source, target, detail) = (subject.source, subject.target, subject.detail);
        Self { id, at, who, what, event_id, seq, source, target, detail }
    }
}

/// Lists who did what, newest first: for 90 days, at most 100,000 entries.
#[utoipa::path(get, operation_id = "list_audit", path = "/api/audit", params(Wanted), responses((status = 200, body = Items<AuditJson>), (status = 400, body = Problem)))]
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Response, Problem> {
    let named = |error: String| Problem::bad_input(error, "");
    let filter = AuditFilter {
        since: moment(wanted.since.as_deref())?,
        until: moment(wanted.until.as_deref())?,
        who: wanted.who.as_deref().map(str::parse).transpose().map_err(named)?,
        what: wanted.what.as_deref().map(str::parse).transpose().map_err(named)?,
    };
    let (begin, limit) = (cursor(wanted.cursor.as_deref())?, limit(wanted.limit)? as usize);
    if wanted.lines {
        let lines = lines(&engine, filter, begin).await?;
        return Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], lines).into_response());
    }
    let page = engine.inbox().audit(filter, begin, limit).await?;
    let items = page.items.into_iter().map(AuditJson::from).collect();
    let next_cursor = page.next.map(|cursor| cursor.to_string());
    Ok(Json(Items::<AuditJson> { items, next_cursor }).into_response())
}

/// Returns all entries from a place on as lines. There are at most 100,000, of some hundred bytes each.
async fn lines(engine: &Engine, filter: AuditFilter, begin: Option<i64>) -> Result<String, Problem> {
    const PIECE: usize = 1_000;
    let (mut lines, mut place) = (String::new(), begin);
    loop {
        let page = engine.inbox().audit(filter, place, PIECE).await?;
        for entry in page.items.into_iter().map(AuditJson::from) {
            lines.push_str(&serde_json::to_string(&entry).unwrap_or_default());
            lines.push('\n');
        }
        place = page.next;
        if place.is_none() {
            return Ok(lines);
        }
    }
}
