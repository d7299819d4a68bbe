//! Adds up the history, a few days with each read: of 400 days there may be a million rows.

use std::{collections::BTreeMap, ops::Range};

use hdrhistogram::Histogram;
use hookmitt_event::{EventStatus, Timestamp, Verdict, Via};
use rusqlite::{Connection, params};

use super::{
    counted::beginning,
    earlier::uncounted,
    history::{By, Group, History, Period, Quantiles, Sums},
    latencies::{add_stored, histogram},
    timed::Kind,
};
use crate::{Inbox, InboxError, batch::Batch, rows};

/// How many hours one read adds.
const AT_ONCE: i64 = 240;

impl Inbox {
    /// Returns the history. What it costs depends on the hours of the period and not on their events.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn history(&self, period: Period, by: Option<By>) -> Result<History, InboxError> {
        // Without the last latencies, which wait to be written, the rest is still true.
        let hurry = |batch: &mut Batch<'_>| {
            batch.arriving.hurries = true;
            Ok(())
        };
        let _written = self.write(hurry).await;
        let mut adding = self.readers.read(move |db| Adding::begin(db, &period.hours(), by)).await?;
        while !adding.is_done() {
            let add = move |db: &Connection| adding.add(db).map(|()| adding);
            adding = self.readers.read(add).await?;
        }
        self.readers.read(move |db| adding.finish(db)).await
    }
}

/// Sums by status.
type Statuses = BTreeMap<usize, (EventStatus, Sums)>;

/// What has been added up so far.
pub(crate) struct Adding {
    by: Option<By>,
    /// The hours that are still to be added.
    hours: Range<i64>,
    groups: BTreeMap<i64, Statuses>,
    capture: Histogram<u64>,
    delivery: Histogram<u64>,
}

impl Adding {
    /// Begins with the hours of a range for which there is anything.
    pub(crate) fn begin(db: &Connection, hours: &Range<i64>, by: Option<By>) -> Result<Self, InboxError> {
        const ENDS: &str = "SELECT min(a), max(b) FROM (
            SELECT (SELECT min(hour) FROM hourly) AS a, (SELECT max(hour) FROM hourly) AS b
            UNION ALL SELECT (SELECT min(hour) FROM latency), (SELECT max(hour) FROM latency))";
        let ends =
            |row: &rusqlite::Row<'_>| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?));
        let (first, last) = db.prepare_cached(ENDS)?.query_row([], ends)?;
        let hours = match (first, last) {
            (Some(first), Some(last)) => hours.start.max(first)..hours.end.min(last + 1),
            _ => 0..0,
        };
        Ok(Self { by, hours, groups: BTreeMap::new(), capture: histogram(), delivery: histogram() })
    }

    /// Whether all is added up.
    pub(crate) fn is_done(&self) -> bool {
        self.hours.is_empty()
    }

    /// Adds the next hours.
    pub(crate) fn add(&mut self, db: &Connection) -> Result<(), InboxError> {
        let end = self.hours.end.min(self.hours.start + AT_ONCE);
        let part = self.hours.start..end;
        self.add_events(db, &part)?;
        add_latencies(db, &part, Kind::Capture, &mut self.capture)?;
        add_latencies(db, &part, Kind::Delivery, &mut self.delivery)?;
        self.hours.start = end;
        Ok(())
    }

    fn add_events(&mut self, db: &Connection, part: &Range<i64>) -> Result<(), InboxError> {
        let key = match self.by {
            None => "0",
            Some(By::Source) => "source",
            Some(By::Via) => "via",
            Some(By::Verdict) => "verdict",
            Some(By::Hour) => "hour",
        };
        let sql = format!(
            "SELECT {key}, status, sum(events), sum(duplicates), sum(bytes) FROM hourly
            WHERE hour >= ?1 AND hour < ?2 AND events > 0 GROUP BY 1, 2"
        );
        let mut select = db.prepare_cached(&sql)?;
        let mut found = select.query(params![part.start, part.end])?;
        while let Some(row) = found.next()? {
            let sums = Sums { events: row.get(2)?, duplicates: row.get(3)?, bytes: row.get(4)? };
            let (key, place, status) = (row.get(0)?, row.get(1)?, rows::status(row, 1)?);
            let statuses: &mut Statuses = self.groups.entry(key).or_default();
            let (_, so_far) = statuses.entry(place).or_insert((status, Sums::default()));
            *so_far = so_far.plus(sums);
        }
        Ok(())
    }

    /// Names what was added up.
    pub(crate) fn finish(self, db: &Connection) -> Result<History, InboxError> {
        let mut all = Statuses::new();
        for (place, (status, sums)) in self.groups.values().flatten() {
            let (_, so_far) = all.entry(*place).or_insert((*status, Sums::default()));
            *so_far = so_far.plus(*sums);
        }
        let group = |name, statuses: Statuses| Group { name, statuses: statuses.into_values().collect() };
        let mut groups = Vec::new();
        if let Some(by) = self.by {
            for (key, statuses) in self.groups {
                groups.push(group(name(db, by, key)?, statuses));
            }
        }
        if self.by == Some(By::Source) {
            groups.sort_by(|one, other| one.name.cmp(&other.name));
        }
        Ok(History {
            all: group(String::new(), all),
            groups,
            capture: Quantiles::of(&self.capture),
            delivery: Quantiles::of(&self.delivery),
            uncounted: u64::try_from(uncounted(db)?).unwrap_or_default(),
        })
    }
}

/// Returns the name of a group.
fn name(db: &Connection, by: By, key: i64) -> Result<String, InboxError> {
    const SLUG: &str = "SELECT (SELECT slug FROM source WHERE id = ?1), ?1";
    let mut select = db.prepare_cached(SLUG)?;
    Ok(select.query_row([key], |row| {
        Ok(match by {
            By::Source => row.get::<_, Option<String>>(0)?.unwrap_or_default(),
            By::Via => Via::as_str(rows::via(row, 1)?).to_owned(),
            By::Verdict => Verdict::to_string(&rows::verdict(row, 1)?),
            By::Hour => Timestamp::from_micros(beginning(key)).to_string(),
        })
    })?)
}

fn add_latencies(
    db: &Connection,
    part: &Range<i64>,
    kind: Kind,
    counts: &mut Histogram<u64>,
) -> Result<(), InboxError> {
    const SQL: &str = "SELECT counts FROM latency WHERE hour >= ?1 AND hour < ?2 AND kind = ?3";
    let mut select = db.prepare_cached(SQL)?;
    let mut found = select.query(params![part.start, part.end, kind as i64])?;
    while let Some(row) = found.next()? {
        add_stored(counts, row.get_ref(0)?.as_blob().unwrap_or_default());
    }
    Ok(())
}
