//! A job while it runs.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hookmitt_event::{EventId, JobResult, JobState};
use hookmitt_inbox::{Act, InboxError, Job, Step, Stepped};
use tokio_util::sync::CancellationToken;

use super::parts::Parts;
use crate::{Change, EngineError};

/// How often at most a job's progress is announced, and how often a job that reads for long looks whether it was ended.
const EVERY: Duration = Duration::from_millis(200);

/// A job that runs.
pub(super) struct Run {
    pub(super) parts: Arc<Parts>,
    /// The job as it was when it began, with its present position and total.
    pub(super) job: Job,
    /// The entry in the audit trail for what this run has changed.
    entry: Option<i64>,
    stop: CancellationToken,
    told: Instant,
}

impl Run {
    pub(super) fn new(parts: Arc<Parts>, job: Job, stop: CancellationToken) -> Self {
        parts.base.announce(Change::Job(job.id));
        Self { parts, job, entry: None, stop, told: Instant::now() }
    }

    /// Takes a step, and announces it if it is time.
    pub(super) async fn step(
        &mut self,
        act: Act,
        events: Arc<[(i64, EventId)]>,
    ) -> Result<Stepped, EngineError> {
        self.goes_on()?;
        let step = Step { job: self.job.id, act, events, entry: self.entry };
        let stepped = self.parts.base.inbox.step(step).await?;
        self.entry = stepped.entry;
        self.tell();
        Ok(stepped)
    }

    /// Fails if this process no longer runs jobs.
    pub(super) fn goes_on(&self) -> Result<(), EngineError> {
        if self.stop.is_cancelled() { Err(EngineError::Stopping) } else { Ok(()) }
    }

    /// Announces how far the job is, if it is time.
    pub(super) fn tell(&mut self) {
        if self.told.elapsed() >= EVERY {
            self.told = Instant::now();
            self.parts.base.announce(Change::Job(self.job.id));
        }
    }

    /// Stores how far a job is that changes nothing in the inbox, if it is time or `must` is set.
    pub(super) async fn note(
        &mut self,
        (done, total): (u64, Option<u64>),
        result: JobResult,
        must: bool,
    ) -> Result<(), EngineError> {
        self.goes_on()?;
        if must || self.told.elapsed() >= EVERY {
            self.told = Instant::now();
            self.parts.base.inbox.note_job(self.job.id, done, total, result).await?;
            self.parts.base.announce(Change::Job(self.job.id));
        }
        Ok(())
    }

    /// Stores how many there are.
    pub(super) async fn set_total(&mut self, total: u64) -> Result<(), EngineError> {
        self.parts.base.inbox.set_job_total(self.job.id, total).await?;
        self.job.total = Some(total);
        self.parts.base.announce(Change::Job(self.job.id));
        Ok(())
    }

    /// Reads something that may take long, unless the job is ended meanwhile.
    pub(super) async fn unless_ended<T>(
        &self,
        read: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(EngineError::Stopping),
            read = read => read,
            why = self.ended() => Err(why),
        }
    }

    /// Waits until the job no longer runs, as the inbox knows it.
    pub(super) async fn ended(&self) -> EngineError {
        loop {
            tokio::time::sleep(EVERY).await;
            match self.parts.base.inbox.job(self.job.id).await {
                Ok(job) if job.state == JobState::Running => {}
                Ok(_) => return InboxError::JobEnded.into(),
                Err(error) => return error.into(),
            }
        }
    }
}

/// Whether a job broke off because it was ended from outside, which is stored already or will be.
pub(super) const fn was_ended(error: &EngineError) -> bool {
    matches!(
        error,
        EngineError::Stopping
            | EngineError::Inbox(InboxError::JobEnded | InboxError::NotOwner | InboxError::Closed)
    )
}
