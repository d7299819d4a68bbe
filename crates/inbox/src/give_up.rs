//! Ends deliveries that wait for a target when nobody expects them any more. It ends some at a time, so that capture,
//! which uses the same writer, never waits for long.

use hookmitt_event::TargetId;
use rusqlite::params;

use crate::{Inbox, InboxError, batch::Batch};

/// How many deliveries one job ends: few enough to take only some milliseconds.
const AT_ONCE: usize = 300;

const REMOVED: &str = "the target was removed";

impl Inbox {
    /// Ends, as failed, the deliveries that wait for a removed target; changes nothing if the target still exists.
    /// Returns how many were ended.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn refuse_waiting(&self, target: TargetId) -> Result<usize, InboxError> {
        self.end_waiting(target, REMOVED.to_owned(), true).await
    }

    /// Ends, as failed, the deliveries that wait for a target, and stores `why`. Returns how many were ended.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn give_up_waiting(&self, target: TargetId, why: String) -> Result<usize, InboxError> {
        self.end_waiting(target, why, false).await
    }

    async fn end_waiting(
        &self,
        target: TargetId,
        why: String,
        if_removed: bool,
    ) -> Result<usize, InboxError> {
        let mut ended = 0;
        loop {
            let why = why.clone();
            let some = self.write(move |batch| end_some(batch, target, &why, if_removed)).await?;
            ended += some;
            if some < AT_ONCE {
                return Ok(ended);
            }
        }
    }
}

fn end_some(
    batch: &mut Batch<'_>,
    target: TargetId,
    why: &str,
    if_removed: bool,
) -> Result<usize, InboxError> {
    const WAITING: &str = "SELECT DISTINCT event FROM delivery INDEXED BY delivery_waiting
        WHERE target = ?1 AND state IN (0, 1) AND state = 0 ORDER BY event, number LIMIT ?2";
    const SQL: &str = "UPDATE delivery SET state = 3, last_error = ?2, ended_at = ?3, due_at = NULL
        WHERE (event, number) IN (SELECT event, number FROM delivery INDEXED BY delivery_waiting
            WHERE target = ?1 AND state IN (0, 1) AND state = 0 ORDER BY event, number LIMIT ?4)
        AND NOT (?5 AND EXISTS (SELECT 1 FROM target WHERE id = ?1 AND removed_at IS NULL))";
    let mut select = batch.db.prepare_cached(WAITING)?;
    for seq in select.query_map(params![target.0, AT_ONCE], |row| row.get(0))? {
        batch.arriving.hours.note(batch.db, seq?)?;
    }
    let values = params![target.0, why, batch.now.wall, AT_ONCE, if_removed];
    Ok(batch.db.prepare_cached(SQL)?.execute(values)?)
}
