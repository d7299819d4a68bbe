//! The store's clock, as it is noted in the file.

use std::{path::Path, sync::Arc};

use hookmitt_clock::{Clock, StoreClock};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior};

use super::{schema::unusable, trouble::Trouble, writer::Batch};
use crate::{
    MailboxError,
    age::{Moment, Note},
};

/// Continues the file's clock, or starts it if the file has none. Also returns the last note.
///
/// Only the relay that serves the file writes new notes, one each minute, so commands that open the file for a moment
/// don't advance it.
pub(super) fn resume(path: &Path, machine: Arc<dyn Clock>) -> Result<(StoreClock, Note), MailboxError> {
    let failed = |why: rusqlite::Error| unusable(path, &why);
    let mut db = hookmitt_sqlite::durable(path).map_err(failed)?;
    let noted = match last(&db).map_err(failed)? {
        Some(noted) => noted,
        None => {
            begin(&mut db, Moment::of(&StoreClock::resume(None, Arc::clone(&machine)))).map_err(failed)?
        }
    };
    let clock = StoreClock::resume(Some(noted.kept()), machine);
    let now = Moment::of(&clock);
    Ok((clock, noted.taken_up(now)))
}

fn last(db: &Connection) -> rusqlite::Result<Option<Note>> {
    let note = |row: &Row<'_>| Ok(Note { store: row.get(0)?, wall: row.get(1)?, since: row.get(2)? });
    db.query_row("SELECT store, wall, since FROM clock", [], note).optional()
}

/// Starts the clock. What is already in the file ages from now on.
fn begin(db: &mut Connection, now: Moment) -> rusqlite::Result<Note> {
    let transaction = Transaction::new(db, TransactionBehavior::Immediate)?;
    if let Some(noted) = last(&transaction)? {
        return Ok(noted); // another process was first
    }
    let note = Note::first(now);
    transaction.execute("INSERT INTO clock VALUES (1, ?1, ?2, ?3)", (note.store, note.wall, note.since))?;
    transaction.execute("UPDATE device SET there_at = ?1", [now.store])?;
    transaction.execute("UPDATE invite SET store_until = ?1 + until - ?2", (now.store, now.wall))?;
    transaction.execute("UPDATE tunnel SET shut_at = min(shut_at, ?1)", [now.store])?;
    let letters = "INSERT INTO put SELECT id << 40, ?1 FROM tunnel WHERE shut = 0";
    transaction.execute(letters, [now.store])?;
    transaction.commit()?;
    Ok(note)
}

/// Writes a note of the clock.
pub(super) fn note(batch: &mut Batch<'_>, note: Note) -> Result<(), Trouble> {
    const SQL: &str = "UPDATE clock SET store = ?1, wall = ?2, since = ?3";
    Ok(batch.db.prepare_cached(SQL)?.execute((note.store, note.wall, note.since)).map(drop)?)
}
