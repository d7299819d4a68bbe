//! Retries, by hand, of deliveries that failed, died or were skipped.

use hookmitt_event::{DeliveryId, DeliveryState, EventId, TargetId};
use rusqlite::{Connection, Row, ToSql, params};

use crate::{
    Inbox, InboxError,
    batch::Batch,
    deliveries::seq_of,
    fold,
    reasons::{AWAITS, REJECTED, STOPPED},
    rows,
};

impl Inbox {
    /// Makes an event's failed, dead and skipped deliveries wait again, and deletes their attempts. These stay as they are:
    /// deliveries of an event in the bin, those to removed targets, replays that a person stopped, and those that were
    /// held back for a verdict, unless the event is valid by now. Deliveries that wait for a later retry become due.
    /// Returns the deliveries that it changed, with their targets.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownEvent`] if there is no such event.
    pub async fn retry(&self, event: EventId) -> Result<Vec<(DeliveryId, TargetId)>, InboxError> {
        self.write(move |batch| {
            let seq = seq_of(batch.db, event)?;
            retry(batch, seq, event, Which::All)
        })
        .await
    }

    /// Like [`retry`](Self::retry), for failed and dead deliveries only.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownEvent`] if there is no such event.
    pub async fn retry_failed(&self, event: EventId) -> Result<Vec<(DeliveryId, TargetId)>, InboxError> {
        self.write(move |batch| {
            let seq = seq_of(batch.db, event)?;
            retry(batch, seq, event, Which::Failed)
        })
        .await
    }

    /// Like [`retry`](Self::retry), for a single delivery. Returns `None` if there was nothing to retry.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownEvent`] if the event or the delivery doesn't exist.
    pub async fn retry_one(&self, id: DeliveryId) -> Result<Option<TargetId>, InboxError> {
        self.write(move |batch| {
            let seq = seq_of(batch.db, id.event)?;
            has(batch.db, seq, id)?;
            let again = retry(batch, seq, id.event, Which::One(id.number))?;
            Ok(again.first().map(|(_, target)| *target))
        })
        .await
    }

    /// Returns the events with a delivery in this state (`DeadLetter` or `Failed`) whose sequence numbers are above
    /// `after`, oldest first, at most `limit`.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn ended_as(
        &self,
        source: Option<i64>,
        state: DeliveryState,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, EventId)>, InboxError> {
        let (mut found, mut next) = (Vec::new(), Some(after));
        while let Some(after) = next
            && found.len() < limit as usize
        {
            let some = self.readers.read(move |db| ended(db, source, state, after)).await?;
            next = some.last().filter(|_| some.len() == STRIDE).map(|(seq, _)| *seq);
            found.extend(some.into_iter().filter_map(|(seq, id)| Some((seq, id?))));
        }
        found.truncate(limit as usize);
        Ok(found)
    }
}

/// How many events one read may pass over. Between two reads the writer may start its log over.
const STRIDE: usize = 2_000;

/// Returns the next events with a delivery in this state. Events of another source come without their id.
fn ended(
    db: &Connection,
    source: Option<i64>,
    state: DeliveryState,
    after: i64,
) -> Result<Vec<(i64, Option<EventId>)>, InboxError> {
    const SQL: &str =
        "SELECT d.event, iif(?2 IS NULL OR e.source = ?2, e.id, NULL) FROM
        (SELECT DISTINCT event FROM delivery WHERE state IN (3, 4, 5) AND NOT binned AND state = ?4 AND event > ?1
            ORDER BY event LIMIT ?3) d LEFT JOIN event e ON e.seq = d.event ORDER BY d.event";
    let mut select = db.prepare_cached(SQL)?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, rows::id_or_null(row, 1)?));
    let found = select.query_map(params![after, source, STRIDE, state as i64], read)?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Fails if the event has no such delivery.
fn has(db: &Connection, seq: i64, id: DeliveryId) -> Result<(), InboxError> {
    const SQL: &str = "SELECT 1 FROM delivery WHERE event = ?1 AND number = ?2";
    let there = db.prepare_cached(SQL)?.exists(params![seq, id.number])?;
    if there { Ok(()) } else { Err(InboxError::UnknownEvent(id.to_string())) }
}

/// Which deliveries of an event are retried.
#[derive(Clone, Copy)]
pub(crate) enum Which {
    /// All that are not completed, except for replays that a person stopped.
    All,
    /// Those that failed or died.
    Failed,
    /// The one with this number.
    One(u32),
}

/// Makes those deliveries of an event wait again that can, and returns them with their targets.
pub(crate) fn retry(
    batch: &mut Batch<'_>,
    seq: i64,
    event: EventId,
    which: Which,
) -> Result<Vec<(DeliveryId, TargetId)>, InboxError> {
    const AGAIN: &str = "UPDATE delivery SET state = 0, attempts = 0, due_at = NULL, last_error = NULL,
        ended_at = NULL WHERE event = ?1 AND number = coalesce(?2, number) AND state IN (3, 4, 5)
        AND (state <> 5 OR ?5) AND (?2 IS NOT NULL OR last_error IS NOT ?6)
        AND target IN (SELECT id FROM target WHERE removed_at IS NULL)
        AND EXISTS (SELECT 1 FROM event WHERE seq = ?1 AND deleted_at IS NULL)
        AND NOT (state = 5 AND last_error IN (?3, ?4) AND (SELECT verdict FROM event WHERE seq = ?1) <> 0)
        RETURNING number, target";
    const SOONER: &str = "UPDATE delivery SET due_at = NULL
        WHERE event = ?1 AND number = coalesce(?2, number) AND state = 0 AND due_at IS NOT NULL AND ?3
        RETURNING number, target";
    const CLEAR: &str = "DELETE FROM attempt WHERE event = ?1 AND delivery = ?2";
    let db = batch.db;
    batch.arriving.hours.note(db, seq)?;
    let collect = |sql, values: &[&dyn ToSql]| -> Result<Vec<(u32, i64)>, InboxError> {
        let mut update = db.prepare_cached(sql)?;
        let found = update.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    };
    let (one, all) = match which {
        Which::All => (None, true),
        Which::Failed => (None, false),
        Which::One(number) => (Some(number), true),
    };
    let sooner = collect(SOONER, &[&seq, &one, &all])?;
    let again = collect(AGAIN, &[&seq, &one, &REJECTED, &AWAITS, &all, &STOPPED])?;
    for (number, _) in &again {
        db.prepare_cached(CLEAR)?.execute(params![seq, number])?;
    }
    if !again.is_empty() {
        fold::settle(db, seq)?;
    }
    let mut all: Vec<_> = sooner.into_iter().chain(again).collect();
    all.sort_unstable();
    Ok(all.into_iter().map(|(number, target)| (DeliveryId { event, number }, TargetId(target))).collect())
}
