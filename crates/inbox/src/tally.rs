//! Running totals, so that counting costs the same for ten events and for a million.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use crate::InboxError;

/// Changes to the totals, by source and verdict. Those of a group of jobs are written once, at the end of the group.
#[derive(Debug, Default)]
pub(crate) struct Tally(HashMap<(i64, i64), Change>);

/// What is added to a total; negative numbers subtract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// Events that are not in the bin.
    pub(crate) events: i64,
    /// How many of these events are duplicates.
    pub(crate) duplicates: i64,
    /// The size of these events' bodies, in bytes.
    pub(crate) bytes: i64,
    /// Deliveries of events that are not in the bin. Only the sum over all sources and verdicts means anything, because
    /// events may have changed their verdicts since.
    pub(crate) deliveries: i64,
}

impl Change {
    /// Returns the change for an event more.
    pub(crate) fn event(is_duplicate: bool, bytes: i64) -> Self {
        Self { events: 1, duplicates: i64::from(is_duplicate), bytes, deliveries: 0 }
    }

    /// Returns the change when an event is removed.
    pub(crate) fn no_event(is_duplicate: bool, bytes: i64) -> Self {
        Self { events: -1, duplicates: -i64::from(is_duplicate), bytes: -bytes, deliveries: 0 }
    }
}

impl Tally {
    /// Adds a change to those of a source and verdict.
    pub(crate) fn add(&mut self, source: i64, verdict: i64, change: Change) {
        let total = self.0.entry((source, verdict)).or_default();
        total.events += change.events;
        total.duplicates += change.duplicates;
        total.bytes += change.bytes;
        total.deliveries += change.deliveries;
    }

    /// Adds the changes of another tally.
    pub(crate) fn merge(&mut self, other: Self) {
        for ((source, verdict), change) in other.0 {
            self.add(source, verdict, change);
        }
    }

    /// Adds the changes to the stored totals.
    pub(crate) fn write(&self, db: &Connection) -> Result<(), InboxError> {
        const SQL: &str = "INSERT INTO tally (source, verdict, events, duplicates, bytes, deliveries)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET events = events + excluded.events,
            duplicates = duplicates + excluded.duplicates, bytes = bytes + excluded.bytes,
            deliveries = deliveries + excluded.deliveries";
        for ((source, verdict), change) in &self.0 {
            let Change { events, duplicates, bytes, deliveries } = change;
            let values = params![source, verdict, events, duplicates, bytes, deliveries];
            db.prepare_cached(SQL)?.execute(values)?;
        }
        Ok(())
    }
}
