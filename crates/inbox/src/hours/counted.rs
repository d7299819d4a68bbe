//! How an event is counted.

use hookmitt_event::EventStatus;
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::rows::GOING;

/// The length of an hour, in microseconds.
const HOUR: i64 = 3_600_000_000;

/// Returns the hour of a moment, counted from the Unix epoch.
pub(crate) fn hour_of(micros: i64) -> i64 {
    micros.div_euclid(HOUR)
}

/// Returns when an hour begins, in microseconds.
pub(crate) fn beginning(hour: i64) -> i64 {
    hour.saturating_mul(HOUR)
}

/// A row of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cell {
    pub(crate) hour: i64,
    pub(crate) source: i64,
    pub(crate) via: i64,
    pub(crate) verdict: i64,
    pub(crate) status: EventStatus,
}

/// An event as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) cell: Cell,
    pub(crate) is_duplicate: bool,
    pub(crate) bytes: i64,
}

/// Selects events as they are counted. What is being sent counts as pending, so that a claim changes no numbers.
pub(crate) const COUNTED: &str = "SELECT received_at, source, via, verdict, duplicate_of IS NOT NULL, size,
    (SELECT min(CASE state WHEN 4 THEN 0 WHEN 3 THEN 1 WHEN 2 THEN 4 WHEN 5 THEN 5 ELSE 3 END)
        FROM delivery WHERE event = seq), seq FROM event";

impl Counted {
    /// Reads a row of [`COUNTED`].
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let status = match row.get::<_, Option<u8>>(6)? {
            Some(0) => EventStatus::DeadLetter,
            Some(1) => EventStatus::Failed,
            Some(3) => EventStatus::Pending,
            Some(4) => EventStatus::Completed,
            Some(_) => EventStatus::Skipped,
            None => EventStatus::Captured,
        };
        let cell = Cell {
            hour: hour_of(row.get(0)?),
            source: row.get(1)?,
            via: row.get(2)?,
            verdict: row.get(3)?,
            status,
        };
        Ok(Self { cell, is_duplicate: row.get(4)?, bytes: row.get(5)? })
    }

    /// Finds an event. Returns `None` if there is no such event, if it isn't counted yet, or if it has left the history
    /// because it is being deleted.
    pub(crate) fn find(db: &Connection, seq: i64) -> rusqlite::Result<Option<Self>> {
        const WHICH: &str = "WHERE seq = ?1 AND flags & 64 = 0
            AND seq > (SELECT value FROM meta WHERE key = 'uncounted')";
        const _: () = assert!(GOING == 64);
        db.prepare_cached(&format!("{COUNTED} {WHICH}"))?.query_row([seq], Self::read).optional()
    }
}
