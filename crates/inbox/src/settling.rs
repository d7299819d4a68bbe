//! Brings a recovered inbox into accord with itself: rows whose events are gone go, and what is counted is counted anew.

use std::path::Path;

use hookmitt_event::Timestamp;
use rusqlite::{Connection, params};

use crate::{
    InboxError,
    content::is_genuine,
    hours::{self, Changes},
    now::Now,
    of_this_machine,
    recovered::{NOTE, Recovered, count, in_words},
    rows::LOST,
};

/// How many numbers are left out after a recovery: some may have been given to events that were lost.
pub(crate) const SPARE: i64 = 1_000;

/// Why a delivery is not sent whose event has lost its body.
const WHY_LOST: &str = "its event's body was damaged";

/// Removes what belongs to events that are gone, and what is worked out anew.
const ORPHANS: &str = "
    DELETE FROM raw WHERE seq NOT IN (SELECT seq FROM event);
    DELETE FROM packed WHERE seq NOT IN (SELECT seq FROM event);
    DELETE FROM delivery WHERE event NOT IN (SELECT seq FROM event);
    DELETE FROM attempt WHERE event NOT IN (SELECT seq FROM event);
    DELETE FROM tag WHERE event NOT IN (SELECT seq FROM event);
    DELETE FROM late_answer WHERE event NOT IN (SELECT seq FROM event);
    DELETE FROM job_failure WHERE job NOT IN (SELECT id FROM job);
    DELETE FROM changed;
    DELETE FROM swept;
    DELETE FROM look_again;
    UPDATE meta SET value = 0 WHERE key IN ('swept', 'keys_swept');
    INSERT OR IGNORE INTO source (id, slug, settings, auto_created, created_at)
        SELECT DISTINCT source, 'recovered-' || source, '{}', 0, 0 FROM event;
    UPDATE delivery SET blocked = 0;
    INSERT OR REPLACE INTO left_behind SELECT c.seq, c.source FROM event c WHERE c.flags & 16
        AND c.deleted_at IS NULL AND NOT EXISTS
        (SELECT 1 FROM event f WHERE f.id = c.duplicate_of AND f.deleted_at IS NULL);";

/// A block goes with the last of its events, so it must know how many there still are.
const BLOCKS: &str = "
    DELETE FROM block WHERE id NOT IN (SELECT block FROM packed WHERE block IS NOT NULL);
    DELETE FROM block_gone WHERE block NOT IN (SELECT id FROM block);
    UPDATE block SET events = found.events FROM (SELECT block, count(*) AS events FROM
        (SELECT block FROM packed WHERE block IS NOT NULL UNION ALL SELECT block FROM block_gone) GROUP BY block)
        AS found WHERE found.block = block.id AND block.events <> found.events;";

/// What is noted of the bin and of tags in several places must agree. Whoever lost the moment at which it was moved to
/// the bin was moved there now, so that it goes at some time, and none too early.
const MARKS: &str = "
    DELETE FROM binned WHERE event NOT IN (SELECT seq FROM event WHERE deleted_at IS NOT NULL);
    UPDATE binned SET job = NULL WHERE job NOT IN (SELECT id FROM job);
    UPDATE delivery SET binned = 1 - binned WHERE event IN
        (SELECT seq FROM event WHERE (deleted_at IS NOT NULL) <> delivery.binned);
    UPDATE tag SET binned = 1 - binned WHERE event IN
        (SELECT seq FROM event WHERE (deleted_at IS NOT NULL) <> tag.binned);
    UPDATE event SET flags = (flags & ~32) | iif(flags & 32, 0, 32)
        WHERE ((flags & 32) <> 0) <> EXISTS (SELECT 1 FROM tag WHERE tag.event = event.seq);";
const BINNED: &str =
    "INSERT OR IGNORE INTO binned (event, at) SELECT seq, ?1 FROM event WHERE deleted_at IS NOT NULL";
