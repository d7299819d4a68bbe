//! The audit trail.

use std::sync::Arc;

use axum::{Json, extract::State};
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
) -> Result<Json<Items<AuditJson>>, Problem> {
    let named = |error: String| Problem::bad_input(error, "");
    let filter = AuditFilter {
        since: moment(wanted.since.as_deref())?,
        until: moment(wanted.until.as_deref())?,
        who: wanted.who.as_deref().map(str::parse).transpose().map_err(named)?,
        what: wanted.what.as_deref().map(str::parse).transpose().map_err(named)?,
    };
    let limit = limit(wanted.limit)? as usize;
    let page = engine.inbox().audit(filter, cursor(wanted.cursor.as_deref())?, limit).await?;
    let items = page.items.into_iter().map(AuditJson::from).collect();
    Ok(Json(Items { items, next_cursor: page.next.map(|cursor| cursor.to_string()) }))
}
