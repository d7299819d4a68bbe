//! When letters were put, in store time, to the minute. A row for each letter would cost more than it is worth.

use rusqlite::{Connection, OptionalExtension as _};

use super::boxes::{MailBox, letter_id, position_of};

/// A row covers the letters of this many microseconds.
const SPAN: i64 = 60_000_000;

/// Records that a letter is put at a position.
pub(super) fn note(db: &Connection, mailbox: &mut MailBox, position: u64, now: i64) -> rusqlite::Result<()> {
    if mailbox.put_at.is_none_or(|begun| now.saturating_sub(begun) >= SPAN) {
        let row = (letter_id(mailbox.id, position), now);
        db.prepare_cached("INSERT INTO put (id, at) VALUES (?1, ?2)")?.execute(row)?;
        mailbox.put_at = Some(now);
    }
    Ok(())
}

/// Returns the position up to which all letters of a mailbox were put before `young`, or are wanted by nobody. A letter
/// is found up to a minute late, but never early.
pub(super) fn too_old(db: &Connection, mailbox: &MailBox, young: i64) -> rusqlite::Result<u64> {
    const SQL: &str = "SELECT id FROM put WHERE id BETWEEN ?1 AND ?2 AND at > ?3 ORDER BY id LIMIT 1";
    if mailbox.put_at.is_none() {
        return Ok(mailbox.done());
    }
    let (first, last) = (letter_id(mailbox.id, 0), letter_id(mailbox.id, u64::MAX));
    let row = (first, last, young.saturating_sub(SPAN));
    let found: Option<i64> = db.prepare_cached(SQL)?.query_row(row, |row| row.get(0)).optional()?;
    let old = found.map_or(mailbox.newest, |id| position_of(id).saturating_sub(1));
    Ok(old.min(mailbox.newest).max(mailbox.done()))
}

/// Removes the rows that are of no use once the letters up to `through` are deleted.
pub(super) fn clear(db: &Connection, mailbox: &MailBox, through: u64) -> rusqlite::Result<()> {
    const ALL: &str = "DELETE FROM put WHERE id BETWEEN ?1 AND ?2";
    const SOME: &str = "DELETE FROM put WHERE id BETWEEN ?1 AND ?2
        AND id < (SELECT max(id) FROM put WHERE id BETWEEN ?1 AND ?2)";
    let (first, last) = (letter_id(mailbox.id, 0), letter_id(mailbox.id, u64::MAX));
    if mailbox.shut && through >= mailbox.newest {
        return db.prepare_cached(ALL)?.execute((first, last)).map(drop);
    }
    db.prepare_cached(SOME)?.execute((first, letter_id(mailbox.id, through + 1))).map(drop)
}
