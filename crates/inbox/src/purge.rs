//! Deletes events for good, a little with each commit, and leaves no trace of them in the file or in its log.

use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    Inbox, InboxError,
    batch::Batch,
    block::blank_next,
    rows::GOING,
    tally::Change,
    usage::{empty, in_use},
};

/// How long a commit works on a long list before it leaves the rest to the next one, so that captures needn't wait.
const TURN: Duration = Duration::from_millis(8);

/// How many empty bytes in the file are left to the next events, at least.
const MUCH: u64 = 64 * 1024 * 1024;

/// How many attempts and deliveries of an event are deleted by one statement. Answers may be large.
const ATTEMPTS: usize = 8;
const DELIVERIES: usize = 64;

/// How many events were dealt with, and how many of those are gone. An event that is being sent stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Purged {
    pub(crate) done: usize,
    pub(crate) gone: u64,
    /// How many bytes the bodies of those had that are gone.
    pub(crate) bytes: u64,
    /// Whether the next event is deleted in part: it had too many attempts or deliveries for one commit.
    pub(crate) begun: bool,
}

/// What became of an event that should be deleted.
enum Outcome {
    Gone {
        bytes: u64,
    },
    /// It is not there, or is being sent.
    Stays,
    /// It is deleted in part.
    Begun,
}

/// Deletes events and everything that refers to them, whether they are in the bin or not, until [`TURN`] is over; the
/// first is always dealt with, or at least a part of it. Who owns a dedupe key outlives its event, so a later copy still
/// counts as a duplicate.
pub(crate) fn purge(batch: &mut Batch<'_>, seqs: &[i64]) -> Result<Purged, InboxError> {
    purge_since(batch, seqs, Instant::now())
}

/// Like [`purge`], in a commit that began its work before.
pub(crate) fn purge_since(
    batch: &mut Batch<'_>,
    seqs: &[i64],
    started: Instant,
) -> Result<Purged, InboxError> {
    let mut purged = Purged::default();
    for seq in seqs {
        match purge_one(batch, *seq, started)? {
            Outcome::Gone { bytes } => {
                purged.gone += 1;
                purged.bytes += bytes;
            }
            Outcome::Stays => {}
            Outcome::Begun => {
                purged.begun = true;
                break;
            }
        }
        purged.done += 1;
        if started.elapsed() >= TURN {
            break;
        }
    }
    Ok(purged)
}

/// Deletes one event, or a part of what belongs to it if the time is over.
fn purge_one(batch: &mut Batch<'_>, seq: i64, started: Instant) -> Result<Outcome, InboxError> {
    const FIND: &str = "SELECT source, verdict, duplicate_of IS NOT NULL, size, deleted_at IS NOT NULL
        FROM event WHERE seq = ?1 AND NOT EXISTS (SELECT 1 FROM delivery WHERE event = ?1 AND state = 1)";
    const REST: [&str; 7] = [
        "DELETE FROM late_answer WHERE event = ?1",
        "DELETE FROM tag WHERE event = ?1",
        "DELETE FROM binned WHERE event = ?1",
        "DELETE FROM look_again WHERE seq = ?1",
        "DELETE FROM first_key WHERE seq = ?1 AND seq <= (SELECT value FROM meta WHERE key = 'keys_swept')",
        "UPDATE first_key SET sha256 = (SELECT sha256 FROM event WHERE seq = ?1) WHERE seq = ?1",
        "DELETE FROM event WHERE seq = ?1",
    ];
    const GOING_NOW: &str = "UPDATE event SET flags = flags | ?2 WHERE seq = ?1";
    let db = batch.db;
    let found = db.prepare_cached(FIND)?.query_row([seq], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get::<_, bool>(4)?))
    });
    let Some((source, verdict, is_duplicate, size, is_binned)) = found.optional()? else {
        return Ok(Outcome::Stays);
    };
    if !is_binned {
        batch.arriving.hours.note(db, seq)?;
        leave_queue(db, seq, batch.now.wall)?;
    }
    batch.arriving.hours.leave(db, seq)?;
    remember(db, seq)?;
    let (deliveries, all) = strip(db, seq, started)?;
    if !is_binned {
        batch.arriving.tally.add(source, verdict, Change { deliveries: -deliveries, ..Change::default() });
    }
    if !all {
        db.prepare_cached(GOING_NOW)?.execute(params![seq, GOING])?;
        return Ok(Outcome::Begun);
    }
    if !is_binned {
        batch.arriving.tally.add(source, verdict, Change::no_event(is_duplicate, size));
    }
    for sql in REST {
        db.prepare_cached(sql)?.execute([seq])?;
    }
    let bytes = u64::try_from(size).unwrap_or(0);
    batch.arriving.bytes += bytes;
    Ok(Outcome::Gone { bytes })
}

