//! How full the inbox file is.

use rusqlite::Connection;

use crate::InboxError;

/// Returns how many bytes of the inbox file are in use, by whatever it holds.
pub(crate) fn in_use(db: &Connection) -> Result<u64, InboxError> {
    let pages = number(db, "page_count")?.saturating_sub(number(db, "freelist_count")?);
    Ok(pages.saturating_mul(number(db, "page_size")?))
}

/// Returns how many bytes of the inbox file are empty.
pub(crate) fn empty(db: &Connection) -> Result<u64, InboxError> {
    Ok(number(db, "freelist_count")?.saturating_mul(number(db, "page_size")?))
}

fn number(db: &Connection, pragma: &str) -> Result<u64, InboxError> {
    Ok(db.pragma_query_value(None, pragma, |row| row.get(0))?)
}
