//! Conversions between columns and values.

use std::time::Duration;

use hookmitt_clock::StoreClock;
use hookmitt_event::{Cause, DeliveryState, EventId, EventStatus, HttpVersion, Timestamp, Verdict, Via};
use rusqlite::{Row, types::Type};

/// Bits of an event's `flags`.
pub(crate) const BROWSER: i64 = 1;
pub(crate) const CONFLICT: i64 = 2;
pub(crate) const STALE: i64 = 4;
pub(crate) const CALLBACK: i64 = 8;
pub(crate) const FOLDS: i64 = 16;
pub(crate) const TAGGED: i64 = 32;
/// It is deleted in part: what belonged to it was too much for one commit.
pub(crate) const GOING: i64 = 64;
/// Its body or its header lines were lost when the inbox was damaged.
pub(crate) const LOST: i64 = 128;

/// The error for a column whose value no hookmitt of this schema wrote.
pub(crate) fn corrupt(column: usize, what: &'static str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Null, what.into())
}

pub(crate) fn id(row: &Row<'_>, column: usize) -> rusqlite::Result<EventId> {
    Ok(EventId::from_bytes(row.get(column)?))
}

pub(crate) fn id_or_null(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<EventId>> {
    Ok(row.get::<_, Option<[u8; 16]>>(column)?.map(EventId::from_bytes))
}

pub(crate) fn moment(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    Ok(Timestamp::from_micros(row.get(column)?))
}

pub(crate) fn moment_or_null(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_micros))
}

/// Reads a moment in store time and converts it to wall clock time, to be shown.
pub(crate) fn due(row: &Row<'_>, column: usize, clock: &StoreClock) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(|due| clock.to_wall(due)))
}

/// Returns a length of time as it is stored.
pub(crate) fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

pub(crate) fn verdict(row: &Row<'_>, column: usize) -> rusqlite::Result<Verdict> {
    let place: usize = row.get(column)?;
    Verdict::ALL.get(place).map(|(verdict, _)| *verdict).ok_or_else(|| corrupt(column, "verdict"))
}

pub(crate) fn via(row: &Row<'_>, column: usize) -> rusqlite::Result<Via> {
    let place: usize = row.get(column)?;
    Via::ALL.get(place).copied().ok_or_else(|| corrupt(column, "via"))
}

pub(crate) fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<DeliveryState> {
    let place: usize = row.get(column)?;
    DeliveryState::ALL.get(place).map(|(state, _)| *state).ok_or_else(|| corrupt(column, "delivery state"))
}

pub(crate) fn status(row: &Row<'_>, column: usize) -> rusqlite::Result<EventStatus> {
    let place: usize = row.get(column)?;
    EventStatus::ALL.get(place).map(|(status, _)| *status).ok_or_else(|| corrupt(column, "status"))
}

pub(crate) fn version(row: &Row<'_>, column: usize) -> rusqlite::Result<HttpVersion> {
    match row.get::<_, i64>(column)? {
        10 => Ok(HttpVersion::Http10),
        11 => Ok(HttpVersion::Http11),
        _ => Err(corrupt(column, "HTTP version")),
    }
}

pub(crate) const fn version_number(version: HttpVersion) -> i64 {
    match version {
        HttpVersion::Http10 => 10,
        HttpVersion::Http11 => 11,
    }
}

/// Returns causes as they are stored; `None` (null) if there are none.
pub(crate) fn causes_json(causes: &[Cause]) -> Option<String> {
    if causes.is_empty() { None } else { serde_json::to_string(causes).ok() }
}
