//! A damaged inbox is set aside, and what can be read of it goes into a new one.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use hookmitt_event::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use crate::{InboxError, aside, content::is_genuine, recovered_rows, rows::LOST, schema};

/// The row of `meta` that says what was recovered.
const NOTE: &str = "recovered";

/// The file that says that a process found damage while it ran, so that the next one recovers.
const MARK: &str = "inbox.damaged";

/// How many numbers are left out after a recovery: some may have been given to events that were lost.
const SPARE: i64 = 1_000;

/// Why a delivery is not sent whose event has lost its body.
const WHY_LOST: &str = "its event's body was damaged";

/// What was recovered from a damaged inbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recovered {
    /// When it was recovered.
    pub at: Timestamp,
    /// How many events were recovered.
    pub events: u64,
    /// How many of those have lost their body or their header lines.
    pub without_body: u64,
    /// How many events are missing; `None` if the damaged inbox doesn't say how many it had.
    pub missing: Option<u64>,
    /// Where the damaged inbox is.
    pub kept: PathBuf,
}

impl std::fmt::Display for Recovered {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { at, events, without_body, missing, kept } = self;
        write!(out, "the inbox was damaged and was recovered at {at}: {events} events are here, ")?;
        match missing {
            Some(missing) => write!(out, "{missing} are missing, ")?,
            None => write!(out, "it isn't known how many are missing, ")?,
        }
        write!(out, "{without_body} have lost their body; the damaged file is kept: {}", kept.display())
    }
}

/// Recovers the inbox of a data directory if it is damaged.
///
/// # Errors
/// Fails with [`InboxError::Damaged`] if it is damaged and another process uses it.
pub(crate) fn recover_if_damaged(directory: &Path, now: Timestamp) -> Result<(), InboxError> {
    let (path, mark) = (directory.join("inbox.db"), directory.join(MARK));
    let Some(why) = damage(&path).or_else(|| mark.exists().then(|| "it was found damaged".to_owned())) else {
        return Ok(());
    };
    let failed = |error| InboxError::open(directory, error);
    let take = |name: &str| hookmitt_sqlite::take(&directory.join(name)).map_err(failed);
    let (Some(_owner), Some(_setup), false) = (take("owner.lock")?, take("setup.lock")?, is_used(&path))
    else {
        return Err(InboxError::Damaged(format!("{why}; end the hookmitt that runs, and start it again")));
    };
    recover(&path, now)?;
    let _gone = fs::remove_file(mark);
    Ok(())
}

/// Returns why a file can't be opened, if that is because of damage.
fn damage(path: &Path) -> Option<String> {
    if fs::metadata(path).map_or(0, |file| file.len()) == 0 {
        return None;
    }
    let looked = Connection::open(path).and_then(|db| {
        let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if tables > 0 {
            db.query_row("SELECT count(*) FROM meta", [], |row| row.get::<_, i64>(0))?;
            db.query_row("SELECT max(seq) FROM event", [], |row| row.get::<_, Option<i64>>(0))?;
            db.query_row("SELECT count(*) FROM source", [], |row| row.get::<_, i64>(0))?;
        }
        Ok(())
    });
    match looked.map_err(InboxError::from) {
        Err(InboxError::Damaged(why)) => Some(why),
        _ => None,
    }
}

/// Whether another process has the file open. What is in the log goes into the file, as far as that is possible.
fn is_used(path: &Path) -> bool {
    let alone = Connection::open(path).and_then(|db| {
        db.busy_timeout(Duration::from_secs(1))?;
        db.query_row("PRAGMA journal_mode = delete", [], |_| Ok(()))
    });
    matches!(alone.map_err(InboxError::from), Err(InboxError::Busy))
}

