//! Jobs as they are stored: read to be shown and to be run.

use hookmitt_event::{Actor, EventId, JobResult, JobState, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{Inbox, InboxError, rows};

/// What somebody asks for that takes long.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// The name of its kind.
    pub kind: &'static str,
    /// What is asked for, as JSON. It must hold no secret.
    pub asked: serde_json::Value,
}

/// A job.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its number.
    pub id: i64,
    /// The name of its kind.
    pub kind: String,
    /// What was asked for.
    pub asked: serde_json::Value,
    /// Who asked for it.
    pub asked_by: Actor,
    /// How far it is.
    pub state: JobState,
    /// The highest number of an event when it was asked for.
    pub top: i64,
    /// Where it goes on, as its kind counts; `None` at its beginning.
    pub position: Option<i64>,
    /// How many are done, those that failed included.
    pub done: u64,
    /// How many there are; `None` while they aren't counted.
    pub total: Option<u64>,
    /// How many failed.
    pub failed: u64,
    /// What it has changed so far.
    pub result: JobResult,
    /// Why the job as a whole failed.
    pub why: Option<String>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it began to run, the last time that it did.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// A page of jobs, newest first.
#[derive(Clone, Debug)]
pub struct JobPage {
    /// The jobs.
    pub items: Vec<Job>,
    /// The cursor for the next, older page; `None` at the end.
    pub next: Option<i64>,
}

/// One thing of a job that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFailure {
    /// The failure's place among those of its job, from 1.
    pub n: i64,
    /// The event.
    pub event: EventId,
    /// The event's sequence number; `None` if it was gone.
    pub seq: Option<i64>,
    /// Why it failed, in words.
    pub why: String,
}

/// How long a job counts as recent after its end, in microseconds of store time.
const RECENT: i64 = 10_000_000;

impl Inbox {
    /// Returns a job.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownJob`] if there is none of that number.
    pub async fn job(&self, id: i64) -> Result<Job, InboxError> {
        self.readers.read(move |db| job(db, id)).await
    }

    /// Returns the jobs in a state, or in any, whose numbers are below `cursor`, newest first, at most `limit`.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn jobs(
        &self,
        state: Option<JobState>,
        cursor: Option<i64>,
        limit: u32,
    ) -> Result<JobPage, InboxError> {
        let sql = format!(
            "{SELECT} WHERE id < coalesce(?1, id + 1) AND state = coalesce(?2, state) ORDER BY id DESC LIMIT ?3"
        );
        let state = state.map(|state| state as i64);
        let limit = limit as usize;
        self.readers
            .read(move |db| {
                let mut select = db.prepare_cached(&sql)?;
                let found = select.query_map(params![cursor, state, limit + 1], read)?;
                let mut items: Vec<_> = found.collect::<Result<_, _>>()?;
                let more = items.len() > limit;
                items.truncate(limit);
                let next = items.last().filter(|_| more).map(|job| job.id);
                Ok(JobPage { items, next })
            })
            .await
    }

    /// Returns the numbers of the jobs that wait, run, or ended within the last 10 seconds, with their states.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn recent_jobs(&self) -> Result<Vec<(i64, JobState)>, InboxError> {
        const SQL: &str = "SELECT id, state FROM job WHERE state < 2 UNION ALL
            SELECT id, state FROM job WHERE state >= 2 AND ended_age > ?1";
        let since = self.clock.now().saturating_sub(RECENT);
        let read = |row: &Row<'_>| Ok((row.get(0)?, state(row, 1)?));
        self.readers
            .read(move |db| {
                Ok(db.prepare_cached(SQL)?.query_map([since], read)?.collect::<Result<_, _>>()?)
            })
            .await
    }

    /// Returns the failures of a job after one of them, in order, at most `limit`. Only the first 10,000 are kept.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownJob`] if there is no such job.
    pub async fn job_failures(&self, id: i64, after: i64, limit: u32) -> Result<Vec<JobFailure>, InboxError> {
        const SQL: &str =
            "SELECT n, event, seq, why FROM job_failure WHERE job = ?1 AND n > ?2 ORDER BY n LIMIT ?3";
        let read = |row: &Row<'_>| {
            Ok(JobFailure { n: row.get(0)?, event: rows::id(row, 1)?, seq: row.get(2)?, why: row.get(3)? })
        };
        self.readers
            .read(move |db| {
                job(db, id)?;
                let mut select = db.prepare_cached(SQL)?;
                let found = select.query_map(params![id, after, limit], read)?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }
}

/// Selects all of a job.
const SELECT: &str =
    "SELECT id, kind, asked, asked_by, state, top, position, done, total, failed, result, why,
    created_at, started_at, ended_at FROM job";

/// Returns a job.
pub(crate) fn job(db: &Connection, id: i64) -> Result<Job, InboxError> {
    let found = db.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?.query_row([id], read).optional()?;
    found.ok_or(InboxError::UnknownJob(id))
}

/// Reads every job.
pub(crate) fn all_jobs(db: &Connection) -> Result<(), InboxError> {
    let mut select = db.prepare_cached(SELECT)?;
    let mut jobs = select.query_map([], read)?;
    Ok(jobs.try_for_each(|job| job.map(drop))?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Job> {
    let parsed =
        |column, text: String| serde_json::from_str(&text).map_err(|_| rows::corrupt(column, "JSON"));
    let asked_by: String = row.get(3)?;
    let result = serde_json::from_str(&row.get::<_, String>(10)?).map_err(|_| rows::corrupt(10, "result"))?;
    Ok(Job {
        id: row.get(0)?,
        kind: row.get(1)?,
        asked: parsed(2, row.get(2)?)?,
        asked_by: asked_by.parse().map_err(|_| rows::corrupt(3, "actor"))?,
        state: state(row, 4)?,
        top: row.get(5)?,
        position: row.get(6)?,
        done: row.get(7)?,
        total: row.get(8)?,
        failed: row.get(9)?,
        result,
        why: row.get(11)?,
        created_at: rows::moment(row, 12)?,
        started_at: rows::moment_or_null(row, 13)?,
        ended_at: rows::moment_or_null(row, 14)?,
    })
}

fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<JobState> {
    let place: usize = row.get(column)?;
    JobState::ALL.get(place).map(|(state, _)| *state).ok_or_else(|| rows::corrupt(column, "job state"))
}
