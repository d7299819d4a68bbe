//! What was withheld because of the name that it was called by, until it is sent by hand.

use hookmitt_event::EventId;
use rusqlite::params;

use crate::{Inbox, InboxError, rows};

/// No more names are told of at a time: a stranger can make up any number.
const MOST: u32 = 100;

/// Of an event `e`: no delivery of it has ever been more than skipped.
const UNSENT: &str = "e.deleted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.event = e.seq AND d.state <> 5)";

impl Inbox {
    /// The names by which events of a source were called that wait to be sent by hand, with how many those are; most
    /// first.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub async fn withheld_hosts(&self, source: i64) -> Result<Vec<(String, u64)>, InboxError> {
        let sql = format!(
            "SELECT e.foreign_host, count(*) FROM event e INDEXED BY event_foreign_host
            WHERE e.source = ?1 AND e.foreign_host IS NOT NULL AND {UNSENT}
            GROUP BY e.foreign_host ORDER BY count(*) DESC, e.foreign_host LIMIT ?2"
        );
        self.readers
            .read(move |db| {
                let mut select = db.prepare_cached(&sql)?;
                let found = select.query_map(params![source, MOST], |row| Ok((row.get(0)?, row.get(1)?)))?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }

    /// The events of a source that were called by that name and wait to be sent by hand, oldest first: at most `limit`
    /// after `after`.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub async fn withheld_events(
        &self,
        source: i64,
        host: String,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, EventId)>, InboxError> {
        let sql = format!(
            "SELECT e.seq, e.id FROM event e INDEXED BY event_foreign_host
            WHERE e.source = ?1 AND e.foreign_host = ?2 AND e.seq > ?3 AND {UNSENT} ORDER BY e.seq LIMIT ?4"
        );
        self.readers
            .read(move |db| {
                let mut select = db.prepare_cached(&sql)?;
                let found = select.query_map(params![source, host, after, limit], |row| {
                    Ok((row.get(0)?, rows::id(row, 1)?))
                })?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }
}
