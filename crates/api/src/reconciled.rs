//! A provider's events against ours, by day and one by one.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{AwayView, Day, DayPart, Engine, ListedLine};
use hookmitt_event::{EventId, Timestamp};
use jiff::{ToSpan as _, Zoned, tz::TimeZone};
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    events::Items,
    input::{Asked, Path},
    sources::slug,
    wanted::{cursor, limit},
};

/// A time.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WantedDays {
    /// The first moment, RFC 3339; by default 7 days ago.
    since: Option<String>,
    /// The first moment that is too late, RFC 3339; by default now.
    until: Option<String>,
}

/// A provider's events against ours, by day.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Reconciled {
    /// The first moment that a sync has looked at; null if there was none.
    #[schema(value_type = Option<String>, format = "date-time")]
    since: Option<Timestamp>,
    /// The first moment that none has looked at.
    #[schema(value_type = Option<String>, format = "date-time")]
    until: Option<Timestamp>,
    /// The days of this machine's time zone, the oldest first.
    items: Vec<DayJson>,
    /// The times when no hookmitt caught anything, newest first.
    away: Vec<AwayView>,
}

/// A provider's events of a day against ours.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct DayJson {
    /// The day, such as `2026-11-25`.
    day: String,
    /// When it begins, or later if no sync has looked at its beginning.
    #[schema(value_type = String, format = "date-time")]
    from: Timestamp,
    /// When it ends.
    #[schema(value_type = String, format = "date-time")]
    until: Timestamp,
    /// How many are listed there and are or were here.
    both: u64,
    /// How many are listed there and aren't here.
    only_there: u64,
    /// How many came in here and aren't listed there.
    only_here: u64,
}

/// The most days that are counted at once.
const MOST_DAYS: usize = 92;

/// Counts a source's events at the provider by day against ours, for the time that syncs have looked at.
#[utoipa::path(get, operation_id = "reconcile", path = "/api/sync/{source}/days", params(("source" = String, Path), WantedDays), responses((status = 200, body = Reconciled), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn days(
    State(engine): State<Arc<Engine>>,
    Path(name): Path<String>,
    Asked(wanted): Asked<WantedDays>,
) -> Result<Json<Reconciled>, Problem> {
    let now = Timestamp::now();
    let week = Timestamp::from_micros(now.as_micros() - 7 * 24 * 60 * 60 * 1_000_000);
    let since = moment(wanted.since.as_deref())?.unwrap_or(week);
    let until = moment(wanted.until.as_deref())?.unwrap_or(now);
    let zone = TimeZone::system();
    let source = slug(&name)?;
    let away = engine.sync.away(&source, since, until).await?;
    let found = engine.sync.days(&source, days_between(since, until, &zone)?).await?;
    let Some(((since, until), days)) = found else {
        return Ok(Json(Reconciled { since: None, until: None, items: Vec::new(), away }));
    };
    let items = days.into_iter().map(|day| DayJson::of(day, &zone)).collect();
    Ok(Json(Reconciled { since: Some(since), until: Some(until), items, away }))
}

impl DayJson {
    fn of(day: Day, zone: &TimeZone) -> Self {
        let name = zoned(day.from, zone).map(|at| at.date().to_string()).unwrap_or_default();
        let Day { from, until, both, only_there, only_here } = day;
        Self { day: name, from, until, both, only_there, only_here }
    }
}

/// Returns the days from one moment to another, of which the first and the last may be shorter.
fn days_between(
    since: Timestamp,
    until: Timestamp,
    zone: &TimeZone,
) -> Result<Vec<(Timestamp, Timestamp)>, Problem> {
    let (mut days, mut from) = (Vec::new(), since);
    while from < until {
        if days.len() == MOST_DAYS {
            return Err(Problem::bad_input("too many days", "name a time of at most 92 days"));
        }
        let end =
            zoned(from, zone).and_then(|at| at.date().checked_add(1.day()).ok()?.to_zoned(zone.clone()).ok());
        let end = end.map_or(until, |end| Timestamp::from_micros(end.timestamp().as_microsecond()));
        let end = end.min(until);
        days.push((from, end));
        from = end;
    }
    Ok(days)
}

