//! Deliveries: read to be shown, and added for replays.

use std::time::Duration;

use bytes::Bytes;
use hookmitt_clock::StoreClock;
use hookmitt_event::{
    Attempt, Delivery, DeliveryId, DeliveryState, EventId, HeaderLines, Queue, ResponseHead, TargetId,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{Inbox, InboxError, audit::record_elsewhere, fold, rows, tally::Change};

impl Inbox {
    /// Returns the deliveries of an event with their attempts, in order. A delivery that is held up comes with its
    /// place in the queue.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownEvent`] if there is no such event.
    pub async fn deliveries(&self, event: EventId) -> Result<Vec<Delivery>, InboxError> {
        let clock = self.clock.clone();
        self.readers.read(move |db| shown(db, seq_of(db, event)?, event, &clock)).await
    }

    /// Returns one delivery with its attempts.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownEvent`] if the event or the delivery doesn't exist.
    pub async fn delivery(&self, id: DeliveryId) -> Result<Delivery, InboxError> {
        let DeliveryId { event, .. } = id;
        let clock = self.clock.clone();
        let all = self.readers.read(move |db| of_event(db, seq_of(db, event)?, event, &clock)).await?;
        let found = all.into_iter().find(|delivery| delivery.id == id);
        found.ok_or_else(|| InboxError::UnknownEvent(id.to_string()))
    }

    /// Adds replays of a stored event, one for each target; none if the event is in the bin.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownEvent`] if there is no such event.
    pub async fn add_replays(
        &self,
        event: EventId,
        targets: Vec<TargetId>,
    ) -> Result<Vec<DeliveryId>, InboxError> {
        const NEXT: &str = "SELECT coalesce(max(number), 0) + 1 FROM delivery WHERE event = ?1";
        const ADD: &str =
            "INSERT INTO delivery (event, number, target, state, replay) VALUES (?1, ?2, ?3, 0, 1)";
        self.write(move |batch| {
            let (seq, source, verdict) = place_of(batch.db, event)?;
            if is_deleted(batch.db, seq)? {
                return Ok(Vec::new());
            }
            batch.arriving.hours.note(batch.db, seq)?;
            let mut added = Vec::with_capacity(targets.len());
            for target in &targets {
                let number: u32 = batch.db.prepare_cached(NEXT)?.query_row([seq], |row| row.get(0))?;
                batch.db.prepare_cached(ADD)?.execute(params![seq, number, target.0])?;
                added.push(DeliveryId { event, number });
            }
            record_elsewhere(batch, (event, seq), &targets)?;
            fold::settle(batch.db, seq)?;
            let deliveries = i64::try_from(added.len()).unwrap_or(i64::MAX);
            batch.arriving.tally.add(source, verdict, Change { deliveries, ..Change::default() });
            Ok(added)
        })
        .await
    }
}

/// Returns the sequence number of an event.
pub(crate) fn seq_of(db: &Connection, event: EventId) -> Result<i64, InboxError> {
    const SQL: &str = "SELECT seq FROM event WHERE id = ?1";
    let seq = db.prepare_cached(SQL)?.query_row([event.as_bytes()], |row| row.get(0)).optional()?;
    seq.ok_or_else(|| InboxError::UnknownEvent(event.to_string()))
}

/// Whether the event with this number is in the bin.
pub(crate) fn is_deleted(db: &Connection, seq: i64) -> Result<bool, InboxError> {
    const SQL: &str = "SELECT 1 FROM event WHERE seq = ?1 AND deleted_at IS NOT NULL";
    Ok(db.prepare_cached(SQL)?.exists([seq])?)
}

/// Returns the sequence number, source and verdict of an event.
fn place_of(db: &Connection, event: EventId) -> Result<(i64, i64, i64), InboxError> {
    const SQL: &str = "SELECT seq, source, verdict FROM event WHERE id = ?1";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let found = db.prepare_cached(SQL)?.query_row([event.as_bytes()], read).optional()?;
    found.ok_or_else(|| InboxError::UnknownEvent(event.to_string()))
}

/// Returns the deliveries of an event as they are shown, with places in the queue.
pub(crate) fn shown(
    db: &Connection,
    seq: i64,
    event: EventId,
    clock: &StoreClock,
) -> Result<Vec<Delivery>, InboxError> {
    let mut deliveries = of_event(db, seq, event, clock)?;
    for delivery in deliveries.iter_mut().filter(|delivery| delivery.state == DeliveryState::Pending) {
        delivery.queue = queue(db, seq, delivery)?;
    }
    Ok(deliveries)
}

/// Counts what waits for a target that is paused or down: up to and including one delivery, and in all.
pub(crate) const QUEUE: &str = "SELECT count(*) FILTER (WHERE (d.event, d.number) <= (?2, ?3)), count(*)
    FROM target t JOIN delivery d ON d.target = t.id
    WHERE t.id = ?1 AND (t.paused OR t.down_since IS NOT NULL) AND d.state IN (0, 1) AND d.state = 0";

/// Returns the place of a delivery in the queue of a target that is paused or down; `None` for any other target.
fn queue(db: &Connection, seq: i64, delivery: &Delivery) -> Result<Option<Queue>, InboxError> {
    let place = params![delivery.target.0, seq, delivery.id.number];
    let read = |row: &Row<'_>| Ok(Queue { place: row.get(0)?, of: row.get(1)? });
    let queue = db.prepare_cached(QUEUE)?.query_row(place, read)?;
    Ok((queue.of > 0).then_some(queue))
}

/// Returns the deliveries of an event with their attempts, in order.
pub(crate) fn of_event(
    db: &Connection,
    seq: i64,
    event: EventId,
    clock: &StoreClock,
) -> Result<Vec<Delivery>, InboxError> {
    const SQL: &str = "SELECT d.number, d.target, t.url, d.state, d.replay,
        coalesce(d.last_error, CASE d.state WHEN 0 THEN t.down_error END), CASE d.state WHEN 0 THEN d.due_at END, d.ended_at
        FROM delivery d LEFT JOIN target t ON t.id = d.target WHERE d.event = ?1 ORDER BY d.number";
    let mut select = db.prepare_cached(SQL)?;
    let read = |row: &Row<'_>| {
        Ok(Delivery {
            id: DeliveryId { event, number: row.get(0)? },
            target: TargetId(row.get(1)?),
            target_url: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
            state: rows::state(row, 3)?,
            replay: row.get(4)?,
            queue: None,
            last_error: row.get(5)?,
            next_attempt_at: rows::due(row, 6, clock)?,
            completed_at: rows::moment_or_null(row, 7)?,
            attempts: Vec::new(),
        })
    };
    let mut deliveries: Vec<_> = select.query_map([seq], read)?.collect::<Result<_, _>>()?;
    for delivery in &mut deliveries {
        delivery.attempts = attempts(db, seq, delivery.id.number)?;
    }
    Ok(deliveries)
}

