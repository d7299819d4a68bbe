//! Counts the events that earlier versions stored: upkeep of the process that delivers.
//!
//! It goes from the newest to the oldest. How far it has come is stored in the commit that counts, and what is not
//! counted yet may change and go as if there were no history.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;
use rusqlite::{Connection, Row};

use super::{
    counted::{COUNTED, Counted, hour_of},
    latencies,
    timed::Kind,
};
use crate::{Inbox, InboxError, batch::Batch, rows::GOING};

/// How long a step may keep the writer.
const TURN: Duration = Duration::from_millis(5);

/// How long a step waits for the writer's queue to be empty, and how often it looks.
const PATIENCE: Duration = Duration::from_millis(200);
const LOOK_EVERY: Duration = Duration::from_millis(5);

impl Inbox {
    /// Counts some of the events that earlier versions stored. Returns whether there are more.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn count_earlier(&self) -> Result<bool, InboxError> {
        self.count_earlier_for(TURN).await
    }

    /// Counts for so long, but at least one event.
    pub(super) async fn count_earlier_for(&self, turn: Duration) -> Result<bool, InboxError> {
        if self.readers.read(|db| Ok(uncounted(db)?)).await? == 0 {
            return Ok(false);
        }
        self.rests(PATIENCE, LOOK_EVERY).await;
        self.write(move |batch| step(batch, turn)).await
    }
}

/// Returns the number up to which events are not counted yet.
pub(crate) fn uncounted(db: &Connection) -> rusqlite::Result<i64> {
    db.prepare_cached("SELECT value FROM meta WHERE key = 'uncounted'")?.query_row([], |row| row.get(0))
}

fn step(batch: &mut Batch<'_>, turn: Duration) -> Result<bool, InboxError> {
    const NOTE: &str = "UPDATE meta SET value = ?1 WHERE key = 'uncounted'";
    let (begun, mut answers) = (Instant::now(), HashMap::new());
    let mut left = 0;
    // What is being deleted leaves the history at once.
    const WHICH: &str = "WHERE seq <= ?1 AND flags & 64 = 0 ORDER BY seq DESC";
    const _: () = assert!(GOING == 64);
    let mut select = batch.db.prepare_cached(&format!("{COUNTED} {WHICH}"))?;
    let mut found = select.query([uncounted(batch.db)?])?;
    while let Some(row) = found.next()? {
        let (counted, seq) = (Counted::read(row)?, row.get(7)?);
        batch.arriving.hours.count(counted);
        add_answers(batch.db, seq, counted.cell.source, &mut answers)?;
        if begun.elapsed() >= turn {
            left = seq - 1;
            break;
        }
    }
    for ((hour, source), counts) in answers {
        latencies::store(batch.db, (hour, source, Kind::Delivery), counts, batch.now)?;
    }
    batch.db.prepare_cached(NOTE)?.execute([left])?;
    Ok(left > 0)
}

/// Adds how long the attempts of an event took. One that was cut off took no time that is known.
fn add_answers(
    db: &Connection,
    seq: i64,
    source: i64,
    answers: &mut HashMap<(i64, i64), Histogram<u64>>,
) -> Result<(), InboxError> {
    const SQL: &str = "SELECT started_at, duration FROM attempt WHERE event = ?1 AND duration > 0";
    let mut select = db.prepare_cached(SQL)?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    for attempt in select.query_map([seq], read)? {
        let (started, duration): (i64, u64) = attempt?;
        let counts = answers.entry((hour_of(started), source)).or_insert_with(latencies::histogram);
        counts.saturating_record(duration);
    }
    Ok(())
}
