//! What the rows of `meta` say of the processes and the index of this machine. It isn't true of a copy of the inbox, be it a
//! backup, one that is restored, or what was recovered.

use rusqlite::Connection;

/// Removes those rows.
pub(crate) fn forget(db: &Connection) -> rusqlite::Result<()> {
    const SQL: &str = "DELETE FROM meta
        WHERE key IN ('owner', 'owner_pid', 'owner_lock', 'index_step', 'index_step_before')";
    db.execute(SQL, [])?;
    Ok(())
}
