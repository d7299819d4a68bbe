//! Lists events, newest first, a page at a time.

use bytes::Bytes;
use hookmitt_event::{EventId, EventStatus};
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params_from_iter};

use crate::{
    Filter, Inbox, InboxError,
    events::{BODY, COLUMNS, read},
    filter::{candidates_sql, rank},
    glance::{self, Listed},
    rows,
};

/// A page of events, and where the next ones begin.
#[derive(Clone, Debug)]
pub struct Page {
    /// The events, newest first.
    pub items: Vec<Listed>,
    /// The cursor for the next, older page; `None` at the end.
    pub next: Option<i64>,
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
        let mut below = cursor.unwrap_or(end).min(end);
        let lowest = filter.after.unwrap_or(0).max(0).saturating_add(1);
        let (mut items, mut stride) = (Vec::new(), STRIDE);
        while below > lowest && items.len() <= limit {
            let (filter, clock, wanted) = (filter.clone(), self.clock.clone(), limit + 1 - items.len());
            let look = move |db: &Connection| {
                let (found, floor) = look(db, &filter, below, wanted, stride)?;
                Ok((if filter.glance { glance::added(db, found, &clock)? } else { found }, floor))
            };
            match self.readers.read(look).await {
                Ok((found, floor)) => {
                    items.extend(found);
                    below = floor;
                }
                Err(InboxError::TooLong) if stride > 1 => stride = (stride / 8).max(1), // bodies may be large
                Err(error) => return Err(error),
            }
        }
        let more = items.len() > limit;
        items.truncate(limit);
        let next = more.then(|| items.last().map(|listed| listed.event.seq)).flatten();
        Ok(Page { items, next })
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
    let sql = format!("{} WHERE e.seq > ?1 ORDER BY e.seq LIMIT ?2", select(""));
    let mut select = db.prepare_cached(&sql)?;
    let found = select.query_map([after, i64::from(limit)], listed)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn these(db: &Connection, ids: &[EventId]) -> Result<Vec<Listed>, InboxError> {
    let sql = format!("{} WHERE e.id = ?1", select(""));
    let mut select = db.prepare_cached(&sql)?;
    let found = ids.iter().map(|id| select.query_row([id.as_bytes()], listed).optional());
    Ok(found.filter_map(Result::transpose).collect::<Result<_, _>>()?)
}

/// Returns the next matching events below a sequence number, after passing over `stride` rows at most, and the number
/// below which the search goes on. Where hardly any are missing between the candidates, they are read in one go.
pub(crate) fn look(
    db: &Connection,
    filter: &Filter,
    below: i64,
    wanted: usize,
    stride: i64,
) -> Result<(Vec<Listed>, i64), InboxError> {
    // A view's candidates are those of all sources.
    let is_narrow = filter.is_narrow() || filter.view.is_some() && filter.source.is_some();
    let limit = if is_narrow { stride } else { stride.min(i64::try_from(wanted).unwrap_or(i64::MAX)) };
    let seqs = candidates(db, filter, below, limit)?;
    let Some(&lowest) = seqs.last() else { return Ok((Vec::new(), 0)) };
    let many = i64::try_from(seqs.len()).unwrap_or(i64::MAX);
    let floor = if many == limit { lowest } else { 0 };
    if filter.wants_all() && below - lowest <= many.saturating_mul(2) {
        return Ok((between(db, filter, lowest, below, wanted)?, floor));
    }
    let mut found = Vec::new();
    for seq in &seqs {
        if found.len() == wanted {
            return Ok((found, seq + 1));
        }
        found.extend(between(db, filter, *seq, seq + 1, 1)?);
    }
    Ok((found, floor))
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
    let sql = format!("{} WHERE {} ORDER BY e.seq DESC LIMIT ?", select(""), conditions.sql());
    conditions.values.push(Box::new(i64::try_from(wanted).unwrap_or(i64::MAX)));
    let mut statement = db.prepare_cached(&sql)?;
    let found = statement.query_map(params_from_iter(conditions.values), listed)?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Returns a query for events without their bodies, each with the most telling state of its deliveries, and then with
/// more columns, if any: `, a, b`.
pub(crate) fn select(more: &str) -> String {
    format!("SELECT {COLUMNS}, {}{more} FROM event e JOIN source s ON s.id = e.source", rank("e"))
}

/// Reads a row of [`select`].
pub(crate) fn listed(row: &Row<'_>) -> rusqlite::Result<Listed> {
    let rank: Option<usize> = row.get(BODY)?;
    let status = rank.map_or(Some(EventStatus::Captured), |rank| Some(EventStatus::ALL.get(rank)?.0));
    let status = status.ok_or_else(|| rows::corrupt(BODY, "status"))?;
    Ok(Listed { event: read(row, Bytes::new())?, status, glance: None })
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
