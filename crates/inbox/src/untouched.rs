//! Looks at a file that may be damaged, and leaves it and its log as they are.

use std::{fs, path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::InboxError;

/// Whether a file is missing or has nothing in it.
pub(crate) fn is_empty(path: &Path) -> bool {
    fs::metadata(path).map_or(0, |file| file.len()) == 0
}

/// Opens a file that may be damaged. Its log stays as it is, and there, when the connection is closed.
pub(crate) fn open_untouched(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(db)
}

/// Whether another process has the file open.
pub(crate) fn is_used(path: &Path) -> bool {
    if is_empty(path) {
        return false; // SQLite would remove its log
    }
    let alone = open_untouched(path).and_then(|db| {
        db.busy_timeout(Duration::from_secs(1))?;
        db.pragma_update(None, "locking_mode", "exclusive")?;
        db.execute_batch("BEGIN EXCLUSIVE; ROLLBACK")
    });
    matches!(alone.map_err(InboxError::from), Err(InboxError::Busy))
}
