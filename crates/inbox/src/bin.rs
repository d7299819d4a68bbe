//! The bin: deleted events, and what becomes of their waiting deliveries.

use hookmitt_event::{Deed, EventId, TargetId, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, ToSql, params};

use crate::{
    Inbox, InboxError,
    audit::{Subject, record},
    batch::Batch,
    deliveries::seq_of,
    fold, marks,
    reasons::{DELETED, DUPLICATE},
    rows::TAGGED,
    tally::Change,
};

impl Inbox {
    /// Puts an event into the bin and ends its waiting deliveries, as skipped; or, if `at` is `None`, takes it out again
    /// and makes those deliveries wait again whose targets are still there. What is being sent goes on, but isn't tried
    /// again. Returns the target of each delivery that was changed.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownEvent`] if there is no such event.
    pub async fn set_deleted(&self, id: EventId, at: Option<Timestamp>) -> Result<Vec<TargetId>, InboxError> {
        self.write(move |batch| {
            let seq = seq_of(batch.db, id)?;
            let Some(changed) = set_deleted(batch, id, at, None)? else {
                return Ok(Vec::new());
            };
            let deed = if at.is_some() { Deed::Deleted } else { Deed::Restored };
            record(batch, deed, &Subject::event(id, seq))?;
            Ok(changed)
        })
        .await
    }
}

/// Deletes an event at a moment, on behalf of a job or of none, or restores it, without an entry in the audit trail.
/// Returns the targets of the deliveries that this changed, or `None` if the event is as wanted or unknown.
pub(crate) fn set_deleted(
    batch: &mut Batch<'_>,
    id: EventId,
    at: Option<Timestamp>,
    job: Option<i64>,
) -> Result<Option<Vec<TargetId>>, InboxError> {
    const SQL: &str =
        "UPDATE event SET deleted_at = ?2 WHERE id = ?1 AND (deleted_at IS NULL) <> (?2 IS NULL)
        RETURNING seq, source, verdict, duplicate_of IS NOT NULL, size, flags";
    const END: &str = "UPDATE delivery SET state = 5, last_error = ?2, ended_at = ?3, due_at = NULL
        WHERE event = ?1 AND state = 0 RETURNING target";
    const AGAIN: &str = "UPDATE delivery SET state = 0, last_error = NULL, ended_at = NULL
        WHERE event = ?1 AND state = 5 AND last_error = ?2
        AND target IN (SELECT id FROM target WHERE removed_at IS NULL) RETURNING target";
    const HIDE: &str = "UPDATE delivery SET binned = 1 WHERE event = ?1";
    const SHOW: &str = "UPDATE delivery SET binned = 0 WHERE event = ?1 AND binned";
    let stamp = at.map(Timestamp::as_micros);
    let moved = batch.db.prepare_cached(SQL)?.query_row(params![id.as_bytes(), stamp], |row| {
        Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get::<_, i64>(5)?))
    });
    let Some((seq, source, verdict, is_duplicate, size, flags)) = moved.optional()? else { return Ok(None) };
    batch.arriving.hours.note(batch.db, seq)?;
    note_who(batch, seq, at.is_some(), job)?;
    if flags & TAGGED != 0 {
        marks::set_binned(batch.db, seq, at.is_some())?;
    }
    let (changed, change) = match at {
        Some(_) => {
            let ended = targets_of(batch.db, END, params![seq, DELETED, batch.now.wall])?;
            let hidden = batch.db.prepare_cached(HIDE)?.execute([seq])?;
            (ended, Change { deliveries: -many(hidden), ..Change::no_event(is_duplicate, size) })
        }
        None => {
            let shown = batch.db.prepare_cached(SHOW)?.execute([seq])?;
            batch.db.prepare_cached(REPLACED)?.execute(params![seq, DELETED, DUPLICATE])?;
            let again = targets_of(batch.db, AGAIN, params![seq, DELETED])?;
            fold::settle(batch.db, seq)?;
            (again, Change { deliveries: many(shown), ..Change::event(is_duplicate, size) })
        }
    };
    batch.arriving.tally.add(source, verdict, change);
    Ok(Some(changed))
}

/// Notes when an event was moved to the bin, by whom, and by which job, or forgets it when the event comes back.
fn note_who(batch: &Batch<'_>, seq: i64, deleted: bool, job: Option<i64>) -> Result<(), InboxError> {
    const NOTE: &str = "INSERT OR REPLACE INTO binned (event, at, who, job) VALUES (?1, ?2, ?3, ?4)";
    const FORGET: &str = "DELETE FROM binned WHERE event = ?1";
    if deleted {
        let who = batch.by.map(|who| who as i64);
        batch.db.prepare_cached(NOTE)?.execute(params![seq, batch.now.store, who, job])?;
    } else {
        batch.db.prepare_cached(FORGET)?.execute([seq])?;
    }
    Ok(())
}

/// Ends what waited for an event that was in the bin, if a copy that came meanwhile is sent in its place, as when a repeat
/// arrives (`routing::skip_reason`).
pub(crate) const REPLACED: &str =
    "UPDATE delivery SET last_error = ?3 FROM event e JOIN source s ON s.id = e.source
    WHERE delivery.event = ?1 AND e.seq = ?1 AND state = 5 AND last_error = ?2 AND NOT replay
    AND e.dedupe_key LIKE 'id:%' AND s.settings ->> '$.on_duplicate' IS NOT 'forward'
    AND EXISTS (SELECT 1 FROM delivery d JOIN event c ON c.seq = d.event
        WHERE (c.id = e.duplicate_of OR c.duplicate_of = coalesce(e.duplicate_of, e.id)) AND c.seq <> e.seq
        AND d.target = delivery.target AND d.state IN (0, 1, 2) AND (c.verdict = 0 OR c.via = 2 OR e.verdict <> 0))";

fn many(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

fn targets_of(db: &Connection, sql: &str, values: &[&dyn ToSql]) -> Result<Vec<TargetId>, InboxError> {
    let mut update = db.prepare_cached(sql)?;
    let targets = update.query_map(values, |row| Ok(TargetId(row.get(0)?)))?;
    Ok(targets.collect::<Result<_, _>>()?)
}