/// Deletes an event's attempts and deliveries; some of them at least. Returns how many deliveries went that were not
/// in the bin, and whether all are gone.
fn strip(db: &Connection, seq: i64, started: Instant) -> Result<(i64, bool), InboxError> {
    const ATTEMPT: &str =
        "DELETE FROM attempt WHERE rowid IN (SELECT rowid FROM attempt WHERE event = ?1 LIMIT ?2)";
    const DELIVERY: &str = "DELETE FROM delivery WHERE event = ?1 AND number <
        ?2 + (SELECT min(number) FROM delivery WHERE event = ?1)";
    while db.prepare_cached(ATTEMPT)?.execute(params![seq, ATTEMPTS])? == ATTEMPTS {
        if started.elapsed() >= TURN {
            return Ok((0, false));
        }
    }
    let mut gone = 0;
    loop {
        let some = db.prepare_cached(DELIVERY)?.execute(params![seq, DELIVERIES])?;
        gone += i64::try_from(some).unwrap_or(i64::MAX);
        if some < DELIVERIES {
            return Ok((gone, true));
        }
        if started.elapsed() >= TURN {
            return Ok((gone, false));
        }
    }
}

/// Remembers, with the key of an event or of the one that it repeats, where the event was completed, so that no later
/// repeat is sent there. A repeat says something only if it proves as much as its first.
fn remember(db: &Connection, seq: i64) -> Result<(), InboxError> {
    const WENT: &str = "WITH done AS (SELECT target FROM
            (SELECT target, state FROM delivery WHERE event = ?1 ORDER BY number LIMIT 1000) WHERE state = 2)
        UPDATE first_key SET went = (SELECT json_group_array(target) FROM
            (SELECT target FROM done UNION SELECT value FROM json_each(coalesce(first_key.went, '[]'))))
        WHERE EXISTS (SELECT 1 FROM done) AND seq = (SELECT coalesce(f.seq, e.seq) FROM event e
            LEFT JOIN event f ON f.id = e.duplicate_of
            WHERE e.seq = ?1 AND (e.duplicate_of IS NULL OR f.verdict = e.verdict))";
    db.prepare_cached(WENT)?.execute([seq])?;
    Ok(())
}

/// Ends what waits for an event, so that others of its key get their turn.
fn leave_queue(db: &Connection, seq: i64, now: i64) -> Result<(), InboxError> {
    const SQL: &str =
        "UPDATE delivery SET state = 5, ended_at = ?2, due_at = NULL WHERE event = ?1 AND state = 0";
    db.prepare_cached(SQL)?.execute(params![seq, now])?;
    Ok(())
}

impl Inbox {
    /// Overwrites what is gone from the blocks of bodies, gives the file's empty pages back to the disk, and removes from
    /// the log what has been copied into the file, a little at a time. Returns `false` if somebody reads the log at the
    /// moment: then try again later.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn give_back(&self) -> Result<bool, InboxError> {
        while self.write(|batch| blank_next(batch.db)).await? {}
        while self.write(|batch| shrink(batch.db)).await? {}
        self.cut_log().await
    }

    /// Whether so much of the file is empty that it should be given back at once.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn is_wasteful(&self) -> Result<bool, InboxError> {
        self.readers.read(is_wasteful).await
    }
}

/// Whether much of the file is empty.
fn is_wasteful(db: &Connection) -> Result<bool, InboxError> {
    Ok(empty(db)? > MUCH.max(in_use(db)? / 4))
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
