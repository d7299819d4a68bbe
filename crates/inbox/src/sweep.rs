//! Deletes for good what has been kept for long enough, a little with each commit.
//!
//! Events are gone through oldest first, once for each span for which some are kept, and never beyond the first that is
//! too young for it. How far that has come is stored with what was deleted. Of the events behind that place, only those
//! are looked at again that changed since, which triggers note. So a look that finds nothing costs next to nothing.

use std::time::{Duration, Instant};

use hookmitt_event::{EventStatus, Kept};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{InboxError, batch::Batch, deliveries::STATUS_RANK, purge::purge_since, retention::Policy, rows};

/// How long a commit deletes. Overwriting what goes makes such a commit a large one, and captures wait for it.
const TURN: Duration = Duration::from_millis(2);

/// How many events are read at a time.
const CHUNK: usize = 64;

/// What one commit deletes, and for how long it may go on.
#[derive(Debug)]
pub(crate) struct Share {
    started: Instant,
    /// How many events are gone.
    pub(crate) gone: u64,
    /// How many bytes their bodies had.
    pub(crate) bytes: u64,
}

impl Share {
    pub(crate) fn begin() -> Self {
        Self { started: Instant::now(), gone: 0, bytes: 0 }
    }

    /// Whether the commit has taken long enough.
    pub(crate) fn is_over(&self) -> bool {
        self.started.elapsed() >= TURN
    }

    /// Deletes an event, or a part of it; then the next commit goes on with it.
    pub(crate) fn delete(&mut self, batch: &mut Batch<'_>, seq: i64) -> Result<(), InboxError> {
        const AGAIN: &str = "INSERT OR REPLACE INTO look_again VALUES (?1, 1)";
        let purged = purge_since(batch, &[seq], self.started)?;
        self.gone += purged.gone;
        self.bytes += purged.bytes;
        if purged.begun {
            batch.db.prepare_cached(AGAIN)?.execute([seq])?;
        }
        Ok(())
    }
}

/// An event, as retention sees it.
pub(crate) struct Aged {
    pub(crate) seq: i64,
    pub(crate) source: i64,
    /// When it was stored, or put into the bin, in store time.
    pub(crate) at: i64,
    /// What it counts as; `None` if it is pinned, in the bin, or waits for something.
    pub(crate) kept: Option<Kept>,
    /// The size of its body in bytes, and when it was received, by the wall clock.
    pub(crate) size: u64,
    pub(crate) received_at: i64,
}

impl Aged {
    /// Returns a query for events as retention sees them.
    fn select(condition: &str) -> String {
        format!(
            "SELECT e.seq, e.source, coalesce(e.stored_at, a.value), e.pinned_at IS NULL AND e.deleted_at IS NULL,
            (SELECT min({STATUS_RANK}) FROM delivery WHERE event = e.seq), e.size, e.received_at
            FROM event e CROSS JOIN meta a ON a.key = 'aged_from' WHERE {condition}"
        )
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let rank: Option<usize> = row.get(4)?;
        let status = rank.map_or(Some(EventStatus::Captured), |rank| Some(EventStatus::ALL.get(rank)?.0));
        let status = status.ok_or_else(|| rows::corrupt(4, "status"))?;
        let kept = if row.get(3)? { Kept::of(status) } else { None };
        let (seq, source, at) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Self { seq, source, at, kept, size: row.get(5)?, received_at: row.get(6)? })
    }

    /// Returns the next events after a number.
    pub(crate) fn after(db: &Connection, seq: i64, limit: usize) -> Result<Vec<Self>, InboxError> {
        let mut select = db.prepare_cached(&Self::select("e.seq > ?1 ORDER BY e.seq LIMIT ?2"))?;
        Ok(select.query_map(params![seq, limit], Self::read)?.collect::<Result<_, _>>()?)
    }

    /// Returns the event with a number, if there is one.
    pub(crate) fn one(db: &Connection, seq: i64) -> Result<Option<Self>, InboxError> {
        let mut select = db.prepare_cached(&Self::select("e.seq = ?1"))?;
        Ok(select.query_row([seq], Self::read).optional()?)
    }

    /// Returns for how long the event is kept; `None` if it is kept for ever, or as long as it is as it is now.
    pub(crate) fn span(&self, policy: &Policy) -> Option<i64> {
        policy.span(self.source, self.kept?)
    }

    /// Whether the event has been kept for long enough.
    pub(crate) fn is_over(&self, policy: &Policy, now: i64) -> bool {
        self.span(policy).is_some_and(|span| self.at <= now.saturating_sub(span))
    }
}

/// Deletes what has been kept for long enough, until the commit has taken long enough.
pub(crate) fn sweep(batch: &mut Batch<'_>, policy: &Policy, share: &mut Share) -> Result<(), InboxError> {
    look_again(batch, policy, share)?;
    empty_bin(batch, policy, share)?;
    for span in policy.spans() {
        by_age(batch, policy, span, share)?;
    }
    Ok(())
}

