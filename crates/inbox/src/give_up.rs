//! What waits for a target, ended because nobody expects it any more.

use hookmitt_event::TargetId;
use rusqlite::{Connection, params};

use crate::{Inbox, InboxError, clock::Now};

/// How many deliveries end with one commit.
const AT_ONCE: usize = 256;

impl Inbox {
    /// Ends what waits for a target as failed, and says why. Some at a time, so that nothing else waits for long.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub async fn give_up_waiting(&self, target: TargetId, why: String) -> Result<(), InboxError> {
        loop {
            let why = why.clone();
            if self.write(move |batch| end_some(batch.db, target, &why, batch.now)).await? < AT_ONCE {
                return Ok(());
            }
        }
    }
}

fn end_some(db: &Connection, target: TargetId, why: &str, now: Now) -> Result<usize, InboxError> {
    const SQL: &str = "UPDATE delivery SET state = 3, last_error = ?2, ended_at = ?3, due_at = NULL
        WHERE (event, number) IN (SELECT event, number FROM delivery INDEXED BY delivery_waiting
            WHERE target = ?1 AND state IN (0, 1) AND state = 0 ORDER BY event, number LIMIT ?4)";
    Ok(db.prepare_cached(SQL)?.execute(params![target.0, why, now.wall, AT_ONCE])?)
}
