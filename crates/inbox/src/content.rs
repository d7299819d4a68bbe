//! Where an event's header lines and body are: as they came (`raw`), compressed (`packed`, small bodies in `block`), or,
//! if an earlier version stored them, in the event's own row.

use bytes::Bytes;
use hookmitt_event::{Event, HeaderLines};
use rusqlite::{Connection, Row, types::ValueRef};
use sha2::{Digest as _, Sha256};

use crate::{InboxError, block, dictionary, form};

/// The columns for the header lines of an event `e`, the dictionary, and whether they are packed.
pub(crate) const HEADERS: &str = "coalesce(r.headers, p.headers, e.headers), p.dictionary,
    r.seq IS NULL AND p.seq IS NOT NULL";

/// How many columns those are.
pub(crate) const WIDTH: usize = 3;

/// The tables that [`HEADERS`] needs beside `event e`.
pub(crate) const TABLES: &str = "LEFT JOIN raw r ON r.seq = e.seq LEFT JOIN packed p ON p.seq = e.seq";

/// Returns the header lines and the body of an event.
pub(crate) fn read(db: &Connection, seq: i64) -> Result<(HeaderLines, Bytes), InboxError> {
    Ok((headers(db, seq)?, body(db, seq)?))
}

/// Returns the body of an event.
fn body(db: &Connection, seq: i64) -> Result<Bytes, InboxError> {
    const SQL: &str =
        "SELECT coalesce(r.body, p.body, e.body), p.dictionary, r.seq IS NULL AND p.seq IS NOT NULL, e.size,
        iif(r.seq IS NULL, p.block, NULL), p.start, e.flags & 128
        FROM event e LEFT JOIN raw r ON r.seq = e.seq LEFT JOIN packed p ON p.seq = e.seq WHERE e.seq = ?1";
    let mut select = db.prepare_cached(SQL)?;
    let mut found = select.query([seq])?;
    let row = found.next()?.ok_or_else(|| InboxError::UnknownEvent(format!("#{seq}")))?;
    let size = row.get(3)?;
    let body = match row.get(4)? {
        Some(id) => block::body(db, id, row.get(5)?, size)?,
        None => bytes(db, row, 0)?,
    };
    if size != body.len() {
        return Err(InboxError::Lost(match row.get::<_, bool>(6)? {
            true => format!("the body of event #{seq} was lost when the inbox was damaged"),
            false => format!("the body of event #{seq} has another length than it came with"),
        }));
    }
    Ok(body.into())
}

/// Whether the body of an event has the SHA-256 that it came with.
pub(crate) fn is_genuine(db: &Connection, seq: i64) -> Result<bool, InboxError> {
    const SQL: &str = "SELECT sha256 FROM event WHERE seq = ?1";
    let sha256: [u8; 32] = db.prepare_cached(SQL)?.query_row([seq], |row| row.get(0))?;
    let (_, body) = read(db, seq)?;
    Ok(<[u8; 32]>::from(Sha256::digest(&body)) == sha256)
}

/// Fails with [`InboxError::Lost`] if the body of an event isn't the one that came: it must neither be shown nor sent.
pub(crate) fn ensure_genuine(event: &Event) -> Result<(), InboxError> {
    if <[u8; 32]>::from(Sha256::digest(&event.request.body)) == event.sha256 {
        return Ok(());
    }
    Err(InboxError::Lost(format!("the body of event #{} isn't the one that came", event.seq)))
}

/// Returns the body of an event, or `None` if it is damaged.
pub(crate) fn body_or_none(db: &Connection, seq: i64) -> Result<Option<Bytes>, InboxError> {
    match body(db, seq) {
        Ok(body) => Ok(Some(body)),
        Err(InboxError::Lost(why)) => {
            // Whoever opens the event is told; searches may come past thousands of them, again and again.
            tracing::debug!(seq, why, "an event's body can't be read, so its text can't be searched");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Returns the header lines of an event. Its body isn't read.
pub(crate) fn headers(db: &Connection, seq: i64) -> Result<HeaderLines, InboxError> {
    let sql = format!("SELECT {HEADERS} FROM event e {TABLES} WHERE e.seq = ?1");
    let mut select = db.prepare_cached(&sql)?;
    let mut found = select.query([seq])?;
    let row = found.next()?.ok_or_else(|| InboxError::UnknownEvent(format!("#{seq}")))?;
    headers_at(db, row, 0)
}

/// Reads header lines from a row in which [`HEADERS`] begin with the column `first`.
pub(crate) fn headers_at(db: &Connection, row: &Row<'_>, first: usize) -> Result<HeaderLines, InboxError> {
    header_lines(bytes(db, row, first)?)
}

/// Returns the bytes of a column. The dictionary, and whether the bytes are packed, are in the two columns after it.
fn bytes(db: &Connection, row: &Row<'_>, column: usize) -> Result<Vec<u8>, InboxError> {
    let ValueRef::Blob(stored) = row.get_ref(column)? else {
        return Err(InboxError::Lost("the bytes of an event are missing".to_owned()));
    };
    if !row.get::<_, bool>(column + 2)? {
        return Ok(stored.to_vec());
    }
    let dictionary: Option<i64> = row.get(column + 1)?;
    form::bytes(stored, dictionary.map(|id| dictionary::prepared(db, id)).transpose()?)
}

/// Reads header lines as they are stored.
pub(crate) fn header_lines(block: Vec<u8>) -> Result<HeaderLines, InboxError> {
    let damaged = |_| InboxError::Lost("the header lines of an event can't be read".to_owned());
    HeaderLines::from_wire(block.into()).map_err(damaged)
}
