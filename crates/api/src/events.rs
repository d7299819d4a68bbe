//! Lists and shows events, and moves them to the bin.

use std::{sync::Arc, time::Duration};

use axum::{Json, extract::State};
use hookmitt_engine::{Engine, Listed};
use hookmitt_event::{EventId, SenderAnswer, Slug, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    delivery_json::DeliveryJson,
    event_json::EventJson,
    input::{Asked, Body, Path},
    wanted::{Wanted, limit},
};

/// A page of the list of events.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct EventPage {
    items: Vec<EventJson>,
    /// The cursor of the next page; null on the last page.
    next_cursor: Option<String>,
    /// The number of the event down to which was searched, if the page ended before it was full because the search takes
    /// long; else left out. The next page goes on there.
    #[serde(skip_serializing_if = "Option::is_none")]
    searched_to: Option<i64>,
}

/// A page of a list.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Items<T> {
    pub(crate) items: Vec<T>,
    /// The cursor of the next page; null on the last page.
    pub(crate) next_cursor: Option<String>,
}

impl<T> Items<T> {
    pub(crate) fn all(items: impl IntoIterator<Item = T>) -> Json<Self> {
        Json(Self { items: items.into_iter().collect(), next_cursor: None })
    }
}

/// Lists events, newest first, one page at a time.
#[utoipa::path(get, operation_id = "list_events", path = "/api/events", params(Wanted), responses((status = 200, body = EventPage), (status = 400, body = Problem)))]
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Json<EventPage>, Problem> {
    let page = engine.search.page(wanted.filter()?, wanted.cursor()?, wanted.limit()?).await?;
    let items = page.items.iter().map(row).collect();
    let next_cursor = page.next.map(|cursor| cursor.to_string());
    Ok(Json(EventPage { items, next_cursor, searched_to: page.searched_to }))
}

/// How many events a list has.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Counted {
    count: u64,
    /// Whether that is the exact number. If not, there are at least so many.
    exact: bool,
}

/// Counts the events of a list, as far as that is possible at once.
#[utoipa::path(get, operation_id = "count_events", path = "/api/events/count", params(Wanted), responses((status = 200, body = Counted), (status = 400, body = Problem)))]
pub(crate) async fn count(
    State(engine): State<Arc<Engine>>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Json<Counted>, Problem> {
    let (count, exact) = engine.search.count(wanted.filter()?).await?;
    Ok(Json(Counted { count, exact }))
}

/// Returns an event in the form that lists use.
pub(crate) fn row(listed: &Listed) -> EventJson {
    EventJson { glance: listed.glance.clone(), ..EventJson::new(&listed.event, listed.status) }
}

/// Finds the event that a text names: an id, the beginning of an id, `#12`, `last` or `last~2`.
pub(crate) async fn named(engine: &Engine, text: &str) -> Result<EventId, Problem> {
    Ok(engine.inbox().resolve(text).await?)
}

pub(crate) async fn shown(engine: &Engine, id: EventId) -> Result<Json<EventJson>, Problem> {
    let shown = engine.inbox().show(id).await?;
    let next = engine.delivered_secrets.next(&shown.event, Timestamp::now());
    let (handshake_offer, handshake_note) = (next.offer, next.note);
    let answered = shown.event.answered.filter(|answer| has_gone_out(answer, shown.event.received_at));
    let uncovered = engine.verdicts.uncovered(&shown.event);
    let event = EventJson::shown(&shown.event, &shown.deliveries);
    Ok(Json(EventJson { answered, handshake_offer, handshake_note, uncovered, ..event }))
}

/// Whether an answer has gone out. One that a source delays is stored with its event, before its time.
fn has_gone_out(answer: &SenderAnswer, received_at: Timestamp) -> bool {
    let after = Duration::from_millis(answer.after_ms.unwrap_or_default());
    received_at.as_micros().saturating_add(i64::try_from(after.as_micros()).unwrap_or(i64::MAX))
        <= Timestamp::now().as_micros()
}

/// Returns one event with its deliveries.
#[utoipa::path(get, operation_id = "show_event", path = "/api/events/{id}", params(("id" = String, description = "id, prefix, #12, last or last~2")), responses((status = 200, body = EventJson), (status = 404, body = Problem)))]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<EventJson>, Problem> {
    shown(&engine, named(&engine, &id).await?).await
}

