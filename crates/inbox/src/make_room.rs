//! Keeps the inbox within its size: deletes the oldest events that aren't pinned and wait for nothing.

use rusqlite::params;

use crate::{InboxError, batch::Batch, sweep::Share, usage::in_use};

/// How many events are read at a time.
const CHUNK: usize = 64;

/// Once the limit is reached, this fraction of it is freed, so that not every event that comes makes another one go.
const PART: u64 = 50;

/// Returns how many bytes may be left in use, if there are more than a limit.
pub(crate) fn goal(in_use: u64, limit: Option<u64>) -> Option<u64> {
    limit.filter(|limit| in_use > *limit).map(|limit| limit - limit / PART)
}

/// Deletes events after a place, oldest first, until no more than `goal` bytes are in use or the commit has taken long
/// enough. Returns the place after which it goes on; `None` if no event is left that may go.
pub(crate) fn make_room(
    batch: &mut Batch<'_>,
    after: i64,
    goal: u64,
    share: &mut Share,
) -> Result<Option<i64>, InboxError> {
    const NEXT: &str = "SELECT e.seq, e.pinned_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM delivery WHERE event = e.seq AND state IN (0, 1))
        FROM event e WHERE e.seq > ?1 ORDER BY e.seq LIMIT ?2";
    let mut place = after;
    while !share.is_over() {
        let mut select = batch.db.prepare_cached(NEXT)?;
        let found = select.query_map(params![place, CHUNK], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found: Vec<(i64, bool)> = found.collect::<Result<_, _>>()?;
        if found.is_empty() {
            return Ok(None);
        }
        for (seq, may_go) in found {
            if share.is_over() || in_use(batch.db)? <= goal {
                return Ok(Some(place));
            }
            if may_go {
                share.delete(batch, seq)?;
            }
            place = seq;
        }
    }
    Ok(Some(place))
}
