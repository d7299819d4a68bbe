//! The inbox in numbers.

use std::{collections::BTreeMap, time::Duration};

use hookmitt_event::{DeliveryState, TargetId, Timestamp, Verdict};
use rusqlite::Connection;

use crate::{
    Inbox, InboxError, View, now,
    recovered::{Recovered, recovered},
    rows,
};

/// The inbox in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// How many events there are, without those in the bin.
    pub events: u64,
    /// How many of these events are duplicates.
    pub duplicates: u64,
    /// The size of these events' bodies, in bytes.
    pub body_bytes: u64,
    /// Events by verdict.
    pub verdicts: Vec<(Verdict, u64)>,
    /// Deliveries by state.
    pub deliveries: Vec<(DeliveryState, u64)>,
    /// Every source, by name. A removed source is included if it still has events.
    pub sources: Vec<SourceCount>,
    /// The number of events in each view.
    pub views: ViewCounts,
    /// Targets with deliveries that wait or run, and the number of those.
    pub targets: Vec<(TargetId, u64)>,
}

/// A source and how many events it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceCount {
    /// The source's name.
    pub slug: String,
    /// How many events of the source there are, without those in the bin.
    pub events: u64,
    /// The verdict of its newest event that is not in the bin.
    pub newest: Option<Verdict>,
}

/// How many events each view has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewCounts {
    /// Events that are invalid, or have a failed or dead delivery.
    pub needs_action: u64,
    /// Events whose signature does not hold.
    pub invalid: u64,
    /// Events with a dead delivery.
    pub dead_letter: u64,
    /// Events with a delivery that is held up.
    pub waiting: u64,
}

/// Selects the running totals, a row for each source and verdict.
pub(crate) const TOTALS: &str = "SELECT s.slug, t.verdict, t.events, t.duplicates, t.bytes
    FROM source s LEFT JOIN tally t ON t.source = s.id
    WHERE s.removed_at IS NULL OR t.events > 0 ORDER BY s.slug, t.verdict";

/// Selects the verdict of each source's newest event.
pub(crate) const NEWEST: &str = "SELECT s.slug, (SELECT verdict FROM event e
        WHERE e.source = s.id AND e.deleted_at IS NULL ORDER BY e.seq DESC LIMIT 1) AS newest
    FROM source s WHERE newest IS NOT NULL";

/// Counts deliveries that wait or run, by state, from partial indexes that hold no others. Nothing waits in the bin, but
/// what is being sent may go there.
pub(crate) const OPEN: &str = "SELECT * FROM (
        SELECT 0, count(*) AS many FROM delivery INDEXED BY delivery_waiting WHERE state IN (0, 1) AND state = 0
        UNION ALL
        SELECT 1, count(*) FROM delivery INDEXED BY delivery_claimed WHERE state = 1 AND NOT binned)
    WHERE many > 0";

/// Counts deliveries that wait or run, by target.
pub(crate) const BOUND: &str =
    "SELECT target, count(*) FROM delivery WHERE state IN (0, 1) GROUP BY target ORDER BY target";

/// Counts deliveries that failed, died or were skipped, by state.
pub(crate) const UNSENT: &str =
    "SELECT state, count(*) FROM delivery WHERE state IN (3, 4, 5) AND NOT binned GROUP BY state";