/// Looks at the events that changed behind the sweep, and goes on with those that are deleted in part.
fn look_again(batch: &mut Batch<'_>, policy: &Policy, share: &mut Share) -> Result<(), InboxError> {
    const NEXT: &str = "SELECT seq, leaves FROM look_again ORDER BY seq LIMIT 1";
    const SEEN: &str = "DELETE FROM look_again WHERE seq = ?1";
    while !share.is_over() {
        let next = batch.db.prepare_cached(NEXT)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)));
        let Some((seq, leaves)): Option<(i64, bool)> = next.optional()? else { return Ok(()) };
        batch.db.prepare_cached(SEEN)?.execute([seq])?;
        let Some(event) = Aged::one(batch.db, seq)? else { continue };
        if leaves && event.kept.is_some() || event.is_over(policy, batch.now.store) {
            share.delete(batch, seq)?;
        }
    }
    Ok(())
}

/// Selects what has been in the bin since a moment in store time or longer, after a place, oldest first. What is pinned
/// or being sent stays.
const IN_BIN: &str = "SELECT b.event, e.source, b.at, e.size, e.received_at
    FROM binned b INDEXED BY binned_at CROSS JOIN event e ON e.seq = b.event
    WHERE b.at <= ?1 AND (b.at, b.event) > (?2, ?3) AND e.pinned_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM delivery WHERE event = b.event AND state = 1) ORDER BY b.at, b.event LIMIT ?4";

/// The place before everything in the bin.
pub(crate) const BIN: (i64, i64) = (i64::MIN, i64::MIN);

/// Returns what has been in the bin for long enough, after a place: when it was put there, and its number.
pub(crate) fn in_bin(
    db: &Connection,
    policy: &Policy,
    now: i64,
    after: (i64, i64),
    limit: usize,
) -> Result<Vec<Aged>, InboxError> {
    let Some(span) = policy.in_trash() else { return Ok(Vec::new()) };
    let mut select = db.prepare_cached(IN_BIN)?;
    let found = select.query_map(params![now.saturating_sub(span), after.0, after.1, limit], |row| {
        let (seq, source, at, size, received_at) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
        Ok(Aged { seq, source, at, kept: Some(Kept::Trash), size, received_at })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn empty_bin(batch: &mut Batch<'_>, policy: &Policy, share: &mut Share) -> Result<(), InboxError> {
    while !share.is_over() {
        let found = in_bin(batch.db, policy, batch.now.store, BIN, CHUNK)?;
        if found.is_empty() {
            return Ok(());
        }
        for event in found {
            if share.is_over() {
                break;
            }
            share.delete(batch, event.seq)?;
        }
    }
    Ok(())
}

/// Returns how far the events were gone through that are kept for so long.
pub(crate) fn swept(db: &Connection, span: i64) -> Result<i64, InboxError> {
    let mut select = db.prepare_cached("SELECT seq FROM swept WHERE span = ?1")?;
    Ok(select.query_row([span], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// Goes on through the events that are old enough for a span, and deletes those that are kept for no longer.
fn by_age(batch: &mut Batch<'_>, policy: &Policy, span: i64, share: &mut Share) -> Result<(), InboxError> {
    let begin = swept(batch.db, span)?;
    let (mut place, before) = (begin, batch.now.store.saturating_sub(span));
    'all: while !share.is_over() {
        let found = Aged::after(batch.db, place, CHUNK)?;
        let is_end = found.len() < CHUNK;
        for event in found {
            if event.at > before || share.is_over() {
                break 'all;
            }
            place = event.seq;
            if event.span(policy).is_some_and(|its| its <= span) {
                share.delete(batch, event.seq)?;
            }
        }
        if is_end {
            break;
        }
    }
    if place > begin { keep_place(batch.db, span, place) } else { Ok(()) }
}

fn keep_place(db: &Connection, span: i64, seq: i64) -> Result<(), InboxError> {
    const SPAN: &str =
        "INSERT INTO swept VALUES (?1, ?2) ON CONFLICT DO UPDATE SET seq = max(seq, excluded.seq)";
    const FARTHEST: &str = "UPDATE meta SET value = max(value, ?1) WHERE key = 'swept'";
    db.prepare_cached(SPAN)?.execute([span, seq])?;
    db.prepare_cached(FARTHEST)?.execute([seq])?;
    Ok(())
}

/// Whether anything is to be looked at.
pub(crate) fn is_due(db: &Connection, policy: &Policy, now: i64) -> Result<bool, InboxError> {
    if db.prepare_cached("SELECT 1 FROM look_again LIMIT 1")?.exists([])?
        || !in_bin(db, policy, now, BIN, 1)?.is_empty()
    {
        return Ok(true);
    }
    for span in policy.spans() {
        let next = Aged::after(db, swept(db, span)?, 1)?;
        if next.first().is_some_and(|next| next.at <= now.saturating_sub(span)) {
            return Ok(true);
        }
    }
    Ok(false)
}