fn attempts(db: &Connection, seq: i64, delivery: u32) -> Result<Vec<Attempt>, InboxError> {
    const SQL: &str = "SELECT number, started_at, duration, status, error, truncated, headers, body, sent
        FROM attempt WHERE event = ?1 AND delivery = ?2 ORDER BY number";
    let mut select = db.prepare_cached(SQL)?;
    let found = select.query_map(params![seq, delivery], attempt)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn attempt(row: &Row<'_>) -> rusqlite::Result<Attempt> {
    let block: Option<Vec<u8>> = row.get(6)?;
    let headers = HeaderLines::from_wire(Bytes::from(block.unwrap_or_default()));
    let headers = headers.map_err(|_| rows::corrupt(6, "header lines"))?;
    let status: Option<u16> = row.get(3)?;
    Ok(Attempt {
        number: row.get(0)?,
        started_at: rows::moment(row, 1)?,
        duration: Duration::from_micros(row.get::<_, u64>(2)?),
        sent: row.get(8)?,
        response: status.map(|status| ResponseHead { status, headers }),
        error: row.get(4)?,
        body_truncated: row.get(5)?,
        body: Bytes::from(row.get::<_, Vec<u8>>(7)?),
    })
}

/// Ranks a delivery's state by how much it tells about the event: the position in `EventStatus::ALL`.
pub(crate) const STATUS_RANK: &str = "CASE state WHEN 4 THEN 0 WHEN 3 THEN 1 WHEN 1 THEN 2 WHEN 0 THEN 3
    WHEN 2 THEN 4 ELSE 5 END";

const _: () = assert!(DeliveryState::DeadLetter as i64 == 4 && DeliveryState::Skipped as i64 == 5);