fn recover(path: &Path, now: Timestamp) -> Result<(), InboxError> {
    let made = path.with_file_name("inbox.db.recovering");
    let failed = |error| InboxError::open(&made, error);
    aside::remove(&made).map_err(failed)?;
    aside::forget_second_names(path).map_err(failed)?;
    schema::update(&made, path)?;
    let (new, old) = (Connection::open(&made)?, Connection::open(path)?);
    new.pragma_update(None, "synchronous", "off")?; // it is synced once it is complete
    let triggers = without_triggers(&new)?;
    recovered_rows::take_tables(&old, &new)?;
    recovered_rows::take_events(path, &new)?;
    if count(&new, "SELECT count(*) FROM event")? == 0 && !is_sqlite(path) {
        drop((old, new));
        aside::remove(&made).map_err(failed)?;
        return Ok(()); // a file of something else, which is refused as it is
    }
    recovered_rows::take_tables(&old, &new)?; // with what belongs to the events
    let kept = aside::free_name(path, &format!(".damaged-{}", aside::stamp(now)));
    let recovered = settle(&new, now, &kept)?;
    triggers.iter().try_for_each(|sql| new.execute_batch(sql))?;
    new.query_row("PRAGMA journal_mode = delete", [], |_| Ok(()))?;
    drop((old, new));
    fs::File::open(&made).and_then(|file| file.sync_all()).map_err(failed)?;
    aside::remove(&path.with_file_name("search.db")).map_err(failed)?;
    aside::replace(path, &made, &kept).map_err(failed)?;
    tracing::warn!("{recovered}");
    Ok(())
}

/// Whether a file begins like one of SQLite's.
fn is_sqlite(path: &Path) -> bool {
    use std::io::Read as _;
    let mut head = [0; 16];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *b"SQLite format 3\0"
}

/// Removes the triggers of a file, and returns what makes them again.
fn without_triggers(new: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut select = new.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")?;
    let triggers = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let triggers: Vec<(String, String)> = triggers.collect::<Result<_, _>>()?;
    drop(select);
    triggers.iter().try_for_each(|(name, _)| new.execute_batch(&format!("DROP TRIGGER {name}")))?;
    Ok(triggers.into_iter().map(|(_, sql)| sql).collect())
}

/// Brings what was found into accord, and notes what was recovered.
fn settle(new: &Connection, now: Timestamp, kept: &Path) -> Result<Recovered, InboxError> {
    const ORPHANS: &str = "
        DELETE FROM raw WHERE seq NOT IN (SELECT seq FROM event);
        DELETE FROM packed WHERE seq NOT IN (SELECT seq FROM event);
        DELETE FROM delivery WHERE event NOT IN (SELECT seq FROM event);
        DELETE FROM attempt WHERE event NOT IN (SELECT seq FROM event);
        DELETE FROM tag WHERE event NOT IN (SELECT seq FROM event);
        DELETE FROM changed;
        DELETE FROM swept;
        DELETE FROM look_again;
        UPDATE meta SET value = 0 WHERE key IN ('swept', 'keys_swept');
        DELETE FROM meta WHERE key IN ('owner', 'owner_pid', 'owner_lock', 'index_step', 'index_step_before');
        INSERT OR IGNORE INTO source (id, slug, settings, auto_created, created_at)
            SELECT DISTINCT source, 'recovered-' || source, '{}', 0, 0 FROM event;
        UPDATE delivery SET blocked = 0;
        INSERT OR REPLACE INTO left_behind SELECT c.seq, c.source FROM event c WHERE c.flags & 16
            AND c.deleted_at IS NULL AND NOT EXISTS
            (SELECT 1 FROM event f WHERE f.id = c.duplicate_of AND f.deleted_at IS NULL);";
    // A block goes with the last of its events, so it must know how many there still are.
    const BLOCKS: &str = "
        DELETE FROM block WHERE id NOT IN (SELECT block FROM packed WHERE block IS NOT NULL);
        DELETE FROM block_gone WHERE block NOT IN (SELECT id FROM block);
        UPDATE block SET events = found.events FROM (SELECT block, count(*) AS events FROM
            (SELECT block FROM packed WHERE block IS NOT NULL UNION ALL SELECT block FROM block_gone) GROUP BY block)
            AS found WHERE found.block = block.id AND block.events <> found.events;";
    const TALLY: &str = "
        DELETE FROM tally;
        INSERT INTO tally SELECT source, verdict, count(*), sum(duplicate_of IS NOT NULL), sum(size),
            sum((SELECT count(*) FROM delivery d WHERE d.event = e.seq AND NOT d.binned))
            FROM event e WHERE deleted_at IS NULL GROUP BY source, verdict;";
    let there = "SELECT count(*) FROM event WHERE deleted_at IS NULL";
    let had = new.query_row("SELECT sum(events) FROM tally", [], |row| row.get::<_, Option<u64>>(0))?;
    let all = new.unchecked_transaction()?;
    all.execute_batch(ORPHANS)?;
    let without_body = mark_lost(&all, now)?;
    all.execute_batch(BLOCKS)?;
    all.execute_batch(TALLY)?;
    keep_numbers(&all)?;
    let recovered = Recovered {
        at: now,
        events: count(&all, "SELECT count(*) FROM event")?,
        without_body,
        missing: had.map(|had| Ok::<_, InboxError>(had.saturating_sub(count(&all, there)?))).transpose()?,
        kept: kept.to_owned(),
    };
    let note = serde_json::to_string(&recovered).unwrap_or_default();
    all.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", params![NOTE, note])?;
    all.commit()?;
    Ok(recovered)
}

