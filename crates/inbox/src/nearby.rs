//! Reads the requests that came in around an event, because a signature may belong to a neighbour.

use hookmitt_event::{EventId, Request};
use rusqlite::params;

use crate::{
    Inbox, InboxError, content,
    events::{COLUMNS, read},
};

/// How many requests are read on each side.
const EACH_SIDE: u32 = 25;
/// Requests with larger bodies than this, in bytes, are left out.
const LARGEST: u32 = 256 * 1024;

impl Inbox {
    /// Returns the requests of the same source that came in just before and after this one, nearest first.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn nearby(&self, id: EventId) -> Result<Vec<Request>, InboxError> {
        let side = |comparison: &str, order: &str| {
            format!(
                "SELECT {COLUMNS} FROM event mine JOIN event e ON e.source = mine.source
                JOIN source s ON s.id = e.source WHERE mine.id = ?1 AND e.seq {comparison} mine.seq
                AND e.deleted_at IS NULL AND e.size <= ?2 ORDER BY e.seq {order} LIMIT ?3"
            )
        };
        let sides = [side("<", "DESC"), side(">", "ASC")];
        self.readers
            .read(move |db| {
                let mut near = Vec::new();
                for sql in sides {
                    let mut select = db.prepare_cached(&sql)?;
                    let values = params![id.as_bytes(), LARGEST, EACH_SIDE];
                    let found = select.query_and_then(values, |row| {
                        Ok::<_, InboxError>(read(row, content::read(db, row.get(0)?)?)?.request)
                    })?;
                    for (distance, request) in found.enumerate() {
                        near.push((distance, request?));
                    }
                }
                near.sort_by_key(|(distance, _)| *distance);
                Ok(near.into_iter().map(|(_, request)| request).collect())
            })
            .await
    }
}
