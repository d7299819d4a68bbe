//! The trash: lists what is in the bin, deletes it for good, and moves many events there at once.

use std::time::Instant;

use hookmitt_event::{Actor, Deed, EventId, Slug, TargetId, Timestamp};
use hookmitt_search::Test;
use rusqlite::{Connection, params};

use crate::{
    Filter, Inbox, InboxError, Listed,
    audit::{Subject, record, record_more},
    bin::set_deleted,
    deliveries::{is_deleted, seq_of},
    purge::{Purged, TURN, purge},
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

/// What became of the events that should be deleted for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Emptied {
    /// How many are gone.
    pub gone: u64,
    /// How many stay, because they are being sent right now.
    pub stay: u64,
}

/// What was moved to the bin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// How many events.
    pub events: u64,
    /// How many of their deliveries waited, and were ended.
    pub ended: u64,
    /// The targets of these deliveries.
    pub targets: Vec<TargetId>,
}

/// How many events are looked up at a time.
const PIECE: usize = 200;

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

    /// Deletes for good what was deleted before a moment. Captures go on meanwhile; if the future is dropped, the rest
    /// stays.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn empty_trash(&self, before: Timestamp) -> Result<Emptied, InboxError> {
        let (mut emptied, mut place, mut entry) = (Emptied::default(), (i64::MIN, i64::MIN), None);
        loop {
            let step = self
                .write(move |batch| {
                    let found = binned_after(batch.db, place, before)?;
                    let seqs: Vec<_> = found.iter().map(|(_, seq)| *seq).collect();
                    let Purged { done, gone, begun, .. } = purge(batch, &seqs)?;
                    let entry = record_more(batch, entry, Deed::DeletedForGood, &Subject::default(), gone)?;
                    let last = done.checked_sub(1).and_then(|last| found.get(last).copied());
                    let last = last.or(begun.then_some(place));
                    Ok(last.map(|last| (last, entry, done as u64, gone)))
                })
                .await?;
            let Some((last, noted, done, gone)) = step else { return Ok(emptied) };
            (place, entry) = (last, noted);
            emptied = Emptied { gone: emptied.gone + gone, stay: emptied.stay + done - gone };
        }
    }

    /// Returns what went into the bin at a moment and has a number below another, newest first, at most `limit`.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn binned_at(
        &self,
        at: Timestamp,
        below: i64,
        limit: usize,
    ) -> Result<Vec<(i64, EventId)>, InboxError> {
        const SQL: &str = "SELECT seq, id FROM event INDEXED BY event_bin
            WHERE deleted_at IS NOT NULL AND deleted_at = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3";
        self.readers
            .read(move |db| {
                let mut select = db.prepare_cached(SQL)?;
                let found = select.query_map(params![at.as_micros(), below, limit], |row| {
                    Ok((row.get(0)?, rows::id(row, 1)?))
                })?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }

    /// Counts what went into the bin at a moment.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn count_binned_at(&self, at: Timestamp) -> Result<u64, InboxError> {
        const SQL: &str = "SELECT count(*) FROM event INDEXED BY event_bin
            WHERE deleted_at IS NOT NULL AND deleted_at = ?1";
        self.readers
            .read(move |db| Ok(db.prepare_cached(SQL)?.query_row([at.as_micros()], |row| row.get(0))?))
            .await
    }

    /// Moves the events of a source, or those received before a moment, to the bin, and ends their waiting deliveries.
    /// Pinned events stay. Events that arrive meanwhile stay, too. If the future is dropped, the rest stays.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn clear(
        &self,
        source: Option<Slug>,
        until: Option<Timestamp>,
        at: Timestamp,
    ) -> Result<Cleared, InboxError> {
        let source = source.map(|slug| slug.as_str().to_owned());
        let mut subject = Subject { source: source.clone(), ..Subject::default() };
        if let Some(until) = until {
            subject = subject.with("until", until.to_string());
        }
        let mut filter = Filter { source, ..Filter::default() };
        if until.is_some() {
            filter.query.and(Test::Received { from: None, to: until });
        }
        let (mut clearing, mut cursor) =
            (Clearing { subject, entry: None, cleared: Cleared::default() }, None);
        loop {
            let page = self.list(filter.clone(), cursor, PIECE).await?;
            let found = page.items.into_iter().filter(|listed| !listed.event.pinned);
            self.bin_all(found.map(|listed| listed.event.id).collect(), at, &mut clearing).await?;
            cursor = page.next;
            if cursor.is_none() {
                return Ok(clearing.cleared);
            }
        }
    }

    async fn bin_all(
        &self,
        ids: Vec<EventId>,
        at: Timestamp,
        clearing: &mut Clearing,
    ) -> Result<(), InboxError> {
        let mut done = 0;
        while done < ids.len() {
            let (rest, subject, entry) = (ids[done..].to_vec(), clearing.subject.clone(), clearing.entry);
            let (turned, events, ended, entry) = self
                .write(move |batch| {
                    let (started, mut turned, mut events, mut ended) = (Instant::now(), 0, 0, Vec::new());
                    while turned < rest.len() && (turned == 0 || started.elapsed() < TURN) {
                        if let Some(targets) = set_deleted(batch, rest[turned], Some(at.as_micros()))? {
                            events += 1;
                            ended.extend(targets);
                        }
                        turned += 1;
                    }
                    let entry = record_more(batch, entry, Deed::Deleted, &subject, events)?;
                    Ok((turned, events, ended, entry))
                })
                .await?;
            done += turned;
            clearing.entry = entry;
            let cleared = &mut clearing.cleared;
            cleared.events += events;
            cleared.ended += ended.len() as u64;
            cleared.targets.extend(ended);
            cleared.targets.sort_unstable_by_key(|target| target.0);
            cleared.targets.dedup();
        }
        Ok(())
    }
}

/// What is being cleared, and the entry in the audit trail that grows meanwhile.
struct Clearing {
    subject: Subject,
    entry: Option<i64>,
    cleared: Cleared,
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

/// Returns when they were deleted, and the numbers, of the next events that were deleted before a moment.
fn binned_after(
    db: &Connection,
    (at, seq): (i64, i64),
    before: Timestamp,
) -> Result<Vec<(i64, i64)>, InboxError> {
    let mut select = db.prepare_cached(BINNED)?;
    let found = select
        .query_map(params![at, seq, before.as_micros(), PIECE], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Selects what was deleted before a moment, after a place, oldest first.
pub(crate) const BINNED: &str = "SELECT deleted_at, seq FROM event INDEXED BY event_bin
    WHERE deleted_at IS NOT NULL AND (deleted_at, seq) > (?1, ?2) AND deleted_at < ?3
    ORDER BY deleted_at, seq LIMIT ?4";
