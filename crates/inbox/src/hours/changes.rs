//! What a group of jobs changes in the history.

use std::{collections::HashMap, time::Duration};

use rusqlite::{Connection, params};

use super::counted::{COUNTED, Cell, Counted};
use crate::{InboxError, now::Now, rows::micros};

/// How long a row is kept, in store time, after the last of its events is gone.
const KEPT: Duration = Duration::from_secs(400 * 86_400);

/// How many rows are removed at once.
const AT_ONCE: usize = 500;

/// Changes to the history. Those of a group of jobs are written once, at the end of the group.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    rows: HashMap<Cell, Sum>,
    /// Events that may have changed, as they were counted before.
    before: HashMap<i64, Counted>,
    /// Events that were deleted for good, as they were counted last.
    gone: HashMap<i64, Counted>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    events: i64,
    duplicates: i64,
    bytes: i64,
    kept: i64,
}

impl Changes {
    /// Counts an event that the history doesn't hold.
    pub(crate) fn count(&mut self, event: Counted) {
        self.add(event, 1);
    }

    /// Has an event counted anew at the end of the group. It must be told before the event's verdict, or the state of
    /// one of its deliveries, changes.
    pub(crate) fn note(&mut self, db: &Connection, seq: i64) -> Result<(), InboxError> {
        if let Some(counted) = Counted::find(db, seq)? {
            self.before.entry(seq).or_insert(counted);
        }
        Ok(())
    }

    /// Leaves an event in the history as it is now, because it is about to be deleted for good.
    pub(crate) fn leave(&mut self, db: &Connection, seq: i64) -> Result<(), InboxError> {
        if let Some(counted) = Counted::find(db, seq)? {
            self.gone.insert(seq, counted);
        }
        Ok(())
    }

    /// Adds the changes of a later job.
    pub(crate) fn merge(&mut self, later: Self) {
        for (cell, sum) in later.rows {
            self.rows.entry(cell).or_default().add(sum, 1);
        }
        for (seq, counted) in later.before {
            self.before.entry(seq).or_insert(counted);
        }
        self.gone.extend(later.gone);
    }

    /// Writes the changes.
    pub(crate) fn write(&mut self, db: &Connection, now: Now) -> Result<(), InboxError> {
        for (seq, before) in std::mem::take(&mut self.before) {
            let now = match self.gone.get(&seq) {
                Some(last) => Some(*last),
                None => Counted::find(db, seq)?,
            };
            if let Some(now) = now.filter(|now| *now != before) {
                self.add(before, -1);
                self.add(now, 1);
            }
        }
        for counted in std::mem::take(&mut self.gone).into_values() {
            self.rows.entry(counted.cell).or_default().kept -= 1;
        }
        for (cell, sum) in self.rows.drain() {
            sum.write(db, cell, now.store)?;
        }
        Ok(())
    }

    fn add(&mut self, event: Counted, times: i64) {
        let Counted { cell, is_duplicate, bytes } = event;
        let one = Sum { events: 1, duplicates: i64::from(is_duplicate), bytes, kept: 1 };
        self.rows.entry(cell).or_default().add(one, times);
    }
}

impl Sum {
    fn add(&mut self, other: Self, times: i64) {
        self.events += times * other.events;
        self.duplicates += times * other.duplicates;
        self.bytes += times * other.bytes;
        self.kept += times * other.kept;
    }

    fn write(self, db: &Connection, cell: Cell, now: i64) -> Result<(), InboxError> {
        const ADD: &str = "INSERT INTO hourly VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            ON CONFLICT DO UPDATE SET events = events + excluded.events,
            duplicates = duplicates + excluded.duplicates, bytes = bytes + excluded.bytes,
            kept = kept + excluded.kept, changed_at = excluded.changed_at";
        // All its events have moved to other rows.
        const EMPTY: &str = "DELETE FROM hourly WHERE hour = ?1 AND source = ?2 AND via = ?3 AND verdict = ?4
            AND status = ?5 AND events = 0 AND duplicates = 0 AND bytes = 0 AND kept = 0";
        self.store(db, ADD, cell, now)?;
        if self.events < 0 {
            let Cell { hour, source, via, verdict, status } = cell;
            db.prepare_cached(EMPTY)?.execute(params![hour, source, via, verdict, status as i64])?;
        }
        Ok(())
    }

    /// Runs an `INSERT` with the columns of a row.
    fn store(self, db: &Connection, sql: &str, cell: Cell, now: i64) -> Result<(), InboxError> {
        let Cell { hour, source, via, verdict, status } = cell;
        let Self { events, duplicates, bytes, kept } = self;
        let values = params![hour, source, via, verdict, status as i64, events, duplicates, bytes, kept, now];
        db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }
}

/// Counts anew which events are still there, after a recovery. What is gone stays in the history, which may itself have
/// lost rows.
pub(crate) fn recount(db: &Connection, now: Now) -> Result<(), InboxError> {
    const NONE: &str = "UPDATE hourly SET kept = 0, changed_at = ?1 WHERE kept <> 0";
    const ADD: &str = "INSERT INTO hourly VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
        ON CONFLICT DO UPDATE SET events = max(events, excluded.events),
        duplicates = max(duplicates, excluded.duplicates), bytes = max(bytes, excluded.bytes),
        kept = excluded.kept, changed_at = excluded.changed_at";
    const THERE: &str =
        "WHERE flags & 64 = 0 AND seq > (SELECT value FROM meta WHERE key = 'uncounted') ORDER BY seq";
    let mut there = Changes::default();
    let mut select = db.prepare(&format!("{COUNTED} {THERE}"))?;
    for counted in select.query_map([], Counted::read)? {
        there.count(counted?);
    }
    db.execute(NONE, [now.store])?;
    there.rows.into_iter().try_for_each(|(cell, sum)| sum.store(db, ADD, cell, now.store))
}

/// Removes what has been kept long enough.
pub(crate) fn prune(db: &Connection, now: Now) -> Result<(), InboxError> {
    const ROWS: &str = "DELETE FROM hourly WHERE (hour, source, via, verdict, status) IN (
        SELECT hour, source, via, verdict, status FROM hourly INDEXED BY hourly_gone
        WHERE kept = 0 AND changed_at < ?1 ORDER BY changed_at LIMIT ?2)";
    const LATENCIES: &str = "DELETE FROM latency WHERE (hour, source, kind) IN (
        SELECT hour, source, kind FROM latency INDEXED BY latency_old
        WHERE changed_at < ?1 ORDER BY changed_at LIMIT ?2)";
    let until = now.store.saturating_sub(micros(KEPT));
    for sql in [ROWS, LATENCIES] {
        db.prepare_cached(sql)?.execute(params![until, AT_ONCE])?;
    }
    Ok(())
}
