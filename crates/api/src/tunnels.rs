//! Tunnels: adds, joins, shows, turns off and on, and removes them. Also lists the times when they were not connected.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use hookmitt_engine::{
    Announced, DeviceView, Engine, GapView, Invitation, PublicRequest, Removed, RevokedDevice, TunnelChange,
    TunnelRequest, TunnelView,
};
use hookmitt_event::{Slug, Timestamp};
use serde::Deserialize;

use crate::{
    Problem,
    events::Items,
    input::{Asked, Body, Path},
};

/// Lists all tunnels in the order in which they were added.
#[utoipa::path(get, operation_id = "list_tunnels", path = "/api/tunnels", responses((status = 200, body = Items<TunnelView>)))]
pub(crate) async fn list(State(engine): State<Arc<Engine>>) -> Result<Json<Items<TunnelView>>, Problem> {
    Ok(Items::all(engine.tunnels.all().await?))
}

/// Adds a tunnel: opens one with a token, joins one with an invitation, or uses a smee.io channel or an installed
/// program.
#[utoipa::path(post, operation_id = "add_tunnel", path = "/api/tunnels", request_body = TunnelRequest, responses((status = 201, body = TunnelView), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem), (status = 502, body = Problem)))]
pub(crate) async fn add(
    State(engine): State<Arc<Engine>>,
    Body(order): Body<TunnelRequest>,
) -> Result<(StatusCode, Json<TunnelView>), Problem> {
    Ok((StatusCode::CREATED, Json(engine.tunnels.add(order).await?)))
}

/// Selects the tunnels whose relays are told.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Serving {
    /// Only tunnels that serve this source.
    #[param(value_type = Option<String>)]
    source: Option<Slug>,
}

/// Tells relays of the sources, as they are set now, and waits up to five seconds until they know.
///
/// Relays are told of every change anyway; this is for whoever wants to know that they know. Lists the relays' tunnels
/// that are switched on.
#[utoipa::path(post, operation_id = "announce_sources", path = "/api/tunnels/announce", params(Serving), responses((status = 200, body = Items<Announced>), (status = 400, body = Problem)))]
pub(crate) async fn announce(
    State(engine): State<Arc<Engine>>,
    Asked(asked): Asked<Serving>,
) -> Result<Json<Items<Announced>>, Problem> {
    Ok(Items::all(engine.tunnels.announce(asked.source.as_ref()).await?))
}

/// Gets a source a public URL by what there is: the relay that is set up, else an installed cloudflared or ngrok, else a
/// new channel.
///
/// The code `only-a-channel` (409) says that only a channel is left, and what it can't do; `channel` agrees to one. The
/// URL of a program is known a moment later.
#[utoipa::path(post, operation_id = "public_url", path = "/api/tunnels/public", request_body = PublicRequest, responses((status = 200, body = TunnelView), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem), (status = 502, body = Problem)))]
pub(crate) async fn public(
    State(engine): State<Arc<Engine>>,
    Body(order): Body<PublicRequest>,
) -> Result<Json<TunnelView>, Problem> {
    Ok(Json(engine.tunnels.public(order).await?))
}

/// Returns one tunnel.
#[utoipa::path(get, operation_id = "show_tunnel", path = "/api/tunnels/{id}", params(("id" = i64, Path)), responses((status = 200, body = TunnelView), (status = 404, body = Problem)))]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<TunnelView>, Problem> {
    Ok(Json(engine.tunnels.one(number(&id)?).await?))
}

/// Turns a tunnel off or on, or changes its label. Absent fields stay as they are.
#[utoipa::path(patch, operation_id = "change_tunnel", path = "/api/tunnels/{id}", params(("id" = i64, Path)), request_body = TunnelChange, responses((status = 200, body = TunnelView), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn change(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
    Body(change): Body<TunnelChange>,
) -> Result<Json<TunnelView>, Problem> {
    Ok(Json(engine.tunnels.change(number(&id)?, change).await?))
}

/// Removes a tunnel with its keys.
///
/// Its events are kept. Requests that still wait at the relay are not fetched. The answer says whether the relay was
/// notified.
#[utoipa::path(delete, operation_id = "remove_tunnel", path = "/api/tunnels/{id}", params(("id" = i64, Path)), responses((status = 200, body = Removed), (status = 404, body = Problem)))]
pub(crate) async fn remove(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<Removed>, Problem> {
    Ok(Json(engine.tunnels.remove(number(&id)?).await?))
}

/// Makes an invitation for one more device. It contains the tunnel's key, works once, and is not shown again.
#[utoipa::path(post, operation_id = "invite_to_tunnel", path = "/api/tunnels/{id}/invite", params(("id" = i64, Path)), responses((status = 200, body = Invitation), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn invite(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<Invitation>, Problem> {
    Ok(Json(engine.tunnels.invite(number(&id)?).await?))
}

