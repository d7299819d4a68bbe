//! Matches events against a query. Only what the query needs of an event is read.

use std::{
    borrow::Cow,
    time::{Duration, Instant},
};

use hookmitt_event::{EventId, TargetId};
use hookmitt_search::{Answer, Needs, Query, Seen};
use hookmitt_sqlite::is_called_out;
use rusqlite::Connection;

use crate::{
    Filter, Inbox, InboxError, View, content,
    glance::{self, Listed},
    row::{by_id, by_seq},
};

/// Events that were found in a part of the inbox.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// The events, newest first.
    pub items: Vec<Listed>,
    /// The number down to which events were looked at: the search goes on below it.
    pub reached: i64,
}

/// How many events one read looks at, so that it holds its snapshot only briefly.
const AT_ONCE: usize = 256;

impl Inbox {
    /// Looks at the events with these numbers, newest first, until a filter has found `wanted` of them or the time has
    /// come. Numbers of events that don't exist are passed over.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn among(
        &self,
        filter: &Filter,
        seqs: &[i64],
        wanted: usize,
        end: Option<Instant>,
    ) -> Result<Part, InboxError> {
        let mut all = Part { items: Vec::new(), reached: seqs.first().map_or(0, |first| first + 1) };
        let (mut left, mut at_once) = (seqs, AT_ONCE);
        while !left.is_empty() {
            let some = left[..at_once.min(left.len())].to_vec();
            let (filter, clock) = (filter.clone(), self.clock.clone());
            let wanted = wanted - all.items.len();
            let look = move |db: &Connection| {
                let Part { items, reached } = among(db, &filter, &some, wanted, soon(end))?;
                let items = if filter.glance { glance::added(db, items, &clock)? } else { items };
                Ok::<_, InboxError>(Part { items, reached })
            };
            let Part { items, reached } = match self.readers.read(look).await {
                Err(InboxError::TooLong) if at_once > 1 => {
                    at_once = (at_once / 8).max(1); // bodies may be large
                    continue;
                }
                part => part?,
            };
            let found = items.len();
            all.items.extend(items);
            all.reached = reached;
            if found >= wanted || end.is_some_and(|end| Instant::now() >= end) {
                break;
            }
            let seen = left.iter().position(|seq| *seq == reached).map_or(left.len(), |place| place + 1);
            left = &left[seen..];
        }
        Ok(all)
    }
}

/// For how long a search keeps one snapshot. The log can't start over while somebody reads from it, and captures wait for
/// that in the end.
const SNAPSHOT: Duration = Duration::from_millis(10);

/// Returns when a search that may go on until `end` lets go of the snapshot that it begins to read now.
pub(crate) fn soon(end: Option<Instant>) -> Option<Instant> {
    let soon = Instant::now() + SNAPSHOT;
    Some(end.map_or(soon, |end| end.min(soon)))
}

/// Like [`Inbox::among`], in one snapshot and without glances.
pub(crate) fn among(
    db: &Connection,
    filter: &Filter,
    seqs: &[i64],
    wanted: usize,
    end: Option<Instant>,
) -> Result<Part, InboxError> {
    let matcher = Matcher::new(db, filter);
    let mut part = Part { items: Vec::new(), reached: seqs.first().map_or(0, |first| first + 1) };
    for seq in seqs {
        if let Some(found) = by_seq(db, *seq)?
            && matcher.lists(&found)?
        {
            part.items.push(found);
        }
        part.reached = *seq; // at least one, so that every search comes to its end
        let is_over = end.is_some_and(|end| Instant::now() >= end) || is_called_out();
        if part.items.len() >= wanted || is_over {
            break;
        }
    }
    Ok(part)
}

/// Decides whether events are in a list.
struct Matcher<'a> {
    db: &'a Connection,
    filter: &'a Filter,
    query: Query,
    needs: Needs,
}

impl<'a> Matcher<'a> {
    fn new(db: &'a Connection, filter: &'a Filter) -> Self {
        let query = filter.whole_query();
        let needs = query.needs();
        Self { db, filter, query, needs }
    }

    fn lists(&self, listed: &Listed) -> Result<bool, InboxError> {
        let is_low = self.filter.after.is_some_and(|after| listed.event.seq <= after);
        if is_low || !self.finds(listed)? {
            return Ok(false);
        }
        match listed.event.duplicate_of {
            Some(first) if self.filter.folds() && listed.event.folds => Ok(!self.lists_first(first)?),
            _ => Ok(true),
        }
    }

    /// Whether the first event of a repeat is in the list, so that the repeat folds away beneath it.
    fn lists_first(&self, first: EventId) -> Result<bool, InboxError> {
        let is_low = |listed: &Listed| self.filter.after.is_some_and(|after| listed.event.seq <= after);
        match by_id(self.db, first)? {
            Some(listed) => Ok(!is_low(&listed) && self.finds(&listed)?),
            None => Ok(false),
        }
    }

    fn finds(&self, listed: &Listed) -> Result<bool, InboxError> {
        let seq = listed.event.seq;
        let mut event = Cow::Borrowed(&listed.event);
        if self.needs.body {
            event.to_mut().request.body = content::body_or_none(self.db, seq)?.unwrap_or_default();
        }
        let targets = if self.needs.targets { targets(self.db, seq)? } else { Vec::new() };
        let answers = if self.needs.answers { answers(self.db, seq)? } else { Vec::new() };
        let seen = Seen { event: &event, status: listed.status, targets: &targets, answers: &answers };
        Ok(self.query.matches(&seen) && self.is_in_view(seq)?)
    }

    /// Whether the event is in the view, if the query can't say that.
    fn is_in_view(&self, seq: i64) -> Result<bool, InboxError> {
        const HELD_UP: &str = "SELECT 1 FROM delivery d JOIN target t ON t.id = d.target
            WHERE d.event = ?1 AND d.state = 0 AND t.removed_at IS NULL AND (t.paused OR t.down_since IS NOT NULL)";
        Ok(self.filter.view != Some(View::Waiting) || self.db.prepare_cached(HELD_UP)?.exists([seq])?)
    }
}

/// Returns the URLs of the targets to which an event was bound.
fn targets(db: &Connection, seq: i64) -> Result<Vec<String>, InboxError> {
    const SQL: &str =
        "SELECT DISTINCT t.url FROM delivery d JOIN target t ON t.id = d.target WHERE d.event = ?1";
    let mut select = db.prepare_cached(SQL)?;
    let found = select.query_map([seq], |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

impl Inbox {
    /// Returns all targets with their URLs, removed ones included, because events were bound to them.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn target_urls(&self) -> Result<Vec<(TargetId, String)>, InboxError> {
        self.readers
            .read(|db| {
                let mut select = db.prepare_cached("SELECT id, url FROM target")?;
                let found = select.query_map([], |row| Ok((TargetId(row.get(0)?), row.get(1)?)))?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }
}

/// Returns the answers to an event's attempts.
pub(crate) fn answers(db: &Connection, seq: i64) -> Result<Vec<Answer>, InboxError> {
    const SQL: &str = "SELECT status, duration,
        number = (SELECT max(number) FROM attempt b WHERE b.event = a.event AND b.delivery = a.delivery)
        FROM attempt a WHERE event = ?1";
    let mut select = db.prepare_cached(SQL)?;
    let found = select.query_map([seq], |row| {
        Ok(Answer { status: row.get(0)?, took: Duration::from_micros(row.get(1)?), last: row.get(2)? })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}