/// Removes the bytes of events whose body isn't the one that came, so that nothing passes for genuine, and ends what waits
/// for those. Returns how many there are.
fn mark_lost(new: &Connection, now: Timestamp) -> Result<u64, InboxError> {
    const EMPTY: &str = "UPDATE event SET headers = x'', body = x'', flags = flags | ?2 WHERE seq = ?1";
    const END: &str =
        "UPDATE delivery SET state = 3, last_error = ?2, ended_at = ?3, due_at = NULL, claim = NULL,
        claimed_at = NULL WHERE event = ?1 AND state IN (0, 1)";
    let mut select = new.prepare("SELECT seq FROM event ORDER BY seq")?;
    let events: Vec<i64> = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut lost = 0;
    for seq in events {
        match is_genuine(new, seq) {
            Ok(true) => continue,
            Err(error @ (InboxError::Full | InboxError::Busy)) => return Err(error),
            Ok(false) | Err(_) => lost += 1,
        }
        for sql in ["DELETE FROM raw WHERE seq = ?1", "DELETE FROM packed WHERE seq = ?1"] {
            new.prepare_cached(sql)?.execute([seq])?;
        }
        new.prepare_cached(EMPTY)?.execute([seq, LOST])?;
        new.prepare_cached(END)?.execute(params![seq, WHY_LOST, now.as_micros()])?;
    }
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

fn count(db: &Connection, sql: &str) -> rusqlite::Result<u64> {
    db.query_row(sql, [], |row| row.get(0))
}

/// Reads what was recovered, as long as the damaged file is still kept.
pub(crate) fn recovered(db: &Connection) -> Result<Option<Recovered>, InboxError> {
    const SQL: &str = "SELECT value FROM meta WHERE key = ?1";
    let note = db.query_row(SQL, [NOTE], |row| row.get::<_, String>(0)).optional()?;
    let note: Option<Recovered> = note.and_then(|json| serde_json::from_str(&json).ok());
    Ok(note.filter(|recovered| recovered.kept.exists()))
}

/// Notes that the inbox is damaged, so that the next process recovers it.
pub(crate) fn note_damage(path: &Path, why: &str) {
    tracing::error!(
        why,
        "the inbox is damaged: nothing is stored until hookmitt is started again and recovers it"
    );
    if let Err(error) = hookmitt_sqlite::private_file(&path.with_file_name(MARK)) {
        tracing::warn!(%error, "can't note that the inbox is damaged");
    }
}
