//! The inbox in numbers.

use std::collections::BTreeMap;

use hookmitt_event::{DeliveryState, TargetId, Verdict};
use rusqlite::Connection;

use crate::{Inbox, InboxError, View, rows};

/// The inbox in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Events that are not in the bin.
    pub events: u64,
    /// Those of them that repeat another.
    pub duplicates: u64,
    /// Bytes of their bodies.
    pub body_bytes: u64,
    /// Events by verdict.
    pub verdicts: Vec<(Verdict, u64)>,
    /// Deliveries by state.
    pub deliveries: Vec<(DeliveryState, u64)>,
    /// Every source by name; of those that were removed, the ones whose events are still there.
    pub sources: Vec<SourceCount>,
    /// Events by view.
    pub views: ViewCounts,
    /// Targets with deliveries that wait or run, and how many.
    pub targets: Vec<(TargetId, u64)>,
}

/// A source and how many events it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceCount {
    /// Its name.
    pub slug: String,
    /// Its events that are not in the bin.
    pub events: u64,
}

/// How many events each view has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewCounts {
    /// Invalid, or with a delivery that failed or is dead.
    pub needs_action: u64,
    /// With a signature that does not hold.
    pub invalid: u64,
    /// With a dead delivery.
    pub dead_letter: u64,
    /// With a delivery that is held up.
    pub waiting: u64,
}

/// By the running totals; those of one verdict and source a row.
pub(crate) const TOTALS: &str = "SELECT s.slug, t.verdict, t.events, t.duplicates, t.bytes, t.deliveries
    FROM source s LEFT JOIN tally t ON t.source = s.id
    WHERE s.removed_at IS NULL OR t.events > 0 ORDER BY s.slug, t.verdict";

/// Deliveries that wait or run, by state: each part of the index holds no others.
pub(crate) const OPEN: &str = "SELECT state, count(*) FROM delivery WHERE state IN (0, 1) GROUP BY state";

/// Deliveries that wait or run, by target.
pub(crate) const BOUND: &str =
    "SELECT target, count(*) FROM delivery WHERE state IN (0, 1) GROUP BY target ORDER BY target";

/// Deliveries that were given up or never sent, by state.
pub(crate) const UNSENT: &str =
    "SELECT state, count(*) FROM delivery WHERE state IN (3, 4, 5) GROUP BY state";

impl Inbox {
    /// Counts, by running totals and small indexes: what it costs doesn't grow with the events. Each part is of its own
    /// moment, so that none is long.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn stats(&self) -> Result<Stats, InboxError> {
        let counts = |db: &Connection| {
            let mut stats = Stats::default();
            let made = totals(db, &mut stats)?;
            deliveries(db, made, &mut stats)?;
            Ok(stats)
        };
        let bound = |db: &Connection| {
            let mut select = db.prepare_cached(BOUND)?;
            let bound = select.query_map([], |row| Ok((TargetId(row.get(0)?), row.get(1)?)))?;
            Ok(bound.collect::<Result<_, _>>()?)
        };
        let mut stats = self.readers.read(counts).await?;
        stats.targets = self.readers.read(bound).await?;
        stats.views = ViewCounts {
            needs_action: self.count(View::NeedsAction).await?,
            invalid: self.count(View::Invalid).await?,
            dead_letter: self.count(View::DeadLetter).await?,
            waiting: self.count(View::Waiting).await?,
        };
        Ok(stats)
    }

    async fn count(&self, view: View) -> Result<u64, InboxError> {
        let sql = view.count_sql();
        let count =
            move |db: &Connection| Ok(db.prepare_cached(&sql)?.query_row([i64::MAX], |row| row.get(0))?);
        self.readers.read(count).await
    }
}

/// Sums up the totals. Answers how many deliveries were ever made.
fn totals(db: &Connection, stats: &mut Stats) -> Result<u64, InboxError> {
    let mut made = 0;
    let mut verdicts = BTreeMap::new();
    let mut select = db.prepare_cached(TOTALS)?;
    let mut found = select.query([])?;
    while let Some(row) = found.next()? {
        let (slug, events): (String, u64) = (row.get(0)?, row.get::<_, Option<u64>>(2)?.unwrap_or_default());
        match stats.sources.last_mut() {
            Some(last) if last.slug == slug => last.events += events,
            _ => stats.sources.push(SourceCount { slug, events }),
        }
        if row.get::<_, Option<i64>>(1)?.is_none() {
            continue; // no event ever came in there
        }
        *verdicts.entry(rows::verdict(row, 1)? as usize).or_insert(0) += events;
        stats.events += events;
        stats.duplicates += row.get::<_, u64>(3)?;
        stats.body_bytes += row.get::<_, u64>(4)?;
        made += row.get::<_, u64>(5)?;
    }
    let counted = verdicts.into_iter().filter(|(_, events)| *events > 0);
    stats.verdicts = counted.map(|(place, events)| (Verdict::ALL[place].0, events)).collect();
    Ok(made)
}

/// The deliveries by state. What is in none of the indexes is completed.
fn deliveries(db: &Connection, made: u64, stats: &mut Stats) -> Result<(), InboxError> {
    for sql in [OPEN, UNSENT] {
        let mut select = db.prepare_cached(sql)?;
        let found = select.query_map([], |row| Ok((rows::state(row, 0)?, row.get(1)?)))?;
        stats.deliveries.extend(found.collect::<Result<Vec<_>, _>>()?);
    }
    let others: u64 = stats.deliveries.iter().map(|(_, count)| count).sum();
    if made > others {
        stats.deliveries.push((DeliveryState::Completed, made - others));
    }
    stats.deliveries.sort_by_key(|(state, _)| *state as usize);
    Ok(())
}

impl Inbox {
    /// Lets SQLite check the file's structure (`quick_check`), which reads all of it.
    ///
    /// # Errors
    /// What it finds.
    pub async fn check(&self) -> Result<(), InboxError> {
        self.readers
            .read_at_length(|db| {
                let found: String = db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
                if found == "ok" { Ok(()) } else { Err(InboxError::Damaged(found)) }
            })
            .await
    }
}
