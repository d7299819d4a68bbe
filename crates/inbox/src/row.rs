//! A row of a list: an event without its body, and its status.

use bytes::Bytes;
use hookmitt_event::EventStatus;
use rusqlite::Row;

use crate::{
    deliveries::STATUS_RANK,
    events::{BODY, COLUMNS, read},
    glance::Listed,
    rows,
};

/// Returns a query for events without their bodies, each with the most telling state of its deliveries.
pub(crate) fn select() -> String {
    format!(
        "SELECT {COLUMNS}, (SELECT min({STATUS_RANK}) FROM delivery WHERE event = e.seq)
        FROM event e JOIN source s ON s.id = e.source"
    )
}

pub(crate) fn listed(row: &Row<'_>) -> rusqlite::Result<Listed> {
    let rank: Option<usize> = row.get(BODY)?;
    let status = rank.map_or(Some(EventStatus::Captured), |rank| Some(EventStatus::ALL.get(rank)?.0));
    let status = status.ok_or_else(|| rows::corrupt(BODY, "status"))?;
    Ok(Listed { event: read(row, Bytes::new())?, status, glance: None })
}
