//! Deletes events for good, a little with each commit, and leaves no trace of them in the file or in its log.

use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{Inbox, InboxError, batch::Batch, tally::Change};

/// How long a commit works on a long list before it leaves the rest to the next one, so that captures needn't wait.
pub(crate) const TURN: Duration = Duration::from_millis(8);

/// How many events were dealt with, and how many of those are gone. An event that is being sent stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Purged {
    pub(crate) done: usize,
    pub(crate) gone: u64,
}

/// Deletes events and everything that refers to them, whether they are in the bin or not, until [`TURN`] is over; the
/// first is always dealt with. Who owns a dedupe key outlives its event, so a later copy still counts as a duplicate.
pub(crate) fn purge(batch: &mut Batch<'_>, seqs: &[i64]) -> Result<Purged, InboxError> {
    let (started, mut purged) = (Instant::now(), Purged::default());
    for seq in seqs {
        purged.gone += u64::from(purge_one(batch, *seq)?);
        purged.done += 1;
        if started.elapsed() >= TURN {
            break;
        }
    }
    Ok(purged)
}

/// Deletes one event. Returns `false` if it is not there or is being sent.
fn purge_one(batch: &mut Batch<'_>, seq: i64) -> Result<bool, InboxError> {
    const FIND: &str = "SELECT source, verdict, duplicate_of IS NOT NULL, size, deleted_at IS NOT NULL
        FROM event WHERE seq = ?1 AND NOT EXISTS (SELECT 1 FROM delivery WHERE event = ?1 AND state = 1)";
    const COUNT: &str = "SELECT count(*) FROM delivery WHERE event = ?1 AND NOT binned";
    const REST: [&str; 6] = [
        "DELETE FROM attempt WHERE event = ?1",
        "DELETE FROM delivery WHERE event = ?1",
        "DELETE FROM late_answer WHERE event = ?1",
        "DELETE FROM tag WHERE event = ?1",
        "DELETE FROM binned_by WHERE event = ?1",
        "DELETE FROM event WHERE seq = ?1",
    ];
    let db = batch.db;
    let found = db.prepare_cached(FIND)?.query_row([seq], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get::<_, bool>(4)?))
    });
    let Some((source, verdict, is_duplicate, size, is_binned)) = found.optional()? else { return Ok(false) };
    if !is_binned {
        let deliveries: i64 = db.prepare_cached(COUNT)?.query_row([seq], |row| row.get(0))?;
        let change = Change { deliveries: -deliveries, ..Change::no_event(is_duplicate, size) };
        batch.arriving.tally.add(source, verdict, change);
        batch.arriving.hours.note(db, seq)?;
        leave_queue(db, seq, batch.now.wall)?;
    }
    batch.arriving.hours.leave(db, seq)?;
    for sql in REST {
        db.prepare_cached(sql)?.execute([seq])?;
    }
    batch.arriving.bytes += u64::try_from(size).unwrap_or(0);
    Ok(true)
}

/// Ends what waits for an event, so that others of its key get their turn.
fn leave_queue(db: &Connection, seq: i64, now: i64) -> Result<(), InboxError> {
    const SQL: &str =
        "UPDATE delivery SET state = 5, ended_at = ?2, due_at = NULL WHERE event = ?1 AND state = 0";
    db.prepare_cached(SQL)?.execute(params![seq, now])?;
    Ok(())
}

impl Inbox {
    /// Gives the file's empty pages back to the disk, and removes from the log what has been copied into the file. Both
    /// happen a little at a time. Returns `false` if somebody reads the log at the moment: then try again later.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn give_back(&self) -> Result<bool, InboxError> {
        while self.write(|batch| shrink(batch.db)).await? {}
        self.cut_log().await
    }
}

/// Takes empty pages off the end of the file. Returns whether there are more.
fn shrink(db: &Connection) -> Result<bool, InboxError> {
    let started = Instant::now();
    let mut vacuum = db.prepare_cached("PRAGMA incremental_vacuum")?;
    let mut pages = vacuum.raw_query();
    while pages.next()?.is_some() {
        if started.elapsed() >= TURN {
            return Ok(true);
        }
    }
    Ok(false)
}
