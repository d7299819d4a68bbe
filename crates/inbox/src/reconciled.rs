//! A provider's events against ours, by day and one by one.

use std::{collections::HashSet, fmt, num::ParseIntError, str::FromStr, sync::Arc};

use hookmitt_event::{EventId, Timestamp, Via};
use rusqlite::{Connection, Row, params};
use sha2::{Digest as _, Sha256};

use crate::{
    Inbox, InboxError, object_hash,
    rows::{self, BROWSER},
    sync_store::Outcome,
};

/// A provider's events of a day against ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    /// When it begins.
    pub from: Timestamp,
    /// When it ends.
    pub until: Timestamp,
    /// How many are listed there and are or were here.
    pub both: u64,
    /// How many are listed there and aren't here.
    pub only_there: u64,
    /// How many are here and aren't listed there.
    pub only_here: u64,
}

/// A part of a day's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayPart {
    /// Those that are in both.
    Both,
    /// Those that are only there.
    OnlyThere,
    /// Those that are only here.
    OnlyHere,
}

/// An event of a day: as it is listed there, or as it is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedLine {
    /// Its id at the provider, or its dedupe key.
    pub id: String,
    /// When it happened.
    pub at: Timestamp,
    /// Its type.
    pub kind: Option<String>,
    /// Its event, if that is here.
    pub event: Option<(EventId, i64)>,
    /// Whether it was added by sync.
    pub added: bool,
    /// Why it can't be recovered.
    pub why: Option<String>,
    /// Where it stands in the list.
    pub place: ListedPlace,
}

/// A place in a list of a part of a source's events: the time of an event, and what tells those of one time apart. As
/// text, it is those with a hyphen between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedPlace {
    at: i64,
    key: [u8; 16],
}

impl ListedPlace {
    const BEGINNING: Self = Self { at: i64::MIN, key: [0; 16] };
}

impl fmt::Display for ListedPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:032x}-{}", u128::from_be_bytes(self.key), self.at)
    }
}

impl FromStr for ListedPlace {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        let (key, at) = text.split_once('-').unwrap_or_default();
        Ok(Self { at: at.parse()?, key: u128::from_str_radix(key, 16)?.to_be_bytes() })
    }
}

/// A page of a day's events, in order of time.
#[derive(Clone, Debug)]
pub struct ListedPage {
    /// The events.
    pub items: Vec<ListedLine>,
    /// The last place of this page, if more follow.
    pub next: Option<ListedPlace>,
}

impl Inbox {
    /// Returns the time that the syncs of a source have looked at, between two moments: from the earliest to the latest.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn looked_at(
        &self,
        source: i64,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<Option<(Timestamp, Timestamp)>, InboxError> {
        const SQL: &str = "SELECT max(min(since), ?2), min(max(until), ?3) FROM sync_report
            WHERE source = ?1 AND until > ?2 AND since < ?3 AND ended_at IS NOT NULL
            AND (why IS NULL OR checked > 0)";
        self.readers
            .read(move |db| {
                let values = params![source, since.as_micros(), until.as_micros()];
                Ok(db.prepare_cached(SQL)?.query_row(values, |row| {
                    let (since, until): (Option<i64>, Option<i64>) = (row.get(0)?, row.get(1)?);
                    Ok(since
                        .zip(until)
                        .map(|(since, until)| (Timestamp::from_micros(since), Timestamp::from_micros(until))))
                })?)
            })
            .await
    }

    /// Counts a provider's events by day against ours. The days follow each other.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn reconciled(
        &self,
        source: i64,
        days: Vec<(Timestamp, Timestamp)>,
    ) -> Result<Vec<Day>, InboxError> {
        const SQL: &str = "SELECT count(*) FILTER (WHERE here), count(*) FILTER (WHERE NOT here)
            FROM (SELECT outcome < 2 OR EXISTS (SELECT 1 FROM first_key k
                WHERE k.source = l.source AND k.key = l.key) AS here
            FROM listed l WHERE source = ?1 AND at >= ?2 AND at < ?3)";
        let (Some((since, _)), Some((_, until))) = (days.first().copied(), days.last().copied()) else {
            return Ok(Vec::new());
        };
        let ours = self.only_here(source, since, until).await?;
        self.readers
            .read(move |db| {
                let mut count = db.prepare_cached(SQL)?;
                let day = |(from, until): (Timestamp, Timestamp)| {
                    let values = params![source, from.as_micros(), until.as_micros()];
                    let (both, only_there) = count.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
                    let only_here = ours.iter().filter(|line| line.at >= from && line.at < until).count();
                    Ok(Day { from, until, both, only_there, only_here: only_here as u64 })
                };
                days.into_iter().map(day).collect()
            })
            .await
    }

    /// Returns a page of a part of the events of a time, in order of time: those behind a place.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn listed_between(
        &self,
        source: i64,
        (since, until): (Timestamp, Timestamp),
        part: DayPart,
        after: Option<ListedPlace>,
        limit: usize,
    ) -> Result<ListedPage, InboxError> {
        const SQL: &str = "SELECT l.id, l.at, l.kind, e.id, e.seq, l.outcome, l.why, l.key FROM listed l
            LEFT JOIN first_key k ON l.outcome >= 2 AND k.source = l.source AND k.key = l.key
            LEFT JOIN event e ON e.seq = coalesce(l.event, k.seq) AND e.source = l.source
            WHERE l.source = ?1 AND l.at >= max(?2, ?6) AND l.at < ?3 AND (l.at, l.key) > (?6, ?7)
            AND (l.outcome < 2 OR k.key IS NOT NULL) = ?4 ORDER BY l.at, l.key LIMIT ?5";
        let page = |mut items: Vec<ListedLine>| {
            let more = items.len() > limit;
            items.truncate(limit);
            let next = items.last().filter(|_| more).map(|line| line.place);
            ListedPage { items, next }
        };
        let after = after.unwrap_or(ListedPlace::BEGINNING);
        if part == DayPart::OnlyHere {
            let all = self.only_here(source, since, until).await?;
            let behind = all.into_iter().filter(|line| line.place > after);
            return Ok(page(behind.take(limit + 1).collect()));
        }
        let found = self
            .readers
            .read(move |db| {
                let both = part == DayPart::Both;
                let (since, until) = (since.as_micros(), until.as_micros());
                let values = params![source, since, until, both, limit + 1, after.at, after.key];
                Ok(db.prepare_cached(SQL)?.query_map(values, line)?.collect::<Result<Vec<_>, _>>()?)
            })
            .await?;
        Ok(page(found))
    }

    /// Returns the events of a time that came in and that no sync has seen at the provider, in order of time.
    async fn only_here(
        &self,
        source: i64,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<ListedLine>, InboxError> {
        let kinds = Arc::new(self.readers.read(move |db| kinds_of_objects(db, source)).await?);
        let (mut all, mut below) = (Vec::new(), i64::MAX);
        loop {
            let kinds = Arc::clone(&kinds);
            let read = move |db: &Connection| unlisted(db, source, (since, until), below, &kinds);
            let (found, next) = self.readers.read(read).await?;
            all.extend(found);
            match next {
                Some(next) => below = next,
                None => break,
            }
        }
        all.sort_by_key(|line| line.place);
        Ok(all)
    }
}

