//! Claims: which delivery a target gets next. Only the process that holds the owner's lock claims. A claim lasts until
//! the attempt ends; no clock takes it back.

use std::{sync::atomic::Ordering, time::Duration};

use hookmitt_event::{DeliveryId, EventId, OrderMode, TargetId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{Inbox, InboxError, batch::Batch, now::Now, order_key::DeliveryKey, owner, rows};

/// A delivery that is being tried.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// The delivery's id.
    pub delivery: DeliveryId,
    /// The sequence number of its event.
    pub seq: i64,
    /// The number of the attempt that is about to be made, from 1.
    pub attempt: u32,
    /// Whether the delivery is a replay, rather than the first one of its event.
    pub replay: bool,
    /// Proves, at the end of the attempt, that the claim is still this one.
    pub(crate) token: i64,
}

/// The present, and the latest due time that can be right. A later one was written by a wrong clock.
#[derive(Clone, Copy)]
pub(crate) struct Present {
    pub(crate) now: Now,
    pub(crate) latest: i64,
}

/// Asks for the delivery that a target gets next.
#[derive(Clone, Copy, Debug)]
pub struct Claiming {
    /// The target.
    pub target: TargetId,
    /// The target's order.
    pub order: OrderMode,
    /// The longest wait before any retry of the target. A delivery whose due time is further off than that was put off
    /// by a clock that was wrong, and is due now.
    pub longest: Duration,
}

/// What a target gets next.
#[derive(Clone, Debug)]
pub enum Next {
    /// This delivery, now.
    Claimed(Claimed),
    /// A delivery, once this much time has passed.
    In(Duration),
    /// Perhaps a delivery: this look changed as many deliveries as it may, so the caller has to look again.
    LookAgain,
    /// Nothing, until an event comes in or an attempt ends.
    Nothing,
}

/// How many deliveries each step of a look makes ready, blocks or unblocks at most, so that a look costs the same
/// however many wait.
const AT_ONCE: usize = 64;

impl Inbox {
    /// Claims the delivery that a target gets next, in the target's order. The claim is committed before anything is
    /// sent.
    ///
    /// # Errors
    /// Fails with [`InboxError::NotOwner`] if another process delivers, and if SQLite does.
    pub async fn claim(&self, claiming: Claiming) -> Result<Next, InboxError> {
        let owner = self.owner.load(Ordering::Acquire);
        self.write(move |batch| claiming.run(batch, owner)).await
    }

    /// Claims the delivery of one event to a target, ahead of those before it, if it waits to be tried for the first time.
    ///
    /// # Errors
    /// Like [`claim`](Self::claim).
    pub async fn claim_event(&self, target: TargetId, event: EventId) -> Result<Option<Claimed>, InboxError> {
        const SQL: &str =
            "SELECT event, number FROM delivery WHERE event = (SELECT seq FROM event WHERE id = ?1)
            AND target = ?2 AND state = 0 AND attempts = 0 AND due_at IS NULL ORDER BY number LIMIT 1";
        let owner = self.owner.load(Ordering::Acquire);
        self.write(move |batch| {
            owner::check(batch.db, owner)?;
            let found = batch
                .db
                .prepare_cached(SQL)?
                .query_row(params![event.as_bytes(), target.0], |row| Ok((row.get(0)?, row.get(1)?)));
            let place: Option<DeliveryKey> = found.optional()?;
            place.map(|place| claim(batch.db, place, batch.now)).transpose()
        })
        .await
    }

    /// Returns the targets that have waiting or running deliveries, oldest event first. Reads only one delivery of each
    /// target.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn waiting(&self) -> Result<Vec<TargetId>, InboxError> {
        const SQL: &str = "SELECT id, (SELECT event FROM delivery WHERE target = t.id AND state IN (0, 1)
                ORDER BY event LIMIT 1) AS oldest
            FROM target t WHERE oldest IS NOT NULL ORDER BY oldest";
        self.readers
            .read(|db| {
                let mut select = db.prepare_cached(SQL)?;
                let found = select.query_map([], |row| Ok(TargetId(row.get(0)?)))?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }
}

