//! Glances: what a row of a list shows of an event beside the event itself, its copies and its most telling delivery.

use std::collections::HashMap;

use hookmitt_clock::StoreClock;
use hookmitt_event::{DeliveryGlance, DeliveryId, Event, EventId, EventStatus, Glance, TargetId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{Inbox, InboxError, deliveries::STATUS_RANK, rows};

impl Inbox {
    /// Returns the glances of these events, in the same order.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn glances(&self, places: Vec<EventRef>) -> Result<Vec<Glance>, InboxError> {
        let clock = self.clock.clone();
        self.readers
            .read(move |db| {
                let mut known = HashMap::new(); // a page may hold many copies of one event
                places.into_iter().map(|place| glance(db, place, &mut known, &clock)).collect()
            })
            .await
    }

    /// Returns the events with the same first event, itself included, without those in the bin: at most `limit`, oldest
    /// first, and how many there are.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownEvent`] if there is no such event.
    pub async fn copies(&self, id: EventId, limit: u32) -> Result<(Vec<EventId>, u64), InboxError> {
        const FIRST: &str = "SELECT coalesce(duplicate_of, id) FROM event WHERE id = ?1";
        self.readers
            .read(move |db| {
                let first = db.prepare_cached(FIRST)?.query_row([id.as_bytes()], |row| rows::id(row, 0));
                let first = first.optional()?.ok_or_else(|| InboxError::UnknownEvent(id.to_string()))?;
                let mut select = db.prepare_cached(COPIES)?;
                let found = select.query_map(params![first.as_bytes(), limit], |row| rows::id(row, 0))?;
                let ids = found.collect::<Result<_, _>>()?;
                Ok((ids, count(db, first)?.copies))
            })
            .await
    }
}

/// An event in a list: without its body, but with its status.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The event with an empty body.
    pub event: Event,
    /// The most telling of its deliveries' states.
    pub status: EventStatus,
    /// The event's glance, read at the same moment; only if it was asked for.
    pub glance: Option<Glance>,
}

/// What is needed of an event to read its glance again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRef {
    /// The event's sequence number.
    pub seq: i64,
    /// The event's id.
    pub id: EventId,
    /// The first event with its dedupe key; the event itself if it is no duplicate.
    pub first: EventId,
    /// Whether the event folds.
    pub folds: bool,
}

impl From<&Event> for EventRef {
    fn from(event: &Event) -> Self {
        let first = event.duplicate_of.unwrap_or(event.id);
        Self { seq: event.seq, id: event.id, first, folds: event.folds }
    }
}

/// Selects the copies of a first event, itself included.
pub(crate) const COPIES: &str = "SELECT id FROM
    (SELECT seq, id FROM event WHERE id = ?1 AND deleted_at IS NULL UNION ALL
        SELECT seq, id FROM event WHERE duplicate_of = ?1 AND deleted_at IS NULL)
    ORDER BY seq LIMIT ?2";

/// Counts the copies of a first event without itself, tells whether one of them has other bytes, and counts those that
/// fold.
pub(crate) const COUNT: &str =
    "SELECT count(*), coalesce(max(flags & 2), 0), coalesce(sum((flags & 16) <> 0), 0)
    FROM event WHERE duplicate_of = ?1 AND deleted_at IS NULL";

const _: () = assert!(rows::CONFLICT == 2 && rows::FOLDS == 16);

/// What the copies of a first event are together.
#[derive(Clone, Copy)]
struct Counted {
    copies: u64,
    differ: bool,
    folded: u64,
}

fn count(db: &Connection, first: EventId) -> Result<Counted, InboxError> {
    const IS_THERE: &str = "SELECT 1 FROM event WHERE id = ?1 AND deleted_at IS NULL";
    let counted = db.prepare_cached(COUNT)?.query_row([first.as_bytes()], |row| {
        Ok(Counted { copies: row.get(0)?, differ: row.get::<_, i64>(1)? != 0, folded: row.get(2)? })
    })?;
    let itself = db.prepare_cached(IS_THERE)?.exists([first.as_bytes()])?;
    Ok(Counted { copies: counted.copies + u64::from(itself), ..counted })
}

/// Adds to each event its glance, as of the moment at which the events were read.
pub(crate) fn added(
    db: &Connection,
    mut events: Vec<Listed>,
    clock: &StoreClock,
) -> Result<Vec<Listed>, InboxError> {
    let mut known = HashMap::new();
    for listed in &mut events {
        listed.glance = Some(glance(db, EventRef::from(&listed.event), &mut known, clock)?);
    }
    Ok(events)
}

fn glance(
    db: &Connection,
    EventRef { seq, id, first, folds }: EventRef,
    known: &mut HashMap<EventId, Counted>,
    clock: &StoreClock,
) -> Result<Glance, InboxError> {
    let Counted { copies, differ, folded } = match known.get(&first) {
        Some(count) => *count,
        None => *known.entry(first).or_insert(count(db, first)?),
    };
    Ok(Glance { copies, copies_differ: differ, folded, folds, delivery: delivery(db, seq, id, clock)? })
}

/// Returns the most telling delivery of an event; among several in the same state, the last one added.
fn delivery(
    db: &Connection,
    seq: i64,
    event: EventId,
    clock: &StoreClock,
) -> Result<Option<DeliveryGlance>, InboxError> {
    let worst = format!(
        "SELECT d.number, d.target, t.url, d.state, CASE d.state WHEN 0 THEN d.due_at END,
            count(*) OVER (),
            coalesce(d.last_error, CASE d.state WHEN 0 THEN t.down_error END),
            d.state = 0 AND (t.paused OR t.down_since IS NOT NULL)
        FROM delivery d LEFT JOIN target t ON t.id = d.target WHERE d.event = ?1
        ORDER BY {STATUS_RANK}, d.number DESC LIMIT 1"
    );
    const LAST: &str =
        "SELECT status, duration, status IS NULL AND sent FROM attempt WHERE event = ?1 AND delivery = ?2
        ORDER BY number DESC LIMIT 1";
    let read = |row: &Row<'_>| {
        Ok(DeliveryGlance {
            id: DeliveryId { event, number: row.get(0)? },
            target_id: TargetId(row.get(1)?),
            target: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
            status: rows::state(row, 3)?,
            waiting: row.get::<_, Option<bool>>(7)?.unwrap_or_default(),
            ambiguous: false,
            response_status: None,
            duration_ms: None,
            error: row.get(6)?,
            next_attempt_at: rows::due(row, 4, clock)?,
            count: row.get(5)?,
        })
    };
    let found = db.prepare_cached(&worst)?.query_row([seq], read).optional()?;
    let Some(mut delivery) = found else { return Ok(None) };
    let last = db.prepare_cached(LAST)?.query_row(params![seq, delivery.id.number], |row| {
        Ok((row.get::<_, Option<u16>>(0)?, row.get::<_, u64>(1)?, row.get(2)?))
    });
    if let Some((status, micros, ambiguous)) = last.optional()? {
        delivery.ambiguous = ambiguous;
        delivery.response_status = status;
        delivery.duration_ms = Some(micros / 1_000);
    }
    Ok(Some(delivery))
}