/// How many events one read goes through.
const STRIDE: usize = 2_000;

/// How far out of order events come in at most, in microseconds: as long as a relay keeps what waits, and more.
const DISORDER: i64 = 4 * 24 * 60 * 60 * 1_000_000;

type Unlisted = (Vec<ListedLine>, Option<i64>);

fn unlisted(
    db: &Connection,
    source: i64,
    (since, until): (Timestamp, Timestamp),
    below: i64,
    kinds: &HashSet<String>,
) -> Result<Unlisted, InboxError> {
    const SQL: &str =
        "SELECT seq, id, received_at, coalesce(event_time, received_at), via, flags, type, object,
            dedupe_key, duplicate_of IS NOT NULL FROM event
        WHERE source = ?1 AND seq < ?2 AND deleted_at IS NULL ORDER BY seq DESC LIMIT ?3";
    const LISTED: &str = "SELECT 1 FROM listed WHERE source = ?1 AND key = ?2";
    let mut is_listed = db.prepare_cached(LISTED)?;
    let mut select = db.prepare_cached(SQL)?;
    let mut rows = select.query(params![source, below, STRIDE])?;
    let (mut found, mut next, mut count) = (Vec::new(), None, 0);
    while let Some(row) = rows.next()? {
        let (seq, received): (i64, i64) = (row.get(0)?, row.get(2)?);
        count += 1;
        let at = Timestamp::from_micros(row.get(3)?);
        let (via, flags): (i64, i64) = (row.get(4)?, row.get(5)?);
        let came_in = via == Via::Direct as i64 || via == Via::Tunnel as i64;
        if came_in && received < since.as_micros().saturating_sub(DISORDER) {
            return Ok((found, None));
        }
        next = Some(seq);
        if !came_in || flags & BROWSER != 0 || row.get(9)? || at < since || at >= until {
            continue;
        }
        let (kind, object): (Option<String>, Option<String>) = (row.get(6)?, row.get(7)?);
        let key: String = row.get(8)?;
        let keys =
            [Some(hash_of(&key)), kind.as_deref().zip(object.as_deref()).map(|(k, o)| object_hash(k, o))];
        let mut listed = false;
        for key in keys.into_iter().flatten() {
            listed |= is_listed.exists(params![source, key])?;
        }
        // Where objects are listed, other types of events are in no list.
        let is_of_list = kinds.is_empty() || kind.as_ref().is_some_and(|kind| kinds.contains(kind));
        if !listed && is_of_list {
            let id = key.strip_prefix("id:").unwrap_or(&key).to_owned();
            let event = Some((rows::id(row, 1)?, seq));
            let place = ListedPlace { at: at.as_micros(), key: i128::from(seq).to_be_bytes() };
            found.push(ListedLine { id, at, kind, event, added: false, why: None, place });
        }
    }
    Ok((found, next.filter(|_| count == STRIDE)))
}

/// Returns the types of the objects that are listed of a source; empty if it is events that are listed.
fn kinds_of_objects(db: &Connection, source: i64) -> Result<HashSet<String>, InboxError> {
    const SQL: &str = "SELECT DISTINCT kind FROM listed WHERE source = ?1 AND object AND kind IS NOT NULL";
    let mut select = db.prepare_cached(SQL)?;
    Ok(select.query_map([source], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

fn hash_of(key: &str) -> [u8; 16] {
    let hash: [u8; 32] = Sha256::digest(key).into();
    hash.first_chunk().copied().unwrap_or_default()
}

fn line(row: &Row<'_>) -> rusqlite::Result<ListedLine> {
    let (at, seq): (i64, Option<i64>) = (row.get(1)?, row.get(4)?);
    Ok(ListedLine {
        id: row.get(0)?,
        at: Timestamp::from_micros(at),
        kind: row.get(2)?,
        event: rows::id_or_null(row, 3)?.zip(seq),
        added: row.get::<_, i64>(5)? == Outcome::Added as i64,
        why: row.get(6)?,
        place: ListedPlace { at, key: row.get(7)? },
    })
}
