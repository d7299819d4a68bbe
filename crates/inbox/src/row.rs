//! A row of a list: an event without its body, and its status.

use bytes::Bytes;
use hookmitt_event::{EventId, EventStatus};
use rusqlite::{Connection, Row, ToSql};

use crate::{
    InboxError, content,
    deliveries::STATUS_RANK,
    events::{COLUMNS, NEXT, read},
    glance::Listed,
    rows,
};

/// Returns a query for events without their bodies, each with the most telling state of its deliveries.
pub(crate) fn select() -> String {
    select_with("")
}

/// The index of the first of the columns that [`select_with`] adds.
pub(crate) const ADDED: usize = NEXT + 1;

/// Like [`select`], with more columns: `, a, b`.
pub(crate) fn select_with(more: &str) -> String {
    format!(
        "SELECT {COLUMNS}, (SELECT min({STATUS_RANK}) FROM delivery WHERE event = e.seq){more}
        FROM event e JOIN source s ON s.id = e.source"
    )
}

/// Reads a row of [`select`].
pub(crate) fn listed(db: &Connection, row: &Row<'_>) -> Result<Listed, InboxError> {
    let rank: Option<usize> = row.get(NEXT)?;
    let status = rank.map_or(Some(EventStatus::Captured), |rank| Some(EventStatus::ALL.get(rank)?.0));
    let status = status.ok_or_else(|| rows::corrupt(NEXT, "status"))?;
    let headers = content::headers(db, row.get(0)?)?;
    Ok(Listed { event: read(row, (headers, Bytes::new()))?, status, glance: None })
}

/// Returns the event with a number, if there is one.
pub(crate) fn by_seq(db: &Connection, seq: i64) -> Result<Option<Listed>, InboxError> {
    one(db, "e.seq = ?1", &seq)
}

/// Returns the event with an id, if there is one.
pub(crate) fn by_id(db: &Connection, id: EventId) -> Result<Option<Listed>, InboxError> {
    one(db, "e.id = ?1", id.as_bytes())
}

fn one(db: &Connection, condition: &str, value: &dyn ToSql) -> Result<Option<Listed>, InboxError> {
    let mut select = db.prepare_cached(&format!("{} WHERE {condition}", select()))?;
    let mut found = select.query([value])?;
    found.next()?.map(|row| listed(db, row)).transpose()
}
