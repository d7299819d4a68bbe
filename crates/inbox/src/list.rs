//! Lists events, newest first, a page at a time.

use bytes::Bytes;
use hookmitt_event::{EventId, EventStatus, Timestamp, Verdict};
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};

use crate::{
    Inbox, InboxError, View,
    deliveries::STATUS_RANK,
    events::{BODY, COLUMNS, read},
    glance::{self, Listed},
    rows,
};

/// Which events are wanted. A condition that is absent is not checked.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The slug of the event's source.
    pub source: Option<String>,
    /// The event's status.
    pub status: Option<EventStatus>,
    /// The event's verdict.
    pub verdict: Option<Verdict>,
    /// The event type: the exact type, its beginning up to a dot, or a pattern with `*`.
    pub event_type: Option<String>,
    /// Text in the type, title, path, query, header lines or body. ASCII letters match in either case.
    pub text: Option<String>,
    /// Only events received at this moment or later.
    pub since: Option<Timestamp>,
    /// Only events received before this moment.
    pub until: Option<Timestamp>,
    /// Only events of this view.
    pub view: Option<View>,
    /// Only events with a higher sequence number than this.
    pub after: Option<i64>,
    /// Whether each event gets its glance.
    pub glance: bool,
}

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
    let sql = format!("{} WHERE e.seq > ?1 ORDER BY e.seq LIMIT ?2", select());
    let mut select = db.prepare_cached(&sql)?;
    let found = select.query_map([after, i64::from(limit)], listed)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn these(db: &Connection, ids: &[EventId]) -> Result<Vec<Listed>, InboxError> {
    let sql = format!("{} WHERE e.id = ?1", select());
    let mut select = db.prepare_cached(&sql)?;
    let found = ids.iter().map(|id| select.query_row([id.as_bytes()], listed).optional());
    Ok(found.filter_map(Result::transpose).collect::<Result<_, _>>()?)
}

/// Returns the next matching events below a sequence number, after passing over `stride` rows at most, and the number
/// below which the search goes on.
fn look(
    db: &Connection,
    filter: &Filter,
    below: i64,
    wanted: usize,
    stride: i64,
) -> Result<(Vec<Listed>, i64), InboxError> {
    let Some(seqs) = candidates(db, filter, below, stride)? else {
        let floor = below - stride;
        return Ok((between(db, filter, floor, below, wanted)?, floor));
    };
    let mut found = Vec::new();
    for seq in &seqs {
        if found.len() == wanted {
            return Ok((found, seq + 1));
        }
        found.extend(between(db, filter, *seq, seq + 1, 1)?);
    }
    let is_more = i64::try_from(seqs.len()) == Ok(stride);
    Ok((found, seqs.last().copied().filter(|_| is_more).unwrap_or(0)))
}

/// Returns the matching events with a sequence number of at least `floor` and less than `below`.
fn between(
    db: &Connection,
    filter: &Filter,
    floor: i64,
    below: i64,
    wanted: usize,
) -> Result<Vec<Listed>, InboxError> {
    let mut conditions = vec!["e.seq < ? AND e.seq >= ? AND e.deleted_at IS NULL"];
    let mut values: Vec<Box<dyn ToSql>> = vec![Box::new(below), Box::new(floor)];
    narrow(filter, &mut conditions, &mut values);
    values.push(Box::new(i64::try_from(wanted).unwrap_or(i64::MAX)));
    let sql = format!("{} WHERE {} ORDER BY e.seq DESC LIMIT ?", select(), conditions.join(" AND "));
    let mut statement = db.prepare_cached(&sql)?;
    let found = statement.query_map(rusqlite::params_from_iter(values), listed)?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Returns a query for events without their bodies, each with the most telling state of its deliveries.
fn select() -> String {
    format!(
        "SELECT {COLUMNS}, (SELECT min({STATUS_RANK}) FROM delivery WHERE event = e.seq) AS rank
         FROM event e JOIN source s ON s.id = e.source"
    )
}

fn listed(row: &Row<'_>) -> rusqlite::Result<Listed> {
    let rank: Option<usize> = row.get(BODY)?;
    let status = rank.map_or(Some(EventStatus::Captured), |rank| Some(EventStatus::ALL.get(rank)?.0));
    let status = status.ok_or_else(|| rows::corrupt(BODY, "status"))?;
    Ok(Listed { event: read(row, Bytes::new())?, status, glance: None })
}

fn narrow(filter: &Filter, conditions: &mut Vec<&'static str>, values: &mut Vec<Box<dyn ToSql>>) {
    let mut ask = |condition: &'static str, value: Box<dyn ToSql>| {
        conditions.push(condition);
        values.push(value);
    };
    if let Some(source) = &filter.source {
        ask("s.slug = ?", Box::new(source.clone()));
    }
    if let Some(verdict) = filter.verdict {
        ask("e.verdict = ?", Box::new(verdict as i64));
    }
    if let Some(kind) = &filter.event_type {
        ask("(e.type || '.') GLOB ?", Box::new(type_pattern(kind)));
    }
    if let Some(since) = filter.since {
        ask("e.received_at >= ?", Box::new(since.as_micros()));
    }
    if let Some(until) = filter.until {
        ask("e.received_at < ?", Box::new(until.as_micros()));
    }
    if let Some(after) = filter.after {
        ask("e.seq > ?", Box::new(after));
    }
    if let Some(text) = &filter.text {
        const SQL: &str = "(coalesce(e.type, '') || ' ' || coalesce(e.title, '') || ' ' || e.path || ' ' ||
            coalesce(e.query, '') || ' ' || CAST(e.headers AS TEXT) || ' ' || CAST(e.body AS TEXT))
            LIKE ? ESCAPE '\\'";
        ask(SQL, Box::new(format!("%{}%", escape_like(text))));
    }
    if let Some(status) = filter.status {
        ask("coalesce(rank, 6) = ?", Box::new(status as i64));
    }
}

/// Returns the GLOB pattern for a type with a dot after it: `push` finds `push`, `invoice` also finds `invoice.paid`,
/// and `*` stands for anything.
fn type_pattern(kind: &str) -> String {
    format!("{}.*", kind.replace('[', "[[]").replace('?', "[?]"))
}

fn escape_like(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

const OF_SOURCE: &str =
    "SELECT seq FROM event WHERE source = (SELECT id FROM source WHERE slug = ?3) AND seq < ?1";

/// Returns the query for the numbers of events that may match a filter, newest first; `None` if any event may match.
pub(crate) fn candidates_sql(filter: &Filter) -> Option<String> {
    let seqs = match (filter.view, &filter.source) {
        (Some(view), _) => view.seqs(),
        (None, Some(_)) => OF_SOURCE.to_owned(),
        (None, None) => return None,
    };
    Some(format!("{seqs} ORDER BY seq DESC LIMIT ?2"))
}

/// Returns the numbers of the next `limit` events below a number that may match a filter, newest first; `None` if any
/// event may match.
pub(crate) fn candidates(
    db: &Connection,
    filter: &Filter,
    below: i64,
    limit: i64,
) -> Result<Option<Vec<i64>>, InboxError> {
    let Some(sql) = candidates_sql(filter) else { return Ok(None) };
    let mut select = db.prepare_cached(&sql)?;
    let read = |row: &rusqlite::Row<'_>| row.get(0);
    let found = match filter.view {
        Some(_) => select.query_map(params![below, limit], read)?,
        None => select.query_map(params![below, limit, filter.source], read)?,
    };
    Ok(Some(found.collect::<Result<_, _>>()?))
}