impl Inbox {
    /// Returns the numbers, from running totals and small indexes, so that the cost doesn't grow with the events. The
    /// parts are read side by side, each in its own snapshot, so that none holds a snapshot for long.
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
        let newest = |db: &Connection| {
            let mut select = db.prepare_cached(NEWEST)?;
            let newest = select.query_map([], |row| Ok((row.get(0)?, rows::verdict(row, 1)?)))?;
            Ok(newest.collect::<Result<BTreeMap<String, Verdict>, _>>()?)
        };
        let bound = |db: &Connection| {
            let mut select = db.prepare_cached(BOUND)?;
            let bound = select.query_map([], |row| Ok((TargetId(row.get(0)?), row.get(1)?)))?;
            Ok(bound.collect::<Result<_, _>>()?)
        };
        let (mut stats, newest, targets, needs_action, views) = tokio::try_join!(
            self.readers.read(counts),
            self.readers.read(newest),
            self.readers.read(bound),
            self.count(View::NeedsAction),
            async {
                let (invalid, dead_letter) =
                    (self.count(View::Invalid).await?, self.count(View::DeadLetter).await?);
                Ok((invalid, dead_letter, self.count(View::Waiting).await?))
            }
        )?;
        for source in &mut stats.sources {
            source.newest = newest.get(&source.slug).copied();
        }
        stats.targets = targets;
        let (invalid, dead_letter, waiting) = views;
        stats.views = ViewCounts { needs_action, invalid, dead_letter, waiting };
        Ok(stats)
    }

    async fn count(&self, view: View) -> Result<u64, InboxError> {
        let sql = view.count_sql();
        let count =
            move |db: &Connection| Ok(db.prepare_cached(&sql)?.query_row([i64::MAX], |row| row.get(0))?);
        self.readers.read(count).await
    }
}

/// Adds up the totals. Returns how many deliveries the events have that are not in the bin.
fn totals(db: &Connection, stats: &mut Stats) -> Result<u64, InboxError> {
    let mut verdicts = BTreeMap::new();
    let mut select = db.prepare_cached(TOTALS)?;
    let mut found = select.query([])?;
    while let Some(row) = found.next()? {
        let (slug, events): (String, u64) = (row.get(0)?, row.get::<_, Option<u64>>(2)?.unwrap_or_default());
        match stats.sources.last_mut() {
            Some(last) if last.slug == slug => last.events += events,
            _ => stats.sources.push(SourceCount { slug, events, newest: None }),
        }
        if row.get::<_, Option<i64>>(1)?.is_none() {
            continue; // no event of this source ever came in
        }
        *verdicts.entry(rows::verdict(row, 1)? as usize).or_insert(0) += events;
        stats.events += events;
        stats.duplicates += row.get::<_, u64>(3)?;
        stats.body_bytes += row.get::<_, u64>(4)?;
    }
    let counted = verdicts.into_iter().filter(|(_, events)| *events > 0);
    stats.verdicts = counted.map(|(place, events)| (Verdict::ALL[place].0, events)).collect();
    // One row alone says nothing, because events change their verdicts.
    Ok(db
        .prepare_cached("SELECT coalesce(sum(deliveries), 0) FROM tally")?
        .query_row([], |row| row.get(0))?)
}

/// Counts the deliveries by state. Deliveries that are in neither index are completed.
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

/// How long the structure of the file is checked at most.
pub const CHECKED_FOR: Duration = Duration::from_secs(5);

impl Inbox {
    /// Returns how many deliveries are being tried, or were when the process that delivered was killed.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn claims(&self) -> Result<u64, InboxError> {
        const SQL: &str = "SELECT count(*) FROM delivery INDEXED BY delivery_claimed WHERE state = 1";
        self.readers.read(|db| Ok(db.query_row(SQL, [], |row| row.get(0))?)).await
    }

    /// Returns the wall clock's time when the process that delivers last looked at it; `None` if none ever did.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn clock_seen(&self) -> Result<Option<Timestamp>, InboxError> {
        self.readers.read(|db| Ok(now::kept(db)?.map(|kept| Timestamp::from_micros(kept.wall)))).await
    }

    /// Returns what was recovered from a damaged inbox, as long as the damaged file is still kept.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn recovered(&self) -> Result<Option<Recovered>, InboxError> {
        self.readers.read(recovered).await
    }

    /// Has SQLite check the structure of the file (`quick_check`), which reads the whole file, for at most
    /// [`CHECKED_FOR`].
    ///
    /// # Errors
    /// Fails with [`InboxError::Damaged`] if SQLite finds damage, and with [`InboxError::TooLong`] if the file is so
    /// large that the time isn't enough.
    pub async fn check(&self) -> Result<(), InboxError> {
        self.readers
            .read_within(CHECKED_FOR, |db| {
                let found: String = db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
                if found == "ok" { Ok(()) } else { Err(InboxError::Damaged(found)) }
            })
            .await
    }
}
