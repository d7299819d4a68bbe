//! Lists events, newest first, a page at a time.

use std::{ops::Range, time::Instant};

use hookmitt_event::EventId;
use rusqlite::{Connection, ToSql, params_from_iter};

use crate::{
    Filter, Inbox, InboxError,
    filter::candidates_sql,
    glance::{self, Listed},
    matching::{Part, among, soon},
    row::{by_id, listed, select},
};

/// A page of events, and where the next ones begin.
#[derive(Clone, Debug)]
pub struct Page {
    /// The events, newest first.
    pub items: Vec<Listed>,
    /// The cursor for the next, older page; `None` at the end.
    pub next: Option<i64>,
    /// The number down to which events were looked at, if the page ended before it was full because that took long.
    pub searched_to: Option<i64>,
}

/// How many rows one read may pass over; fewer if that takes too long. Between two reads the writer may start its log
/// over.
const STRIDE: i64 = 2_000;

impl Inbox {
    /// Returns a page of at most `limit` events, newest first, whose sequence numbers are below `cursor`.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn list(&self, filter: Filter, cursor: Option<i64>, limit: usize) -> Result<Page, InboxError> {
        // A cursor far above the newest event would cost many empty reads.
        let end = self.last_seq().await?.saturating_add(1);
        let below = cursor.unwrap_or(end).min(end);
        let floor = filter.after.unwrap_or(0).max(0).saturating_add(1);
        let Part { mut items, .. } = self.scan(filter, floor..below, limit + 1, None).await?;
        let more = items.len() > limit;
        items.truncate(limit);
        let next = more.then(|| items.last().map(|listed| listed.event.seq)).flatten();
        Ok(Page { items, next, searched_to: None })
    }

    /// Looks through the events with these numbers, newest first, until `wanted` are found or the time has come.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn scan(
        &self,
        filter: Filter,
        range: Range<i64>,
        wanted: usize,
        end: Option<Instant>,
    ) -> Result<Part, InboxError> {
        let (mut items, mut stride, mut below) = (Vec::new(), STRIDE, range.end);
        while below > range.start && items.len() < wanted {
            let (filter, clock, wanted) = (filter.clone(), self.clock.clone(), wanted - items.len());
            let look = move |db: &Connection| {
                let Part { items, reached } = look(db, &filter, below, wanted, stride, soon(end))?;
                let items = if filter.glance { glance::added(db, items, &clock)? } else { items };
                Ok(Part { items, reached })
            };
            // Whoever asks for a page gets it at once. What goes on for longer lets captures go first.
            let read = if below == range.end {
                self.readers.read(look).await
            } else {
                self.readers.read_on(&self.background, look).await
            };
            match read {
                Ok(Part { items: found, reached }) => {
                    items.extend(found.into_iter().filter(|listed| listed.event.seq >= range.start));
                    below = reached;
                    if end.is_some_and(|end| Instant::now() >= end) {
                        break;
                    }
                }
                Err(InboxError::TooLong) if stride > 1 => stride = (stride / 8).max(1), // bodies may be large
                Err(error) => return Err(error),
            }
        }
        Ok(Part { items, reached: below.max(range.start) })
    }

    /// Returns the events after a sequence number, oldest first, `limit` at most, including those in the bin.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn newer(&self, after: i64, limit: u32) -> Result<Vec<Listed>, InboxError> {
        self.readers.read(move |db| newer(db, after, limit)).await
    }

    /// Like [`newer`](Self::newer), with the glance of each event.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn newer_glanced(&self, after: i64, limit: u32) -> Result<Vec<Listed>, InboxError> {
        let clock = self.clock.clone();
        self.readers.read(move |db| glance::added(db, newer(db, after, limit)?, &clock)).await
    }

    /// Returns one event as it appears in a list.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownEvent`] if there is no such event.
    pub async fn listed(&self, id: EventId) -> Result<Listed, InboxError> {
        let found = self.these(vec![id]).await?.pop();
        found.ok_or_else(|| InboxError::UnknownEvent(id.to_string()))
    }

    /// Returns these events as they appear in a list, in the same order, without those that no longer exist.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn these(&self, ids: Vec<EventId>) -> Result<Vec<Listed>, InboxError> {
        self.readers.read(move |db| these(db, &ids)).await
    }

    /// Like [`these`](Self::these), with the glance of each event.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn these_glanced(&self, ids: Vec<EventId>) -> Result<Vec<Listed>, InboxError> {
        let clock = self.clock.clone();
        self.readers.read(move |db| glance::added(db, these(db, &ids)?, &clock)).await
    }

    /// Returns the highest sequence number that was ever given out, or 0. It may be that of an event deleted for good.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn last_given(&self) -> Result<i64, InboxError> {
        const SQL: &str =
            "SELECT max(coalesce((SELECT max(seq) FROM event), 0), value) FROM meta WHERE key = 'last_seq'";
        self.readers.read(|db| Ok(db.prepare_cached(SQL)?.query_row([], |row| row.get(0))?)).await
    }

    /// Returns the highest sequence number, or 0 if there is no event.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn last_seq(&self) -> Result<i64, InboxError> {
        const SQL: &str = "SELECT coalesce(max(seq), 0) FROM event";
        self.readers.read(|db| Ok(db.prepare_cached(SQL)?.query_row([], |row| row.get(0))?)).await
    }
}