/// Lists the devices that take part in a tunnel, oldest first.
#[utoipa::path(get, operation_id = "tunnel_devices", path = "/api/tunnels/{id}/devices", params(("id" = i64, Path)), responses((status = 200, body = Items<DeviceView>), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem), (status = 502, body = Problem)))]
pub(crate) async fn devices(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<Items<DeviceView>>, Problem> {
    Ok(Items::all(engine.tunnels.devices(number(&id)?).await?))
}

/// Removes a device from a tunnel for good, by its id or name. Only the device that opened the tunnel can do this.
///
/// The removed device gets nothing more, and new letters are sealed with a new key.
#[utoipa::path(delete, operation_id = "revoke_device", path = "/api/tunnels/{id}/devices/{device}", params(("id" = i64, Path), ("device" = String, Path)), responses((status = 200, body = RevokedDevice), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem), (status = 502, body = Problem)))]
pub(crate) async fn revoke(
    State(engine): State<Arc<Engine>>,
    Path((id, device)): Path<(String, String)>,
) -> Result<Json<RevokedDevice>, Problem> {
    Ok(Json(engine.tunnels.revoke_device(number(&id)?, &device).await?))
}

/// Selects a page of a tunnel's gaps.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct GapsPage {
    /// The cursor of the page.
    cursor: Option<i64>,
    /// The number of gaps, 1 to 1000; 100 by default.
    limit: Option<usize>,
}

/// Lists a tunnel's gaps, the times when it was not connected, newest first.
#[utoipa::path(get, operation_id = "tunnel_gaps", path = "/api/tunnels/{id}/gaps", params(("id" = i64, Path), GapsPage), responses((status = 200, body = Items<GapView>), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn gaps(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
    Asked(asked): Asked<GapsPage>,
) -> Result<Json<Items<GapView>>, Problem> {
    let page = engine.tunnels.gaps(number(&id)?, asked.cursor, limit(asked.limit)?).await?;
    let mut items = Vec::with_capacity(page.items.len());
    for gap in page.items {
        items.push(engine.tunnels.gap_view(gap).await?);
    }
    Ok(Json(Items { items, next_cursor: page.next.map(|next| next.to_string()) }))
}

/// Selects gaps of all tunnels.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct GapsBetween {
    /// Only gaps that ended at this time or later, RFC 3339.
    since: Option<String>,
    /// Only gaps that ended before this time, RFC 3339.
    until: Option<String>,
    /// The number of gaps, 1 to 1000; 100 by default.
    limit: Option<usize>,
}

/// Lists the gaps of all tunnels that have ended, newest first.
///
/// For a relay's tunnel, only gaps after which events were fetched or were lost are listed. Other tunnels keep nothing,
/// so nobody knows what they lost: all their gaps are listed, except those in which a person had turned the tunnel off.
#[utoipa::path(get, operation_id = "list_gaps", path = "/api/gaps", params(GapsBetween), responses((status = 200, body = Items<GapView>), (status = 400, body = Problem)))]
pub(crate) async fn between(
    State(engine): State<Arc<Engine>>,
    Asked(asked): Asked<GapsBetween>,
) -> Result<Json<Items<GapView>>, Problem> {
    let moment = |text: Option<String>| -> Result<Option<Timestamp>, Problem> {
        let parsed = text.as_deref().map(str::parse::<Timestamp>).transpose();
        parsed.map_err(|error| Problem::bad_input(error.to_string(), "such as 2026-01-31T12:00:00Z"))
    };
    let (since, until) = (moment(asked.since)?, moment(asked.until)?);
    let found = engine.inbox().gaps_between(since, until, limit(asked.limit)?).await?;
    let mut items = Vec::with_capacity(found.len());
    for gap in found {
        items.push(engine.tunnels.gap_view(gap).await?);
    }
    Ok(Items::all(items))
}

fn limit(asked: Option<usize>) -> Result<usize, Problem> {
    match asked.unwrap_or(100) {
        limit @ 1..=1_000 => Ok(limit),
        other => {
            Err(Problem::bad_input(format!("{other} isn't a valid limit"), "use a limit from 1 to 1000"))
        }
    }
}

fn number(text: &str) -> Result<i64, Problem> {
    text.parse()
        .map_err(|_| Problem::bad_input("that isn't a tunnel's id", "`hookmitt tunnel list` shows them"))
}
