//! Makes the file, and throws it away if it can't be used.

use std::{fs, io, path::Path};

use hookmitt_sqlite::{PrepareError, beside};
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, config::DbConfig, params};

use crate::{error::IndexError, syncs};

/// Changes with the meaning of what the file holds. A file of another format is made anew.
const FORMAT: &str = "4";

const SCHEMA: &str = "
    PRAGMA page_size = 8192;
    PRAGMA auto_vacuum = INCREMENTAL;
    CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE chunk (id INTEGER PRIMARY KEY, events INTEGER NOT NULL, gone INTEGER NOT NULL);
    CREATE TABLE part (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL, uses INTEGER NOT NULL, sum BLOB NOT NULL);
    CREATE UNIQUE INDEX word_text ON word (id >> 32, text);
    CREATE TABLE run (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE gram (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE long (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE sieve (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
    PRAGMA user_version = 1;
";

/// Opens the writer's connection. What belongs to another inbox, has another format, is damaged or may not be whole since
/// the machine stopped is made anew; whatever else fails may pass.
pub(crate) fn open(path: &Path, inbox: &str) -> Result<Connection, IndexError> {
    if !syncs::is_whole(path) {
        return begin_anew(path, inbox);
    }
    let usable = opened(path, inbox).and_then(|db| Ok(is_usable(&db, inbox)?.then_some(db)));
    match usable {
        Ok(Some(db)) => Ok(db),
        Ok(None) => begin_anew(path, inbox),
        Err(why) if is_lasting(&why) => begin_anew(path, inbox),
        Err(why) => Err(why),
    }
}

/// Whether the file itself is at fault: it is damaged, or has other tables than ours.
fn is_lasting(why: &IndexError) -> bool {
    match why {
        IndexError::Damaged(_) => true,
        IndexError::Sqlite(why) => why.sqlite_error_code() == Some(ErrorCode::Unknown),
        _ => false,
    }
}

/// Empties the file, whatever is in it. Those who have it open see that, too, which they wouldn't if it were replaced.
pub(crate) fn begin_anew(path: &Path, inbox: &str) -> Result<Connection, IndexError> {
    match emptied(path) {
        // On a full disk it is to make room, and emptying takes some.
        Err(IndexError::Full) => remove(path)?,
        Err(why) if is_lasting(&why) => remove(path)?,
        emptied => emptied?,
    }
    syncs::forget(path).map_err(|why| refused(path, why))?;
    opened(path, inbox)
}

fn emptied(path: &Path) -> Result<(), IndexError> {
    let db = hookmitt_sqlite::durable(path)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
    let emptied = db.execute_batch("VACUUM");
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
    emptied?;
    Ok(db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?)
}

fn remove(path: &Path) -> Result<(), IndexError> {
    for suffix in ["-wal", "-shm", ""] {
        match fs::remove_file(beside(path, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refused(path, error)),
            _ => {}
        }
    }
    Ok(())
}

fn opened(path: &Path, inbox: &str) -> Result<Connection, IndexError> {
    hookmitt_sqlite::prepare(path, &syncs::note_beside(path), &[SCHEMA]).map_err(|why| match why {
        PrepareError::Newer { .. } | PrepareError::Damaged(_) => IndexError::Damaged(why.to_string()),
        PrepareError::Refused(why) => refused(path, why),
    })?;
    let db = hookmitt_sqlite::durable(path)?;
    db.pragma_update(None, "wal_autocheckpoint", 1_000)?;
    db.pragma_update(None, "journal_size_limit", 16 * 1024 * 1024)?;
    // Deleted events leave the file, not only its tables.
    db.pragma_update(None, "secure_delete", true)?;
    for (key, value) in [("format", FORMAT), ("inbox", inbox)] {
        db.execute("INSERT OR IGNORE INTO meta (key, value) VALUES (?1, ?2)", params![key, value])?;
    }
    Ok(db)
}

/// Whether the file is an index of this inbox in our format.
pub(crate) fn is_usable(db: &Connection, inbox: &str) -> Result<bool, IndexError> {
    const SQL: &str =
        "SELECT count(*) FROM meta WHERE (key, value) IN (VALUES ('format', ?1), ('inbox', ?2))";
    let known: i64 = db.prepare_cached(SQL)?.query_row([FORMAT, inbox], |row| row.get(0))?;
    Ok(known == 2)
}

/// Returns the sequence number up to which all events are in the index.
pub(crate) fn done(db: &Connection) -> Result<i64, IndexError> {
    Ok(number(db, "done")?.unwrap_or(0))
}

/// Returns the name of the last step; `None` if there was none since the index was made.
pub(crate) fn step(db: &Connection) -> Result<Option<i64>, IndexError> {
    number(db, "step")
}

/// Stores the name of a step, and up to which sequence number all events are in the index since.
pub(crate) fn set_step(db: &Connection, step: i64, done: i64) -> Result<(), IndexError> {
    let mut set = db.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?;
    set.execute(params!["step", step])?;
    set.execute(params!["done", done])?;
    Ok(())
}

fn number(db: &Connection, key: &str) -> Result<Option<i64>, IndexError> {
    let mut select = db.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
    Ok(select.query_row([key], |row| row.get(0)).optional()?)
}

fn refused(path: &Path, why: impl ToString) -> IndexError {
    IndexError::Open { path: path.to_owned(), why: why.to_string() }
}
