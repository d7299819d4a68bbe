//! What each sync of a source found: its report.

use hookmitt_event::{EventId, Slug, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{Inbox, InboxError, rows, sync_store};

/// How long before a sync's window listed items are remembered, in microseconds: as long as first keys.
const REMEMBERED: i64 = 90 * 24 * 60 * 60 * 1_000_000;

/// How many reports of a source are kept.
const KEPT: u32 = 500;

/// A sync that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewReport {
    /// The row of the source.
    pub source: i64,
    /// The job's number.
    pub job: i64,
    /// The first moment that is asked for, by the provider's clock.
    pub since: Timestamp,
    /// The first moment that is too late.
    pub until: Timestamp,
    /// Whether nothing is added.
    pub dry_run: bool,
}

/// What one sync of a source found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncReport {
    /// Its number.
    pub id: i64,
    /// The source.
    pub source: Slug,
    /// The number of its job, which may be forgotten.
    pub job: i64,
    /// The first moment that was asked for.
    pub since: Timestamp,
    /// The first moment that was too late.
    pub until: Timestamp,
    /// Whether nothing was to be added.
    pub dry_run: bool,
    /// When it began.
    pub began_at: Timestamp,
    /// When it ended; `None` if it runs, or if the process ended before it did.
    pub ended_at: Option<Timestamp>,
    /// Why it ended before everything was listed.
    pub why: Option<String>,
    /// How many items were listed.
    pub checked: u64,
    /// How many of them were here.
    pub here: u64,
    /// How many were added.
    pub added: u64,
    /// How many are missing that this dry run would have added.
    pub missing: u64,
    /// How many can't be recovered.
    pub lost: u64,
    /// How many of those added are kept, and not delivered to any target.
    pub kept: u64,
}

/// How far the syncs of a source are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synced {
    /// Up to which moment everything that its provider lists was looked at.
    pub until: Option<Timestamp>,
    /// How long ago in store time the last sync began, in microseconds, whether it ended well or not.
    pub began_ago: Option<i64>,
    /// Why the last sync ended early, if it did.
    pub failed: Option<String>,
}

/// A page of reports, newest first.
#[derive(Clone, Debug)]
pub struct ReportPage {
    /// The reports.
    pub items: Vec<SyncReport>,
    /// The cursor for the next, older page; `None` at the end.
    pub next: Option<i64>,
}

/// Why a report has no end of its own.
const BROKE_OFF: &str = "hookmitt ended before it did";

/// The reason of a delivery that backup sync leaves to a person.
pub const KEPT_BY_SYNC: &str = "kept by backup sync";

const SELECT: &str = "SELECT r.id, s.slug, r.job, r.since, r.until, r.dry_run, r.began_at, r.ended_at, r.why,
    r.checked, r.here, r.added, r.missing, r.lost, (SELECT count(*) FROM listed l
        WHERE l.report = r.id AND l.outcome = 1 AND EXISTS (SELECT 1 FROM delivery d JOIN event e ON e.seq = d.event
            WHERE d.event = l.event AND d.state = 5 AND d.last_error = 'kept by backup sync' AND NOT d.binned
            AND e.duplicate_of IS NULL))
    FROM sync_report r JOIN source s ON s.id = r.source";