/// The running totals.
const TALLY: &str = "
    DELETE FROM tally;
    INSERT INTO tally SELECT source, verdict, count(*), sum(duplicate_of IS NOT NULL), sum(size),
        sum((SELECT count(*) FROM delivery d WHERE d.event = e.seq AND NOT d.binned))
        FROM event e WHERE deleted_at IS NULL GROUP BY source, verdict;";

/// What is known of a damaged inbox.
pub(crate) struct Found<'a> {
    /// Where it is kept.
    pub(crate) kept: &'a Path,
    /// The tables of which SQLite couldn't read every row.
    pub(crate) unread: &'a [&'static str],
    /// Whether all that was committed is in its file: only then does it say how many events it had.
    pub(crate) is_up_to_date: bool,
}

/// Brings what was found into accord, and notes what was recovered.
pub(crate) fn settle(new: &Connection, now: Now, found: &Found<'_>) -> Result<Recovered, InboxError> {
    let there = "SELECT count(*) FROM event WHERE deleted_at IS NULL";
    let had = new.query_row("SELECT sum(events) FROM tally", [], |row| row.get::<_, Option<u64>>(0))?;
    let all = new.unchecked_transaction()?;
    all.execute_batch(ORPHANS)?;
    of_this_machine::forget(&all)?;
    let without_body = mark_lost(&all, now)?;
    all.execute_batch(BLOCKS)?;
    all.execute_batch(MARKS)?;
    all.execute(BINNED, [now.store])?;
    all.execute_batch(TALLY)?;
    hours::recount(&all, now)?;
    keep_numbers(&all)?;
    let recovered = Recovered {
        at: Timestamp::from_micros(now.wall),
        events: count(&all, "SELECT count(*) FROM event")?,
        without_body,
        missing: had
            .filter(|_| found.is_up_to_date)
            .map(|had| Ok::<_, InboxError>(had.saturating_sub(count(&all, there)?)))
            .transpose()?,
        incomplete: in_words(found.unread),
        kept: found.kept.to_owned(),
    };
    let note = serde_json::to_string(&recovered).unwrap_or_default();
    all.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", params![NOTE, note])?;
    all.commit()?;
    Ok(recovered)
}

/// Removes the bytes of events whose body isn't the one that came, so that nothing passes for genuine, and ends what waits
/// for those. Returns how many there are.
fn mark_lost(new: &Connection, now: Now) -> Result<u64, InboxError> {
    const EMPTY: &str = "UPDATE event SET headers = x'', body = x'', flags = flags | ?2 WHERE seq = ?1";
    const END: &str =
        "UPDATE delivery SET state = 3, last_error = ?2, ended_at = ?3, due_at = NULL, claim = NULL,
        claimed_at = NULL WHERE event = ?1 AND state IN (0, 1)";
    let mut select = new.prepare("SELECT seq FROM event ORDER BY seq")?;
    let events: Vec<i64> = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let (mut lost, mut hours) = (0, Changes::default());
    for seq in events {
        match is_genuine(new, seq) {
            Ok(true) => continue,
            Err(error @ (InboxError::Full | InboxError::Busy)) => return Err(error),
            Ok(false) | Err(_) => lost += 1,
        }
        hours.note(new, seq)?;
        for sql in ["DELETE FROM raw WHERE seq = ?1", "DELETE FROM packed WHERE seq = ?1"] {
            new.prepare_cached(sql)?.execute([seq])?;
        }
        new.prepare_cached(EMPTY)?.execute([seq, LOST])?;
        new.prepare_cached(END)?.execute(params![seq, WHY_LOST, now.wall])?;
    }
    hours.write(new, now)?;
    Ok(lost)
}

/// Makes sure that no number is given out again.
fn keep_numbers(new: &Connection) -> Result<(), InboxError> {
    const SQL: &str = "INSERT OR REPLACE INTO meta SELECT 'last_seq', ?1 + max(
        coalesce((SELECT value FROM meta WHERE key = 'last_seq'), 0),
        coalesce((SELECT max(seq) FROM event), 0), coalesce((SELECT max(seq) FROM first_key), 0))";
    new.execute(SQL, [SPARE])?;
    Ok(())
}