impl Claiming {
    /// Claims for the process that has this token.
    pub(crate) fn run(self, batch: &Batch<'_>, owner: i64) -> Result<Next, InboxError> {
        owner::check(batch.db, owner)?;
        let longest = i64::try_from(self.longest.as_micros()).unwrap_or(i64::MAX);
        let now = Present { now: batch.now, latest: batch.now.store.saturating_add(longest) };
        next(batch.db, self.target, self.order, now)
    }
}

pub(crate) fn next(
    db: &Connection,
    target: TargetId,
    order: OrderMode,
    at: Present,
) -> Result<Next, InboxError> {
    let found = match order {
        OrderMode::Fifo => head(db, target, at)?,
        OrderMode::Sequential | OrderMode::Parallel(_) => {
            unblock(db, target)?;
            make_ready(db, target, at)?;
            ready(db, target)?.map_or(Found::Nothing, Found::Here)
        }
        OrderMode::FifoByKey => {
            make_ready(db, target, at)?;
            first_of_a_key(db, target)?
        }
    };
    Ok(match found {
        Found::Here(place) => Next::Claimed(claim(db, place, at.now)?),
        Found::In(wait) => Next::In(wait),
        Found::LookAgain => Next::LookAgain,
        Found::Nothing if order == OrderMode::Fifo => Next::Nothing,
        Found::Nothing => next_retry(db, target, at)?.map_or(Next::Nothing, Next::In),
    })
}

enum Found {
    Here(DeliveryKey),
    In(Duration),
    LookAgain,
    Nothing,
}

/// Returns the oldest delivery that waits or is being tried, because nothing may overtake it. If it is being tried, the
/// target gets nothing.
fn head(db: &Connection, target: TargetId, at: Present) -> Result<Found, InboxError> {
    const SQL: &str = "SELECT event, number, state = 1, due_at FROM delivery INDEXED BY delivery_waiting
        WHERE target = ?1 AND state IN (0, 1) ORDER BY event, number LIMIT 1";
    let read = |row: &Row<'_>| Ok(((row.get(0)?, row.get(1)?), row.get(2)?, row.get(3)?));
    let found: Option<(DeliveryKey, bool, Option<i64>)> =
        db.prepare_cached(SQL)?.query_row([target.0], read).optional()?;
    Ok(match found {
        None | Some((_, true, _)) => Found::Nothing,
        Some((place, false, due)) => due.and_then(|due| until(due, at)).map_or(Found::Here(place), Found::In),
    })
}

/// Returns how long it is until a due time (in store time), or `None` if that is due now.
fn until(due: i64, at: Present) -> Option<Duration> {
    let is_due = due <= at.now.store || due > at.latest;
    (!is_due).then(|| Duration::from_micros(due.abs_diff(at.now.store)))
}

/// Returns the oldest delivery that is ready.
fn ready(db: &Connection, target: TargetId) -> Result<Option<DeliveryKey>, InboxError> {
    const SQL: &str = "SELECT event, number FROM delivery INDEXED BY delivery_ready
        WHERE target = ?1 AND state = 0 AND due_at IS NULL AND blocked = 0 ORDER BY event, number LIMIT 1";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    Ok(db.prepare_cached(SQL)?.query_row([target.0], read).optional()?)
}

/// Returns the oldest delivery that is ready and the first of its order key. Ready deliveries that are not the first
/// are marked as blocked, so that later looks pass over them.
fn first_of_a_key(db: &Connection, target: TargetId) -> Result<Found, InboxError> {
    const BLOCK: &str = "UPDATE delivery SET blocked = 1 WHERE event = ?1 AND number = ?2";
    for _ in 0..AT_ONCE {
        let Some(place) = ready(db, target)? else { return Ok(Found::Nothing) };
        if !is_behind(db, target, place)? {
            return Ok(Found::Here(place));
        }
        db.prepare_cached(BLOCK)?.execute(place)?;
    }
    Ok(Found::LookAgain)
}

