//! That a relay was there.

use rusqlite::{Connection, OptionalExtension as _};

use super::{trouble::Trouble, writer::Batch};
use crate::{MailboxError, Presence};

/// What was noted last.
pub(super) fn last(db: &Connection) -> Result<Option<Presence>, MailboxError> {
    const SQL: &str = "SELECT one.value, other.value FROM meta AS one, meta AS other
        WHERE one.key = 'present_at' AND other.key = 'present_for'";
    let presence = |row: &rusqlite::Row<'_>| Ok(Presence { at: row.get(0)?, lasting: row.get(1)? });
    Ok(db.prepare_cached(SQL)?.query_row([], presence).optional()?)
}

/// Notes it.
pub(super) fn note(batch: &mut Batch<'_>, presence: Presence) -> Result<(), Trouble> {
    const SQL: &str = "INSERT OR REPLACE INTO meta VALUES ('present_at', ?1), ('present_for', ?2)";
    Ok(batch.db.prepare_cached(SQL)?.execute((presence.at, presence.lasting)).map(drop)?)
}
