//! Events that were withheld because of the host name that they were called by, until they are sent by hand.

use hookmitt_event::EventId;
use rusqlite::{Connection, params};

use crate::{Inbox, InboxError, rows};

/// How many names are returned at most, because a stranger can make up any number of them.
const MOST: usize = 100;

/// How many events one read may pass over. Between two reads the writer may start its log over.
const STRIDE: usize = 5_000;

/// A condition on an event `e`: it isn't in the bin, and none of its deliveries is in any other state than skipped.
const UNSENT: &str = "e.deleted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.event = e.seq AND d.state <> 5)";

impl Inbox {
    /// Returns the host names by which a source's withheld events were called, each with how many of them still wait to
    /// be sent by hand; the name with the most first.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn withheld_hosts(&self, source: i64) -> Result<Vec<(String, u64)>, InboxError> {
        let (mut counts, mut after) = (Vec::new(), Some((String::new(), 0)));
        while let Some((host, seq)) = after {
            let some = self.readers.read(move |db| hosts(db, source, &host, seq)).await?;
            let last = some.last().filter(|_| some.len() == STRIDE);
            after = last.map(|(host, seq, _)| (host.clone(), *seq));
            for (host, _, is_unsent) in some {
                count(&mut counts, host, is_unsent);
            }
        }
        most(&mut counts);
        counts.retain(|(_, events)| *events > 0);
        Ok(counts)
    }

    /// Returns the events of a source that were called by this host name and wait to be sent by hand, oldest first: at
    /// most `limit`, with sequence numbers above `after`.
    ///
    /// # Errors
    /// Fails if SQLite does.
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

/// Counts an event under its host name. Events of the same name come one after the other.
fn count(counts: &mut Vec<(String, u64)>, host: String, is_unsent: bool) {
    match counts.last_mut() {
        Some((last, events)) if *last == host => *events += u64::from(is_unsent),
        _ => {
            if counts.len() > 10 * MOST {
                most(counts);
            }
            counts.push((host, u64::from(is_unsent)));
        }
    }
}

/// Keeps the names with the most events and sorts them, most first.
fn most(counts: &mut Vec<(String, u64)>) {
    counts.sort_by(|(host, events), (other, others)| others.cmp(events).then_with(|| host.cmp(other)));
    counts.truncate(MOST);
}

/// Returns the next events of a source that were called by a name that isn't one of this machine's, sorted by that
/// name.
fn hosts(
    db: &Connection,
    source: i64,
    after: &str,
    seq: i64,
) -> Result<Vec<(String, i64, bool)>, InboxError> {
    let sql = format!(
        "SELECT e.foreign_host, e.seq, {UNSENT} FROM event e INDEXED BY event_foreign_host
        WHERE e.source = ?1 AND e.foreign_host IS NOT NULL AND (e.foreign_host, e.seq) > (?2, ?3)
        ORDER BY e.foreign_host, e.seq LIMIT ?4"
    );
    let mut select = db.prepare_cached(&sql)?;
    let found = select
        .query_map(params![source, after, seq, STRIDE], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}