/// Whether an older delivery with the same order key waits, or any delivery with that key is being tried.
fn is_behind(db: &Connection, target: TargetId, place: DeliveryKey) -> Result<bool, InboxError> {
    const KEY: &str = "SELECT order_key FROM delivery WHERE event = ?1 AND number = ?2";
    const FIRST: &str = "SELECT event, number FROM delivery INDEXED BY delivery_keyed
        WHERE target = ?1 AND order_key = ?2 AND state IN (0, 1) ORDER BY event, number LIMIT 1";
    const TRIED: &str = "SELECT 1 FROM delivery INDEXED BY delivery_claimed
        WHERE target = ?1 AND state = 1 AND order_key = ?2";
    let key: Option<String> = db.prepare_cached(KEY)?.query_row(place, |row| row.get(0))?;
    let Some(key) = key else { return Ok(false) };
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let first: DeliveryKey = db.prepare_cached(FIRST)?.query_row(params![target.0, key], read)?;
    Ok(first != place || db.prepare_cached(TRIED)?.exists(params![target.0, key])?)
}

/// Makes deliveries ready whose retry is due, or whose due time is too far off to be right.
fn make_ready(db: &Connection, target: TargetId, at: Present) -> Result<(), InboxError> {
    // Two statements, because for both conditions in one SQLite would scan the whole table.
    const DUE: &str = "UPDATE delivery SET due_at = NULL WHERE (event, number) IN (
        SELECT event, number FROM delivery INDEXED BY delivery_retry
        WHERE target = ?1 AND state = 0 AND due_at <= ?2 ORDER BY due_at LIMIT ?3)";
    const WRONG: &str = "UPDATE delivery SET due_at = NULL WHERE (event, number) IN (
        SELECT event, number FROM delivery INDEXED BY delivery_retry
        WHERE target = ?1 AND state = 0 AND due_at > ?2 LIMIT ?3)";
    db.prepare_cached(DUE)?.execute(params![target.0, at.now.store, AT_ONCE])?;
    db.prepare_cached(WRONG)?.execute(params![target.0, at.latest, AT_ONCE])?;
    Ok(())
}

/// Unblocks deliveries that an earlier order by key left blocked, oldest first, some at a time.
fn unblock(db: &Connection, target: TargetId) -> Result<(), InboxError> {
    const SQL: &str = "UPDATE delivery SET blocked = 0 WHERE (event, number) IN (
        SELECT event, number FROM delivery INDEXED BY delivery_blocked
        WHERE target = ?1 AND blocked = 1 ORDER BY event, number LIMIT ?2)";
    db.prepare_cached(SQL)?.execute(params![target.0, AT_ONCE])?;
    Ok(())
}

/// Returns how long it is until the next retry, or `None` if no retry waits.
fn next_retry(db: &Connection, target: TargetId, at: Present) -> Result<Option<Duration>, InboxError> {
    const SQL: &str = "SELECT due_at FROM delivery INDEXED BY delivery_retry
        WHERE target = ?1 AND state = 0 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1";
    let due: Option<i64> = db.prepare_cached(SQL)?.query_row([target.0], |row| row.get(0)).optional()?;
    Ok(due.map(|due| until(due, at).unwrap_or_default()))
}

fn claim(db: &Connection, place: DeliveryKey, now: Now) -> Result<Claimed, InboxError> {
    const SQL: &str = "UPDATE delivery SET state = 1, claim = ?3, claimed_at = ?4, due_at = NULL
        WHERE event = ?1 AND number = ?2 RETURNING attempts, replay,
        (SELECT id FROM event WHERE seq = delivery.event)";
    let (seq, number) = place;
    let token = rand::random::<i64>();
    let read = |row: &Row<'_>| {
        Ok(Claimed {
            delivery: DeliveryId { event: rows::id(row, 2)?, number },
            seq,
            attempt: row.get::<_, u32>(0)? + 1,
            replay: row.get(1)?,
            token,
        })
    };
    Ok(db.prepare_cached(SQL)?.query_row(params![seq, number, token, now.wall], read)?)
}
