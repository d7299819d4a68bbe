//! Where an event's header lines and body are: as they came (`raw`), compressed (`packed`), or, if an earlier version
//! stored them, in the event's own row.

use bytes::Bytes;
use hookmitt_event::HeaderLines;
use rusqlite::{Connection, Row, types::ValueRef};

use crate::{InboxError, dictionary, form};

/// Selects the header lines, the dictionary, and whether they are packed. More columns may follow.
const HEADERS: &str = "SELECT coalesce(r.headers, p.headers, e.headers), p.dictionary,
    r.seq IS NULL AND p.seq IS NOT NULL";

const FROM: &str = "FROM event e LEFT JOIN raw r ON r.seq = e.seq LEFT JOIN packed p ON p.seq = e.seq
    WHERE e.seq = ?1";

/// Returns the header lines and the body of an event.
pub(crate) fn read(db: &Connection, seq: i64) -> Result<(HeaderLines, Bytes), InboxError> {
    let sql = format!("{HEADERS}, coalesce(r.body, p.body, e.body), e.size {FROM}");
    let mut select = db.prepare_cached(&sql)?;
    let mut found = select.query([seq])?;
    let row = found.next()?.ok_or_else(|| InboxError::UnknownEvent(format!("#{seq}")))?;
    let (headers, body) = (header_lines(bytes(db, row, 0)?)?, bytes(db, row, 3)?);
    if row.get::<_, usize>(4)? != body.len() {
        return Err(InboxError::Damaged(format!(
            "the body of event #{seq} has another length than it came with"
        )));
    }
    Ok((headers, body.into()))
}

/// Returns the header lines of an event. Its body isn't read.
pub(crate) fn headers(db: &Connection, seq: i64) -> Result<HeaderLines, InboxError> {
    let mut select = db.prepare_cached(&format!("{HEADERS} {FROM}"))?;
    let mut found = select.query([seq])?;
    let row = found.next()?.ok_or_else(|| InboxError::UnknownEvent(format!("#{seq}")))?;
    header_lines(bytes(db, row, 0)?)
}

/// Returns the bytes of a column of a row that begins with [`HEADERS`].
fn bytes(db: &Connection, row: &Row<'_>, column: usize) -> Result<Vec<u8>, InboxError> {
    let ValueRef::Blob(stored) = row.get_ref(column)? else {
        return Err(InboxError::Damaged("the bytes of an event are missing".to_owned()));
    };
    if !row.get::<_, bool>(2)? {
        return Ok(stored.to_vec());
    }
    let dictionary: Option<i64> = row.get(1)?;
    form::bytes(stored, dictionary.map(|id| dictionary::prepared(db, id)).transpose()?)
}

/// Reads header lines as they are stored.
pub(crate) fn header_lines(block: Vec<u8>) -> Result<HeaderLines, InboxError> {
    let damaged = |_| InboxError::Damaged("the header lines of an event can't be read".to_owned());
    HeaderLines::from_wire(block.into()).map_err(damaged)
}
