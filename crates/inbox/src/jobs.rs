//! The life of a job: asked for, begun, ended, resumed, and forgotten after a time.

use std::sync::atomic::Ordering;

use hookmitt_event::{Actor, JobResult, JobState};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    Inbox, InboxError,
    batch::Batch,
    job_rows::{Job, NewJob, job},
    now::Now,
    owner,
};

/// How many jobs may wait.
const MOST_WAITING: u32 = 100;

/// How many ended jobs are kept.
const MOST_ENDED: u32 = 1_000;

/// How long an ended job is kept, in microseconds of store time.
const KEPT: i64 = 7 * 24 * 60 * 60 * 1_000_000;

/// How many failures of jobs that are forgotten are deleted in one commit.
const AT_ONCE: u32 = 500;

impl Inbox {
    /// Stores what somebody asks for, as a job that waits. Whoever names nobody for whom they act is a program.
    ///
    /// # Errors
    /// Fails with [`InboxError::TooManyJobs`] if 100 jobs wait.
    pub async fn add_job(&self, new: NewJob) -> Result<Job, InboxError> {
        const SQL: &str = "INSERT INTO job (kind, asked, asked_by, top, created_at)
            SELECT ?1, ?2, ?3, coalesce(max(seq), 0), ?4 FROM event RETURNING id";
        let NewJob { kind, asked } = new;
        let asked = asked.to_string();
        self.write(move |batch| {
            ensure_room(batch.db)?;
            let asked_by = batch.by.unwrap_or(Actor::Api);
            let values = params![kind, asked, asked_by.as_str(), batch.now.wall];
            let id = batch.db.prepare_cached(SQL)?.query_row(values, |row| row.get(0))?;
            job(batch.db, id)
        })
        .await
    }

    /// Begins the job that has waited longest, and returns it. `None` if none waits.
    ///
    /// # Errors
    /// Fails with [`InboxError::NotOwner`] if another process delivers.
    pub async fn begin_job(&self) -> Result<Option<Job>, InboxError> {
        const SQL: &str = "UPDATE job SET state = 1, started_at = ?1
            WHERE id = (SELECT min(id) FROM job WHERE state < 2 AND state = 0) RETURNING id";
        let token = self.owner.load(Ordering::Acquire);
        self.write(move |batch| {
            owner::check(batch.db, token)?;
            let begun: Option<i64> =
                batch.db.prepare_cached(SQL)?.query_row([batch.now.wall], |row| row.get(0)).optional()?;
            begun.map(|id| job(batch.db, id)).transpose()
        })
        .await
    }

