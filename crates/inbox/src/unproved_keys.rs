//! Takes back dedupe keys that earlier versions gave to events that prove nothing, in sources that can prove events, and
//! settles the duplicates of such events. This goes once through all events, a little at a time, oldest first. Each
//! commit stores how far it has come, so that nothing is repeated after a crash.

use hookmitt_event::{DedupeKey, EventId, Verdict};
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use crate::{Inbox, InboxError, KeyTerms, rejudge::settle_stored, rows, rows::BROWSER};

/// How many events one read looks at.
const LOOK: usize = 1_000;

/// How many keys are settled in one commit: few enough to take only some milliseconds, because capture waits for the
/// same writer.
const BATCH: usize = 32;

/// Events whose keys must be settled, and how far through the events that goes.
#[derive(Debug)]
pub struct Unsettled {
    /// The events with their dedupe keys, oldest first.
    pub events: Vec<(EventId, DedupeKey)>,
    /// The number of the last event that was looked at; `None` if there were no more events.
    up_to: Option<i64>,
}

impl Inbox {
    /// Returns the next events of these sources that prove nothing, or duplicate an event that doesn't. Returns `None`
    /// if all keys were settled long ago.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn unsettled_keys(&self, sources: Vec<i64>) -> Result<Option<Unsettled>, InboxError> {
        self.readers
            .read(move |db| {
                let after = db
                    .prepare_cached("SELECT value FROM meta WHERE key = 'keys_settled'")?
                    .query_row([], |row| row.get(0));
                after.optional()?.map(|after| look(db, after, &sources)).transpose()
            })
            .await
    }

    /// Settles keys. An event that proves nothing gives its key up, for the next valid event. A delivery that was
    /// skipped because its event was taken for a duplicate of such an event says so, but is not sent automatically so
    /// late.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn settle_keys(
        &self,
        claims: Vec<(EventId, [u8; 16], bool)>,
        unsettled: &Unsettled,
    ) -> Result<(), InboxError> {
        const DONE: &str = "UPDATE meta SET value = ?1 WHERE key = 'keys_settled'";
        const END: &str = "DELETE FROM meta WHERE key = 'keys_settled'";
        let up_to = unsettled.up_to;
        self.write(move |batch| {
            for (id, hash, by_content) in &claims {
                settle_stored(batch, *id, |verdict, browser| KeyTerms {
                    hash: *hash,
                    may_own: verdict == Verdict::Valid as i64 && !browser,
                    by_content: *by_content,
                    single_use: None,
                })?;
            }
            match up_to {
                Some(seq) => batch.db.prepare_cached(DONE)?.execute([seq])?,
                None => batch.db.prepare_cached(END)?.execute([])?,
            };
            Ok(())
        })
        .await
    }
}

fn look(db: &Connection, after: i64, sources: &[i64]) -> Result<Unsettled, InboxError> {
    const LAST: &str = "SELECT max(seq) FROM (SELECT seq FROM event WHERE seq > ?1 ORDER BY seq LIMIT ?2)";
    let last =
        db.prepare_cached(LAST)?.query_row(params![after, LOOK], |row| row.get::<_, Option<i64>>(0))?;
    let Some(last) = last else { return Ok(Unsettled { events: Vec::new(), up_to: None }) };
    let places = vec!["?"; sources.len()].join(", ");
    let sql = format!(
        "SELECT e.seq, e.id, e.dedupe_key FROM event e LEFT JOIN event f ON f.id = e.duplicate_of
         WHERE e.seq > ? AND e.seq <= ? AND e.parent IS NULL AND e.dedupe_key IS NOT NULL
         AND (e.verdict <> 0 OR e.flags & {BROWSER} OR f.verdict <> 0 OR f.flags & {BROWSER})
         AND e.source IN ({places}) ORDER BY e.seq LIMIT {BATCH}"
    );
    let values = [after, last].into_iter().chain(sources.iter().copied());
    let mut select = db.prepare(&sql)?;
    let found = select.query_map(params_from_iter(values), |row| {
        let key: String = row.get(2)?;
        let key = key.parse().map_err(|_| rows::corrupt(2, "dedupe key"))?;
        Ok((row.get::<_, i64>(0)?, (rows::id(row, 1)?, key)))
    })?;
    let found: Vec<_> = found.collect::<Result<_, _>>()?;
    let up_to = if found.len() < BATCH { last } else { found.last().map_or(last, |(seq, _)| *seq) };
    let up_to = Some(up_to);
    Ok(Unsettled { events: found.into_iter().map(|(_, event)| event).collect(), up_to })
}
