//! Where an event's header lines and body are: as they came (`raw`), compressed (`packed`), or, if an earlier version
//! stored them, in the event's own row.

use bytes::Bytes;
use hookmitt_event::HeaderLines;
use rusqlite::{Connection, Row, functions::FunctionFlags, types::ValueRef};

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

/// Returns the SQL for the header lines and the body of an event as text. It needs a connection that was
/// [taught](teach).
pub(crate) fn text_sql(event: &str) -> String {
    format!(
        "coalesce((SELECT CAST(headers AS TEXT) || ' ' || CAST(body AS TEXT) FROM raw WHERE seq = {event}.seq),
        (SELECT CAST(unpacked(p.headers, d.id, d.data) AS TEXT) || ' ' ||
            CAST(unpacked(p.body, d.id, d.data) AS TEXT)
            FROM packed p LEFT JOIN dictionary d ON d.id = p.dictionary WHERE p.seq = {event}.seq),
        CAST({event}.headers AS TEXT) || ' ' || CAST({event}.body AS TEXT))"
    )
}

/// Teaches a connection `unpacked(form, dictionary, data)`, which [`text_sql`] calls.
pub(crate) fn teach(db: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function("unpacked", 3, flags, |values| {
        let failed = |why: InboxError| rusqlite::Error::UserFunctionError(why.into());
        let dictionary = values.get::<Option<i64>>(1)?;
        let dictionary =
            dictionary.map(|id| dictionary::prepared_from(id, || Ok(values.get(2)?))).transpose();
        form::bytes(values.get_raw(0).as_blob()?, dictionary.map_err(failed)?).map_err(failed)
    })
}

/// Reads header lines as they are stored.
pub(crate) fn header_lines(block: Vec<u8>) -> Result<HeaderLines, InboxError> {
    let damaged = |_| InboxError::Damaged("the header lines of an event can't be read".to_owned());
    HeaderLines::from_wire(block.into()).map_err(damaged)
}