    /// Stores how many there are for a job.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn set_job_total(&self, id: i64, total: u64) -> Result<(), InboxError> {
        const SQL: &str = "UPDATE job SET total = ?2 WHERE id = ?1";
        self.write(move |batch| {
            batch.db.prepare_cached(SQL)?.execute(params![id, total])?;
            Ok(())
        })
        .await
    }

    /// Stores how far a job is that changes nothing in the inbox.
    ///
    /// # Errors
    /// Fails with [`InboxError::JobEnded`] if it doesn't run, or with [`InboxError::NotOwner`] if another process
    /// delivers.
    pub async fn note_job(
        &self,
        id: i64,
        done: u64,
        total: Option<u64>,
        result: JobResult,
    ) -> Result<(), InboxError> {
        const SQL: &str = "UPDATE job SET done = ?2, total = ?3, result = ?4 WHERE id = ?1";
        let token = self.owner.load(Ordering::Acquire);
        let result = serde_json::to_string(&result).unwrap_or_default();
        self.write(move |batch| {
            owner::check(batch.db, token)?;
            if job(batch.db, id)?.state != JobState::Running {
                return Err(InboxError::JobEnded);
            }
            batch.db.prepare_cached(SQL)?.execute(params![id, done, total, result])?;
            Ok(())
        })
        .await
    }

    /// Ends a job that runs as done, or as failed if `why` says so. Returns whether it ran.
    ///
    /// # Errors
    /// Fails with [`InboxError::NotOwner`] if another process delivers.
    pub async fn end_job(&self, id: i64, why: Option<String>) -> Result<bool, InboxError> {
        let token = self.owner.load(Ordering::Acquire);
        self.write(move |batch| {
            owner::check(batch.db, token)?;
            let state = if why.is_some() { JobState::Failed } else { JobState::Done };
            let runs = job(batch.db, id)?.state == JobState::Running;
            if runs {
                end(batch.db, id, state, why.as_deref(), batch.now)?;
            }
            Ok(runs)
        })
        .await
    }

    /// Cancels a job that waits or runs, and returns it. One that has ended stays as it is.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownJob`] if there is none of that number.
    pub async fn cancel_job(&self, id: i64) -> Result<Job, InboxError> {
        self.write(move |batch| {
            if job(batch.db, id)?.state.is_open() {
                end(batch.db, id, JobState::Cancelled, None, batch.now)?;
            }
            job(batch.db, id)
        })
        .await
    }

    /// Makes a job wait again that ended before it was done, and returns it. It goes on where it ended.
    ///
    /// # Errors
    /// Fails with [`InboxError::NotResumable`] if it is done or hasn't ended, or with [`InboxError::TooManyJobs`].
    pub async fn resume_job(&self, id: i64) -> Result<Job, InboxError> {
        const SQL: &str = "UPDATE job SET state = 0, why = NULL, ended_at = NULL, ended_age = NULL,
            asked_by = coalesce(?2, asked_by) WHERE id = ?1";
        self.write(move |batch| {
            let state = job(batch.db, id)?.state;
            if !state.can_go_on() {
                return Err(InboxError::NotResumable { id, state });
            }
            ensure_room(batch.db)?;
            let by = batch.by.map(Actor::as_str); // what it does from now on is done for whoever resumes it
            batch.db.prepare_cached(SQL)?.execute(params![id, by])?;
            job(batch.db, id)
        })
        .await
    }

    /// Stops all jobs that wait or run. A process calls this when it becomes the one that delivers, for what its
    /// predecessor left, and when it ends. Returns their numbers.
    ///
    /// # Errors
    /// Fails with [`InboxError::NotOwner`] if another process delivers.
    pub async fn stop_jobs(&self) -> Result<Vec<i64>, InboxError> {
        const OPEN: &str = "SELECT id FROM job WHERE state < 2 ORDER BY id";
        let token = self.owner.load(Ordering::Acquire);
        self.write(move |batch| {
            owner::check(batch.db, token)?;
            let mut select = batch.db.prepare_cached(OPEN)?;
            let open: Vec<i64> = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            for id in &open {
                end(batch.db, *id, JobState::Stopped, None, batch.now)?;
            }
            Ok(open)
        })
        .await
    }

    /// Forgets jobs that ended more than 7 days ago, and all but the last 1,000 that ended.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn forget_jobs(&self) -> Result<(), InboxError> {
        while self.write(forget_some).await? {}
        Ok(())
    }
}

/// Fails if as many jobs wait as may.
fn ensure_room(db: &Connection) -> Result<(), InboxError> {
    const SQL: &str = "SELECT count(*) FROM job WHERE state < 2 AND state = 0";
    let waiting: u32 = db.prepare_cached(SQL)?.query_row([], |row| row.get(0))?;
    if waiting >= MOST_WAITING { Err(InboxError::TooManyJobs(waiting)) } else { Ok(()) }
}

fn end(db: &Connection, id: i64, state: JobState, why: Option<&str>, now: Now) -> Result<(), InboxError> {
    const SQL: &str = "UPDATE job SET state = ?2, why = ?3, ended_at = ?4, ended_age = ?5 WHERE id = ?1";
    db.prepare_cached(SQL)?.execute(params![id, state as i64, why, now.wall, now.store])?;
    Ok(())
}

/// Deletes some failures of the oldest job that is to be forgotten; without any, the job. Returns whether there was one.
fn forget_some(batch: &mut Batch<'_>) -> Result<bool, InboxError> {
    const OLD: &str = "SELECT id FROM job WHERE state >= 2 AND (ended_age < ?1 OR ended_age <
        (SELECT ended_age FROM job WHERE state >= 2 ORDER BY ended_age DESC LIMIT 1 OFFSET ?2))
        ORDER BY ended_age LIMIT 1";
    const EMPTY: &str = "DELETE FROM job_failure WHERE job = ?1 AND n <=
        (SELECT min(n) FROM job_failure WHERE job = ?1) + ?2";
    let before = batch.now.store.saturating_sub(KEPT);
    let mut select = batch.db.prepare_cached(OLD)?;
    let old = select.query_row(params![before, MOST_ENDED - 1], |row| row.get::<_, i64>(0)).optional()?;
    let Some(id) = old else { return Ok(false) };
    if batch.db.prepare_cached(EMPTY)?.execute(params![id, AT_ONCE])? == 0 {
        batch.db.prepare_cached("DELETE FROM job WHERE id = ?1")?.execute([id])?;
    }
    Ok(true)
}
