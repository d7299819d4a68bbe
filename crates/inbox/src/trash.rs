//! The trash: lists what is in the bin, and deletes an event of it for good.

use hookmitt_event::{Actor, Deed, EventId, Timestamp};
use rusqlite::{Connection, params};

use crate::{
    Inbox, InboxError, Listed,
    audit::{Subject, record},
    deliveries::{is_deleted, seq_of},
    purge::{Purged, purge},
    row::{ADDED, listed, select_with},
    rows,
};

/// An event in the bin.
#[derive(Clone, Debug)]
pub struct Trashed {
    /// The event as lists show it.
    pub listed: Listed,
    /// Who deleted it; `None` if that isn't known.
    pub by: Option<Actor>,
}

/// A place in the trash, which is sorted by when its events were deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrashPlace {
    /// When the event was deleted.
    pub deleted_at: Timestamp,
    /// The event's sequence number.
    pub seq: i64,
}

/// A page of the trash, the last deleted first.
#[derive(Clone, Debug)]
pub struct TrashPage {
    /// The events.
    pub items: Vec<Trashed>,
    /// The place after which the next page begins; `None` at the end.
    pub next: Option<TrashPlace>,
}

impl Inbox {
    /// Returns a page of at most `limit` events of the bin, the last deleted first, after a place.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn trash(&self, after: Option<TrashPlace>, limit: usize) -> Result<TrashPage, InboxError> {
        self.readers
            .read(move |db| {
                let mut items = trashed(db, after, limit + 1)?;
                let more = items.len() > limit;
                items.truncate(limit);
                let last = items.last().filter(|_| more).map(|trashed| &trashed.listed.event);
                let next =
                    last.and_then(|event| Some(TrashPlace { deleted_at: event.deleted_at?, seq: event.seq }));
                Ok(TrashPage { items, next })
            })
            .await
    }

    /// Deletes an event of the bin for good. Returns `false` if it stays because it is being sent.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownEvent`] or [`InboxError::NotInTrash`].
    pub async fn delete_for_good(&self, id: EventId) -> Result<bool, InboxError> {
        loop {
            let step = self.write(move |batch| {
                let seq = seq_of(batch.db, id)?;
                if !is_deleted(batch.db, seq)? {
                    return Err(InboxError::NotInTrash(seq));
                }
                let purged = purge(batch, &[seq])?;
                if purged.gone > 0 {
                    record(batch, Deed::DeletedForGood, &Subject::event(id, seq))?;
                }
                Ok(purged)
            });
            let Purged { begun, gone, .. } = step.await?;
            if !begun {
                return Ok(gone > 0);
            }
        }
    }

    /// Returns what a job put into the bin that is still there and has a number below another, newest first, at most
    /// `limit`.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn binned_by(
        &self,
        job: i64,
        below: i64,
        limit: usize,
    ) -> Result<Vec<(i64, EventId)>, InboxError> {
        const SQL: &str = "SELECT b.event, e.id FROM binned b INDEXED BY binned_job
            CROSS JOIN event e ON e.seq = b.event
            WHERE b.job IS NOT NULL AND b.job = ?1 AND b.event < ?2 ORDER BY b.event DESC LIMIT ?3";
        self.readers
            .read(move |db| {
                let mut select = db.prepare_cached(SQL)?;
                let found = select
                    .query_map(params![job, below, limit], |row| Ok((row.get(0)?, rows::id(row, 1)?)))?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }

    /// Counts what a job put into the bin that is still there.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn count_binned_by(&self, job: i64) -> Result<u64, InboxError> {
        const SQL: &str =
            "SELECT count(*) FROM binned INDEXED BY binned_job WHERE job IS NOT NULL AND job = ?1";
        self.readers.read(move |db| Ok(db.prepare_cached(SQL)?.query_row([job], |row| row.get(0))?)).await
    }
}

fn trashed(db: &Connection, after: Option<TrashPlace>, limit: usize) -> Result<Vec<Trashed>, InboxError> {
    let place = after.unwrap_or(TrashPlace { deleted_at: Timestamp::from_micros(i64::MAX), seq: i64::MAX });
    let sql = format!(
        "{} WHERE e.deleted_at IS NOT NULL AND (e.deleted_at, e.seq) < (?1, ?2)
        ORDER BY e.deleted_at DESC, e.seq DESC LIMIT ?3",
        select_with(", (SELECT who FROM binned WHERE event = e.seq)")
    );
    let mut select = db.prepare_cached(&sql)?;
    let found = select.query_and_then(params![place.deleted_at.as_micros(), place.seq, limit], |row| {
        let by = row.get::<_, Option<usize>>(ADDED)?;
        let by = by.map(|by| Actor::ALL.get(by).ok_or_else(|| rows::corrupt(ADDED, "actor"))).transpose()?;
        Ok(Trashed { listed: listed(db, row)?, by: by.map(|(by, _)| *by) })
    })?;
    found.collect()
}