impl Inbox {
    /// Begins a report, or goes on with the one of the same job.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn begin_report(&self, new: NewReport) -> Result<SyncReport, InboxError> {
        const BEGIN: &str =
            "INSERT INTO sync_report (source, job, since, until, dry_run, began_at, began_age)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET ended_at = NULL, why = NULL";
        // Nobody ended those whose process was killed.
        const CLOSE: &str = "UPDATE sync_report SET ended_at = ?3, why = ?4
            WHERE source = ?1 AND job <> ?2 AND ended_at IS NULL";
        const OLD: &str = "DELETE FROM sync_report WHERE id IN (SELECT id FROM sync_report WHERE source = ?1
            ORDER BY id DESC LIMIT 100 OFFSET ?2)";
        self.write(move |batch| {
            let NewReport { source, job, since, until, dry_run } = new;
            let (since, until) = (since.as_micros(), until.as_micros());
            let now = batch.now;
            let values = params![source, job, since, until, dry_run, now.wall, now.store];
            batch.db.prepare_cached(BEGIN)?.execute(values)?;
            batch.db.prepare_cached(OLD)?.execute(params![source, KEPT])?;
            let values = params![source, job, now.wall, BROKE_OFF];
            batch.db.prepare_cached(CLOSE)?.execute(values)?;
            let before = Timestamp::from_micros(since.saturating_sub(REMEMBERED));
            sync_store::forget(batch.db, source, before)?;
            one(batch.db, "r.job = ?1", job)
        })
        .await
    }

    /// Ends a report; `why` says why it ended before everything was listed.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn end_report(&self, id: i64, why: Option<String>) -> Result<SyncReport, InboxError> {
        const END: &str = "UPDATE sync_report SET ended_at = ?2, why = ?3 WHERE id = ?1";
        self.write(move |batch| {
            batch.db.prepare_cached(END)?.execute(params![id, batch.now.wall, why])?;
            one(batch.db, "r.id = ?1", id)
        })
        .await
    }

    /// Returns a report.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownReport`] if there is none of that number.
    pub async fn report(&self, id: i64) -> Result<SyncReport, InboxError> {
        self.readers.read(move |db| one(db, "r.id = ?1", id)).await
    }

    /// Returns a page of the reports of a source, or of all, newest first, whose numbers are below `cursor`.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn reports(
        &self,
        source: Option<i64>,
        cursor: Option<i64>,
        limit: usize,
    ) -> Result<ReportPage, InboxError> {
        let sql =
            format!("{SELECT} WHERE (?1 IS NULL OR r.source = ?1) AND r.id < ?2 ORDER BY r.id DESC LIMIT ?3");
        self.readers
            .read(move |db| {
                let values = params![source, cursor.unwrap_or(i64::MAX), limit + 1];
                let mut items: Vec<SyncReport> =
                    db.prepare_cached(&sql)?.query_map(values, report)?.collect::<Result<_, _>>()?;
                let more = items.len() > limit;
                items.truncate(limit);
                let next = items.last().filter(|_| more).map(|one| one.id);
                Ok(ReportPage { items, next })
            })
            .await
    }

    /// Returns the events that a report's sync added and whose delivery it left to a person, after a number, oldest first,
    /// at most `limit`.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn kept_by_sync(
        &self,
        report: i64,
        after: i64,
        limit: usize,
    ) -> Result<Vec<(i64, EventId)>, InboxError> {
        const SQL: &str = "SELECT e.seq, e.id FROM listed l CROSS JOIN event e ON e.seq = l.event
            WHERE l.report = ?1 AND l.outcome = 1 AND e.seq > ?2 AND e.duplicate_of IS NULL AND EXISTS (SELECT 1 FROM delivery d
                WHERE d.event = e.seq AND d.state = 5 AND d.last_error = ?4 AND NOT d.binned)
            ORDER BY e.seq LIMIT ?3";
        self.readers
            .read(move |db| {
                let values = params![report, after, limit, KEPT_BY_SYNC];
                let read = |row: &Row<'_>| Ok((row.get(0)?, rows::id(row, 1)?));
                Ok(db.prepare_cached(SQL)?.query_map(values, read)?.collect::<Result<_, _>>()?)
            })
            .await
    }

    /// Returns how far the syncs of a source are.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn synced(&self, source: i64) -> Result<Synced, InboxError> {
        const SQL: &str = "SELECT (SELECT max(until) FROM sync_report WHERE source = ?1 AND NOT dry_run
                AND ended_at IS NOT NULL AND why IS NULL),
            last.began_age, last.why FROM (SELECT 1) LEFT JOIN (SELECT began_age, why FROM sync_report
                WHERE source = ?1 AND NOT dry_run ORDER BY id DESC LIMIT 1) last";
        let now = self.clock.now();
        self.readers
            .read(move |db| {
                Ok(db.prepare_cached(SQL)?.query_row([source], |row| {
                    let began: Option<i64> = row.get(1)?;
                    Ok(Synced {
                        until: rows::moment_or_null(row, 0)?,
                        began_ago: began.map(|began| now.saturating_sub(began)),
                        failed: row.get(2)?,
                    })
                })?)
            })
            .await
    }

    /// Returns how many items of a source that its provider listed for a time were added, and how many can't be
    /// recovered; `None` if no sync looked at the whole of that time.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn recovered_between(
        &self,
        source: i64,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<Option<(u64, u64)>, InboxError> {
        const LOOKED: &str = "SELECT 1 FROM sync_report WHERE source = ?1 AND since <= ?2 AND until >= ?3
            AND ended_at IS NOT NULL AND why IS NULL AND NOT dry_run";
        const SQL: &str = "SELECT count(*) FILTER (WHERE outcome = 1), count(*) FILTER (WHERE outcome = 3)
            FROM listed WHERE source = ?1 AND at >= ?2 AND at < ?3";
        let values = (source, since.as_micros(), until.as_micros());
        self.readers
            .read(move |db| {
                if !db.prepare_cached(LOOKED)?.exists(values)? {
                    return Ok(None);
                }
                let found =
                    db.prepare_cached(SQL)?.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
                Ok(Some(found))
            })
            .await
    }
}

fn one(db: &Connection, which: &str, value: i64) -> Result<SyncReport, InboxError> {
    let sql = format!("{SELECT} WHERE {which}");
    let found = db.prepare_cached(&sql)?.query_row([value], report).optional()?;
    found.ok_or(InboxError::UnknownReport(value))
}

fn report(row: &Row<'_>) -> rusqlite::Result<SyncReport> {
    let slug: String = row.get(1)?;
    Ok(SyncReport {
        id: row.get(0)?,
        source: slug.parse().map_err(|_| rows::corrupt(1, "source"))?,
        job: row.get(2)?,
        since: rows::moment(row, 3)?,
        until: rows::moment(row, 4)?,
        dry_run: row.get(5)?,
        began_at: rows::moment(row, 6)?,
        ended_at: rows::moment_or_null(row, 7)?,
        why: row.get(8)?,
        checked: row.get(9)?,
        here: row.get(10)?,
        added: row.get(11)?,
        missing: row.get(12)?,
        lost: row.get(13)?,
        kept: row.get(14)?,
    })
}