/// The copies of an event: the first event and all its duplicates, without those in the bin.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Copies {
    /// The copies, oldest first, each with its glance.
    items: Vec<EventJson>,
    /// How many copies there are.
    total: u64,
}

/// How many copies are wanted.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Most {
    /// The number of events, 1 to 1000; 100 by default.
    limit: Option<u32>,
}

/// Returns the copies of an event: the first event and all its duplicates, without those in the bin. The event itself
/// is one of them.
#[utoipa::path(get, operation_id = "event_copies", path = "/api/events/{id}/copies", params(("id" = String, Path), Most), responses((status = 200, body = Copies), (status = 404, body = Problem)))]
pub(crate) async fn copies(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
    Asked(most): Asked<Most>,
) -> Result<Json<Copies>, Problem> {
    let limit = limit(most.limit)?;
    let (ids, total) = engine.inbox().copies(named(&engine, &id).await?, limit).await?;
    let listed = engine.inbox().these_glanced(ids).await?;
    Ok(Json(Copies { items: listed.iter().map(row).collect(), total }))
}

/// An event that was deleted.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Deleted {
    #[schema(value_type = String, format = "uuid")]
    id: EventId,
    /// How many of its deliveries waited. They were ended as skipped.
    ended: usize,
}

/// Moves an event to the bin, and ends its waiting deliveries.
#[utoipa::path(delete, operation_id = "delete_event", path = "/api/events/{id}", params(("id" = String, Path)), responses((status = 200, body = Deleted), (status = 404, body = Problem)))]
pub(crate) async fn delete(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<Deleted>, Problem> {
    let id = named(&engine, &id).await?;
    let ended = engine.trash.set_deleted(id, true).await?;
    Ok(Json(Deleted { id, ended }))
}

/// Restores an event from the bin, and makes the deliveries wait again that its deletion ended.
#[utoipa::path(post, operation_id = "restore_event", path = "/api/events/{id}/restore", params(("id" = String, Path)), responses((status = 200, body = EventJson), (status = 404, body = Problem)))]
pub(crate) async fn restore(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<EventJson>, Problem> {
    let id = named(&engine, &id).await?;
    engine.trash.set_deleted(id, false).await?;
    shown(&engine, id).await
}

/// Where an event is moved.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Move {
    /// The source. It must exist.
    #[schema(value_type = String)]
    source: Slug,
}

/// Moves an event out of `unassigned` into a source, and returns it as it is there: judged as of when it was received, with
/// a number of its own, and on its way to the source's targets.
#[utoipa::path(post, operation_id = "move_event", path = "/api/events/{id}/move", params(("id" = String, Path)), request_body = Move, responses((status = 200, body = EventJson), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn assign(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
    Body(order): Body<Move>,
) -> Result<Json<EventJson>, Problem> {
    let id = named(&engine, &id).await?;
    engine.deliver_if_alone().await?;
    let moved = engine.fixtures.move_to(id, &order.source).await?;
    shown(&engine, moved.id).await
}

/// Returns the deliveries of an event with their attempts.
#[utoipa::path(get, operation_id = "event_deliveries", path = "/api/events/{id}/deliveries", params(("id" = String, Path)), responses((status = 200, body = Items<DeliveryJson>), (status = 404, body = Problem)))]
pub(crate) async fn deliveries(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<Json<Items<DeliveryJson>>, Problem> {
    let all = engine.inbox().deliveries(named(&engine, &id).await?).await?;
    Ok(Items::all(all.iter().map(DeliveryJson::from)))
}
