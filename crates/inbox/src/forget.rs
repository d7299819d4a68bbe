//! Forgets what outlives its events: who owned a dedupe key, and what was delivered last for an object.
//!
//! Both age by the number of their event. When an event of that number was stored is known about to the hour.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{InboxError, now::Now, sweep::Share};

/// How long both are remembered, in microseconds of store time: 90 days.
const REMEMBERED: i64 = 90 * 24 * 60 * 60 * 1_000_000;

/// How often it is noted which event is the newest, in microseconds of store time.
const EVERY: i64 = 60 * 60 * 1_000_000;

/// How many keys are looked at, or objects forgotten, at a time.
const CHUNK: usize = 64;

/// Notes which event is the newest, if it is time.
pub(crate) fn note_passing(db: &Connection, now: Now) -> Result<(), InboxError> {
    // Not `max(seq)`, which SQLite looks up only if nothing else is asked, and otherwise finds by reading all events.
    const SQL: &str =
        "INSERT INTO passed SELECT seq, ?1 FROM (SELECT seq FROM event ORDER BY seq DESC LIMIT 1)
        WHERE (SELECT at FROM passed ORDER BY seq DESC LIMIT 1) <= ?2
        ON CONFLICT DO NOTHING";
    db.prepare_cached(SQL)?.execute([now.store, now.store.saturating_sub(EVERY)])?;
    Ok(())
}

/// Returns the number up to which everything is old enough to be forgotten.
fn old(db: &Connection, now: i64) -> Result<i64, InboxError> {
    const SQL: &str = "SELECT seq FROM passed WHERE at <= ?1 ORDER BY seq DESC LIMIT 1";
    let mut select = db.prepare_cached(SQL)?;
    Ok(select.query_row([now.saturating_sub(REMEMBERED)], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// Selects the next events with keys, up to a number, and whether they are gone. The keys of one that is there go with
/// it.
const KEYS: &str = "SELECT DISTINCT k.seq, NOT EXISTS (SELECT 1 FROM event WHERE seq = k.seq)
    FROM first_key k INDEXED BY first_key_seq
    WHERE k.seq > (SELECT value FROM meta WHERE key = 'keys_swept') AND k.seq <= ?1 ORDER BY k.seq LIMIT ?2";

const OBJECTS: &str = "SELECT source, object FROM object_clock INDEXED BY object_clock_seq
    WHERE seq <= ?1 ORDER BY seq LIMIT ?2";

/// Whether there is anything to forget.
pub(crate) fn is_due(db: &Connection, now: i64) -> Result<bool, InboxError> {
    let up_to = old(db, now)?;
    Ok(db.prepare_cached(KEYS)?.exists(params![up_to, 1])?
        || db.prepare_cached(OBJECTS)?.exists(params![up_to, 1])?)
}

/// Forgets what is old enough, until the commit has taken long enough.
pub(crate) fn forget(db: &Connection, now: Now, share: &Share) -> Result<(), InboxError> {
    const TRIM: &str = "DELETE FROM passed WHERE seq < ?1";
    let up_to = old(db, now.store)?;
    db.prepare_cached(TRIM)?.execute([up_to])?;
    while !share.is_over() && forget_keys(db, up_to)? {}
    while !share.is_over() && forget_objects(db, up_to)? {}
    Ok(())
}

/// Forgets some keys of events that are gone. Returns whether there may be more.
fn forget_keys(db: &Connection, up_to: i64) -> Result<bool, InboxError> {
    const FORGET: &str = "DELETE FROM first_key WHERE seq = ?1";
    const PLACE: &str = "UPDATE meta SET value = ?1 WHERE key = 'keys_swept'";
    let mut select = db.prepare_cached(KEYS)?;
    let found = select.query_map(params![up_to, CHUNK], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let found: Vec<(i64, bool)> = found.collect::<Result<_, _>>()?;
    for (seq, _) in found.iter().filter(|(_, is_gone)| *is_gone) {
        db.prepare_cached(FORGET)?.execute([seq])?;
    }
    if let Some((last, _)) = found.last() {
        db.prepare_cached(PLACE)?.execute([last])?;
    }
    Ok(found.len() == CHUNK)
}

/// Forgets some objects. Returns whether there may be more.
fn forget_objects(db: &Connection, up_to: i64) -> Result<bool, InboxError> {
    let sql = format!("DELETE FROM object_clock WHERE (source, object) IN ({OBJECTS})");
    Ok(db.prepare_cached(&sql)?.execute(params![up_to, CHUNK])? == CHUNK)
}