fn newer(db: &Connection, after: i64, limit: u32) -> Result<Vec<Listed>, InboxError> {
    let sql = format!("{} WHERE e.seq > ?1 ORDER BY e.seq LIMIT ?2", select());
    let mut select = db.prepare_cached(&sql)?;
    select.query_and_then([after, i64::from(limit)], |row| listed(db, row))?.collect()
}

fn these(db: &Connection, ids: &[EventId]) -> Result<Vec<Listed>, InboxError> {
    ids.iter().filter_map(|id| by_id(db, *id).transpose()).collect()
}

/// Returns the next matching events below a sequence number, after passing over `stride` rows at most. Where hardly any
/// are missing between the candidates, they are read in one go.
pub(crate) fn look(
    db: &Connection,
    filter: &Filter,
    below: i64,
    wanted: usize,
    stride: i64,
    end: Option<Instant>,
) -> Result<Part, InboxError> {
    // A view's candidates are those of all sources.
    let is_narrow = filter.is_narrow() || filter.view.is_some() && filter.source.is_some();
    let limit = if is_narrow { stride } else { stride.min(i64::try_from(wanted).unwrap_or(i64::MAX)) };
    let seqs = candidates(db, filter, below, limit)?;
    let Some(&lowest) = seqs.last() else { return Ok(Part::default()) };
    let many = i64::try_from(seqs.len()).unwrap_or(i64::MAX);
    let floor = if many == limit { lowest } else { 0 };
    if !filter.query.is_empty() {
        let Part { items, reached } = among(db, filter, &seqs, wanted, end)?;
        return Ok(Part { items, reached: if reached == lowest { floor } else { reached } });
    }
    if filter.wants_all() && below - lowest <= many.saturating_mul(2) {
        return Ok(Part { items: between(db, filter, lowest, below, wanted)?, reached: floor });
    }
    let mut items = Vec::new();
    for seq in &seqs {
        if items.len() == wanted {
            return Ok(Part { items, reached: seq + 1 });
        }
        items.extend(between(db, filter, *seq, seq + 1, 1)?);
    }
    Ok(Part { items, reached: floor })
}

/// Returns the matching events with a sequence number of at least `floor` and less than `below`.
fn between(
    db: &Connection,
    filter: &Filter,
    floor: i64,
    below: i64,
    wanted: usize,
) -> Result<Vec<Listed>, InboxError> {
    let mut conditions = filter.conditions();
    conditions.add("e.seq < ?", below);
    conditions.add("e.seq >= ?", floor);
    let sql = format!("{} WHERE {} ORDER BY e.seq DESC LIMIT ?", select(), conditions.sql());
    conditions.values.push(Box::new(i64::try_from(wanted).unwrap_or(i64::MAX)));
    let mut statement = db.prepare_cached(&sql)?;
    statement.query_and_then(params_from_iter(conditions.values), |row| listed(db, row))?.collect()
}

/// Returns the numbers of the next `limit` events below a number that may match a filter, newest first.
pub(crate) fn candidates(
    db: &Connection,
    filter: &Filter,
    below: i64,
    limit: i64,
) -> Result<Vec<i64>, InboxError> {
    let mut select = db.prepare_cached(&candidates_sql(filter))?;
    let values: [&dyn ToSql; 3] = [&below, &limit, &filter.source];
    let places = select.parameter_count();
    let found = select.query_map(&values[..places], |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}
