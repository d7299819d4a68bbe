//! What the whole file holds, for metrics.

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::boxes::{letter_id, newest};
use crate::{MailboxError, Usage};

/// How many tunnels one read transaction covers.
const TUNNELS: usize = 500;

/// Adds the tunnels after the id `after` to `usage`, up to a limit. Returns the last id if there may be more.
pub(super) fn add(db: &Connection, usage: &mut Usage, after: i64) -> Result<Option<i64>, MailboxError> {
    const SQL: &str = "SELECT id, shut, cleared, cleared_bytes FROM tunnel JOIN mark ON tunnel = id
        WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut statement = db.prepare_cached(SQL)?;
    let mut rows = statement.query((after, TUNNELS))?;
    let (mut seen, mut last) = (0, after);
    while let Some(row) = rows.next()? {
        last = row.get(0)?;
        seen += 1;
        usage.tunnels += u64::from(row.get::<_, i64>(1)? == 0);
        add_one(db, usage, last, row)?;
    }
    Ok((seen == TUNNELS).then_some(last))
}

fn add_one(db: &Connection, usage: &mut Usage, tunnel: i64, row: &Row<'_>) -> rusqlite::Result<()> {
    const OLDEST: &str = "SELECT received_at FROM letter WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT 1";
    let (cleared, cleared_bytes): (u64, u64) = (row.get(2)?, row.get(3)?);
    let Some((newest, upto)) = newest(db, tunnel)? else { return Ok(()) };
    usage.letters += newest.saturating_sub(cleared);
    usage.bytes += upto.saturating_sub(cleared_bytes);
    let range = (letter_id(tunnel, cleared), letter_id(tunnel, u64::MAX));
    let oldest = db.prepare_cached(OLDEST)?.query_row(range, |row| row.get(0)).optional()?;
    usage.oldest = [usage.oldest, oldest].into_iter().flatten().min();
    Ok(())
}
