//! A copy from backup sync yields to the webhook of which it is a copy: the webhook becomes the first event, and sends
//! what the copy hasn't sent.

use hookmitt_event::{EventId, Verdict, Via};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    InboxError,
    batch::Batch,
    first_key::{First, KeyPlace},
    fold,
    reasons::DUPLICATE,
    rows::{self, CONFLICT},
    tally::Change,
};

/// Returns the copy of a new event, if there is one: of the event itself, or of the object that it is about, because a
/// copy of an object doesn't know the webhook's id. `takes_over` tells whether the event is one to which copies yield;
/// otherwise only the latter is looked for, because the key's owner is known without that.
pub(crate) fn copy_of(
    db: &Connection,
    place: &KeyPlace,
    key: &[u8; 16],
    object: Option<&[u8; 16]>,
    takes_over: bool,
) -> Result<Option<First>, InboxError> {
    const KEY: &str = "SELECT e.seq, e.id FROM first_key k JOIN event e ON e.seq = k.seq
        WHERE k.source = ?1 AND k.key = ?2 AND e.via = ?3 AND e.seq <> ?4";
    const OBJECT: &str = "SELECT e.seq, e.id FROM listed l JOIN event e ON e.seq = l.event
        WHERE l.source = ?1 AND l.key = ?2 AND l.outcome = 1 AND e.via = ?3 AND e.duplicate_of IS NULL
        AND e.seq <> ?4";
    let by_key = takes_over.then(|| found(db, KEY, place, key)).transpose()?.flatten();
    match object {
        Some(object) if by_key.is_none() => found(db, OBJECT, place, object),
        _ => Ok(by_key),
    }
}

fn found(db: &Connection, sql: &str, place: &KeyPlace, key: &[u8; 16]) -> Result<Option<First>, InboxError> {
    let values = params![place.source, key, Via::BackupSync as i64, place.seq];
    let read =
        |row: &rusqlite::Row<'_>| Ok(First { seq: row.get(0)?, id: rows::id(row, 1)?, other_body: false });
    Ok(db.prepare_cached(sql)?.query_row(values, read).optional()?)
}

/// Ends what waits for the copy: the webhook is sent in its place.
pub(crate) fn end_waiting(batch: &mut Batch<'_>, copy: i64) -> Result<(), InboxError> {
    const SQL: &str = "UPDATE delivery SET state = 5, last_error = ?2, ended_at = ?3, due_at = NULL
        WHERE event = ?1 AND state = 0 AND NOT replay";
    batch.arriving.hours.note(batch.db, copy)?;
    batch.db.prepare_cached(SQL)?.execute(params![copy, DUPLICATE, batch.now.wall])?;
    Ok(())
}

/// Has the copy, and what repeats it, point at the webhook, which is stored by now.
pub(crate) fn point_at(batch: &mut Batch<'_>, copy: &First, first: EventId) -> Result<(), InboxError> {
    const REPEATS: &str = "SELECT seq FROM event WHERE duplicate_of = ?1";
    const COUNTED: &str = "SELECT source, verdict, duplicate_of IS NOT NULL, size, deleted_at IS NULL
        FROM event WHERE seq = ?1";
    const POINT: &str = "UPDATE event SET duplicate_of = ?2, flags = (flags & ~?3) | CASE WHEN via <> ?4
        AND EXISTS (SELECT 1 FROM event AS first WHERE first.id = ?2 AND first.sha256 <> event.sha256)
        THEN ?3 ELSE 0 END WHERE seq = ?1";
    let db = batch.db;
    let mut moved: Vec<i64> = db
        .prepare_cached(REPEATS)?
        .query_map([copy.id.as_bytes()], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    moved.push(copy.seq);
    for seq in moved {
        batch.arriving.hours.note(db, seq)?;
        let (source, verdict, was, size, counts): (i64, i64, bool, i64, bool) =
            db.prepare_cached(COUNTED)?.query_row([seq], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            })?;
        let values = params![seq, first.as_bytes(), CONFLICT, Via::BackupSync as i64];
        db.prepare_cached(POINT)?.execute(values)?;
        if counts && !was {
            batch.arriving.tally.add(source, verdict, Change::no_event(false, size));
            batch.arriving.tally.add(source, verdict, Change::event(true, size));
        }
        fold::settle(db, seq)?;
    }
    Ok(())
}

/// Whether an event may take over from a copy: it was found valid, and is none itself.
pub(crate) fn may_take_over(verdict: Verdict, via: Via) -> bool {
    verdict == Verdict::Valid && via != Via::BackupSync
}
