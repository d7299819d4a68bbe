//! The jobs, as people ask for them and see them.

use std::sync::{Arc, Mutex, PoisonError};

use hookmitt_event::{JobState, Timestamp};
use hookmitt_inbox::{InboxError, Job, JobFailure, JobPage, NewJob};
use serde::Serialize;
use tokio::sync::{Notify, watch};

use super::{
    asked::{BackupAsked, Which},
    kind::JobKind,
    parts::Parts,
    runner,
};
use crate::{
    Change, EngineError, base::Base, keeping::Trash, replay::Retries, search::Search, sync::Syncing,
};

/// What takes long and was asked for.
#[derive(Clone, Debug)]
pub struct Jobs {
    parts: Arc<Parts>,
    /// The jobs that waited, ran or had just ended at the last look, with their states.
    seen: Arc<Mutex<Vec<(i64, JobState)>>>,
}

impl Jobs {
    pub(crate) fn new(
        base: Arc<Base>,
        (search, trash, retries): (&Search, &Trash, &Retries),
        syncing: Arc<Syncing>,
        owner: watch::Receiver<bool>,
    ) -> Self {
        let (search, trash, retries) = (search.clone(), trash.clone(), retries.clone());
        let parts = Parts { base, search, trash, retries, syncing, owner, news: Notify::new() };
        Self { parts: Arc::new(parts), seen: Arc::default() }
    }

    /// Asks for something as a job, on behalf of whom the running task acts for. It begins as soon as the process that
    /// delivers has room for it.
    ///
    /// # Errors
    /// Fails if no event is meant, or with [`InboxError::TooManyJobs`] if 100 jobs wait.
    pub async fn ask(&self, kind: JobKind, which: &Which) -> Result<Job, EngineError> {
        which.check(self.parts.base.now())?;
        self.add(kind, which).await
    }

    /// Asks for a backup as a job. It is written into an empty file that the asker has made.
    ///
    /// # Errors
    /// Fails with [`InboxError::TooManyJobs`] if 100 jobs wait.
    pub async fn ask_for_backup(&self, asked: &BackupAsked) -> Result<Job, EngineError> {
        self.add(JobKind::Backup, asked).await
    }

    /// Asks for the bin to be emptied, as a job: of all that is in it now, or of what was deleted before a moment.
    ///
    /// # Errors
    /// Fails with [`InboxError::TooManyJobs`] if 100 jobs wait.
    pub async fn empty_trash(&self, before: Option<Timestamp>) -> Result<Job, EngineError> {
        self.add(JobKind::Empty, &self.parts.base.inbox.bin_now(before)).await
    }

    /// Asks for what has been kept for long enough to be deleted now, as a job.
    ///
    /// # Errors
    /// Fails with [`InboxError::TooManyJobs`] if 100 jobs wait.
    pub async fn prune(&self) -> Result<Job, EngineError> {
        self.add(JobKind::Prune, &serde_json::json!({})).await
    }

    pub(crate) async fn add(&self, kind: JobKind, asked: &impl Serialize) -> Result<Job, EngineError> {
        let asked = serde_json::to_value(asked).map_err(|error| EngineError::BadInput(error.to_string()))?;
        let new = NewJob { kind: kind.as_str(), asked };
        Ok(self.told(self.parts.base.inbox.add_job(new).await?))
    }

    /// Asks that what a job deleted is restored, as a job.
    ///
    /// # Errors
    /// Fails if there is no such job, if it deletes nothing or hasn't ended, or with [`InboxError::TooManyJobs`].
    pub async fn undo(&self, id: i64) -> Result<Job, EngineError> {
        let done = self.one(id).await?;
        if done.kind != JobKind::Delete.as_str() {
            return Err(EngineError::BadInput(format!("job {id} deletes nothing that could be restored")));
        }
        if done.state.is_open() {
            return Err(EngineError::BadInput(format!("job {id} still runs: cancel it first")));
        }
        self.ask(JobKind::Restore, &Which::DeletedBy { job: id }).await
    }

    /// Returns a job.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownJob`] if there is none of that number.
    pub async fn one(&self, id: i64) -> Result<Job, InboxError> {
        self.parts.base.inbox.job(id).await
    }

    /// Returns the jobs in a state, or in any, whose numbers are below `cursor`, newest first, at most `limit`.
    ///
    /// # Errors
    /// Fails if the inbox does.
    pub async fn page(
        &self,
        state: Option<JobState>,
        cursor: Option<i64>,
        limit: u32,
    ) -> Result<JobPage, InboxError> {
        self.parts.base.inbox.jobs(state, cursor, limit).await
    }

    /// Returns the failures of a job after one of them, at most `limit`.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownJob`] if there is no such job.
    pub async fn failures(&self, id: i64, after: i64, limit: u32) -> Result<Vec<JobFailure>, InboxError> {
        self.parts.base.inbox.job_failures(id, after, limit).await
    }

    /// Cancels a job. What it has done stays.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownJob`] if there is none of that number.
    pub async fn cancel(&self, id: i64) -> Result<Job, InboxError> {
        Ok(self.told(self.parts.base.inbox.cancel_job(id).await?))
    }

    /// Goes on with a job that was stopped or cancelled, or that failed.
    ///
    /// # Errors
    /// Fails with [`InboxError::NotResumable`] if it is done or hasn't ended.
    pub async fn resume(&self, id: i64) -> Result<Job, InboxError> {
        Ok(self.told(self.parts.base.inbox.resume_job(id).await?))
    }

    fn told(&self, job: Job) -> Job {
        self.parts.base.announce(Change::Job(job.id));
        self.parts.news.notify_one();
        job
    }

    /// Runs jobs in the background whenever this process is the one that delivers.
    pub(crate) fn run(&self) {
        let parts = Arc::clone(&self.parts);
        let work = move || {
            let parts = Arc::clone(&parts);
            async move { runner::work(parts).await }
        };
        self.parts.base.tasks.keep_going("running jobs", work);
    }

    /// Looks at what other processes did with jobs: begins what they ask for, or shows how far theirs are.
    pub(crate) async fn look(&self) -> Result<(), InboxError> {
        let Parts { base, owner, news, .. } = &*self.parts;
        let now = base.inbox.recent_jobs().await?;
        let before =
            std::mem::replace(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner), now.clone());
        let runs_here = *owner.borrow();
        let moved = |(id, state): &(i64, JobState)| {
            !before.contains(&(*id, *state)) || *state == JobState::Running && !runs_here
        };
        for (id, _) in now.iter().filter(|job| moved(job)) {
            base.announce(Change::Job(*id));
        }
        if now.iter().any(|(_, state)| *state == JobState::Waiting) {
            news.notify_one();
        }
        Ok(())
    }
}
