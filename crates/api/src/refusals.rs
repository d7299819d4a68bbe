//! Requests that were refused instead of stored.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{Engine, Refused, RefusedCount};
use hookmitt_event::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    input::Asked,
    trash::moment,
    wanted::{cursor, limit},
};

/// A request that was refused instead of stored.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct RefusedJson {
    /// When it was refused, RFC 3339.
    #[schema(value_type = String, format = "date-time")]
    at: Timestamp,
    /// The sender's address.
    remote: String,
    /// The method; null if the head was not understood.
    method: Option<String>,
    /// The request target as it was called.
    target: Option<String>,
    /// The value of the Host line.
    host: Option<String>,
    /// The status of the answer.
    status: u16,
    /// The stable code of the answer.
    code: String,
    /// What happened, as a sentence.
    message: String,
    /// The source's name that was called, whether there is such a source or not.
    source: Option<String>,
    /// The catalogue id of the provider that the header lines give away.
    provider: Option<String>,
    /// The size of the body in bytes.
    size: Option<u64>,
    /// How many more like it came in the same moment and are not listed.
    more: u64,
}

impl From<Refused> for RefusedJson {
    fn from(refused: Refused) -> Self {
        let Refused { at, remote, method, target, host, status, code, message, source, provider, size, more } =
            refused;
        Self { at, remote, method, target, host, status, code, message, source, provider, size, more }
    }
}

/// What a relay refused because of its limits while it was asked; no more is known of it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct RelayRefused {
    /// The tunnel's label.
    tunnel: String,
    /// The relay's host.
    host: String,
    /// How many, and when the last.
    refused: RefusedCount,
}

/// A page of refused requests.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct RefusedPage {
    /// The requests, newest first.
    items: Vec<RefusedJson>,
    /// The cursor of the next page; null on the last page.
    next_cursor: Option<String>,
    /// What relays refused, if anything.
    relays: Vec<RelayRefused>,
}

/// Selects refused requests.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Only those of this time or later, RFC 3339.
    since: Option<String>,
    /// Only those before this time, RFC 3339.
    until: Option<String>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
    /// The number of requests, 1 to 1000; 100 by default. The first page may hold a few more.
    limit: Option<u32>,
}

/// Lists requests that were refused, newest first: for 30 days, at most 10,000.
#[utoipa::path(get, operation_id = "list_refusals", path = "/api/refusals", params(Wanted), responses((status = 200, body = RefusedPage), (status = 400, body = Problem)))]
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Json<RefusedPage>, Problem> {
    let times = (moment(wanted.since.as_deref())?, moment(wanted.until.as_deref())?);
    let limit = limit(wanted.limit)? as usize;
    let (items, next) = engine.refusals(times, cursor(wanted.cursor.as_deref())?, limit).await?;
    let tunnels = engine.tunnels.all().await?.into_iter().filter(|tunnel| tunnel.refused.count > 0);
    let relays = tunnels.map(|tunnel| RelayRefused {
        tunnel: tunnel.label,
        host: tunnel.host,
        refused: tunnel.refused,
    });
    Ok(Json(RefusedPage {
        items: items.into_iter().map(RefusedJson::from).collect(),
        next_cursor: next.map(|cursor| cursor.to_string()),
        relays: relays.collect(),
    }))
}