fn zoned(at: Timestamp, zone: &TimeZone) -> Option<Zoned> {
    Some(jiff::Timestamp::from_microsecond(at.as_micros()).ok()?.to_zoned(zone.clone()))
}

fn moment(text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let parsed = text.map(str::parse::<Timestamp>).transpose();
    parsed.map_err(|error| Problem::bad_input(error.to_string(), "write a time as 2026-11-26T18:00:00Z"))
}

/// A part of a source's events.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WantedListed {
    /// The first moment, RFC 3339.
    since: Option<String>,
    /// The first moment that is too late, RFC 3339.
    until: Option<String>,
    /// `both`, `only_there` or `only_here`; `only_there` by default.
    part: Option<String>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
    /// The number of events, 1 to 1000; 100 by default.
    limit: Option<u32>,
}

/// An event, as the provider lists it or as it is here.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ListedJson {
    /// Its id at the provider, or what makes it the same as others here.
    id: String,
    /// When it happened.
    #[schema(value_type = String, format = "date-time")]
    at: Timestamp,
    /// Its type.
    r#type: Option<String>,
    /// Its event; null if it isn't here, or not any more.
    #[schema(value_type = Option<String>, format = "uuid")]
    event_id: Option<EventId>,
    /// Its number.
    seq: Option<i64>,
    /// Whether backup sync added it.
    added: bool,
    /// Why it can't be recovered; null if it can, or needn't.
    why: Option<String>,
}

impl From<ListedLine> for ListedJson {
    fn from(line: ListedLine) -> Self {
        Self {
            id: line.id,
            at: line.at,
            r#type: line.kind,
            event_id: line.event.map(|(id, _)| id),
            seq: line.event.map(|(_, seq)| seq),
            added: line.added,
            why: line.why,
        }
    }
}

/// Lists a part of a source's events, in order of time, one page at a time.
#[utoipa::path(get, operation_id = "list_reconciled", path = "/api/sync/{source}/events", params(("source" = String, Path), WantedListed), responses((status = 200, body = Items<ListedJson>), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn events(
    State(engine): State<Arc<Engine>>,
    Path(name): Path<String>,
    Asked(wanted): Asked<WantedListed>,
) -> Result<Json<Items<ListedJson>>, Problem> {
    let since = moment(wanted.since.as_deref())?.unwrap_or(Timestamp::from_micros(0));
    let until = moment(wanted.until.as_deref())?.unwrap_or_else(Timestamp::now);
    let part = match wanted.part.as_deref() {
        Some("both") => DayPart::Both,
        Some("only_there") | None => DayPart::OnlyThere,
        Some("only_here") => DayPart::OnlyHere,
        Some(other) => {
            let message = format!("no part is called {other:?}");
            return Err(Problem::bad_input(message, "use both, only_there or only_here"));
        }
    };
    let (after, limit) = (cursor(wanted.cursor.as_deref())?, limit(wanted.limit)? as usize);
    let page = engine.sync.listed(&slug(&name)?, (since, until), part, after, limit).await?;
    let items = page.items.into_iter().map(ListedJson::from).collect();
    Ok(Json(Items { items, next_cursor: page.next.map(|next| next.to_string()) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_zone_and_follow_each_other() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let days = days_between(at("2026-10-24T20:00:00Z"), at("2026-10-26T01:00:00Z"), &zone).unwrap();
        let ends: Vec<_> = days.iter().map(|(_, end)| end.to_string()).collect();
        // The clocks go back on the 25th, which has 25 hours.
        let expected =
            ["2026-10-24T22:00:00.000000Z", "2026-10-25T23:00:00.000000Z", "2026-10-26T01:00:00.000000Z"];
        assert_eq!(ends, expected);
        assert!(days_between(at("2020-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"), &zone).is_err());
    }
}
