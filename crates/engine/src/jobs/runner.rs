//! Runs jobs while this process is the one that delivers: two at a time, those that have waited longest first.

use std::{collections::HashMap, sync::Arc, time::Duration};

use hookmitt_event::{Explain as _, JobState};
use hookmitt_inbox::{Job, acting};
use tokio::{
    sync::watch,
    task::{Id, JoinError, JoinSet},
};
use tokio_util::sync::CancellationToken;

use super::{
    kind::JobKind,
    parts::Parts,
    run::{Run, was_ended},
};
use crate::{Change, EngineError};

/// How many jobs run at once.
const AT_ONCE: usize = 2;

/// How often we look for jobs that are old enough to be forgotten.
const FORGET_EVERY: Duration = Duration::from_secs(60 * 60);

/// Runs jobs until the stop.
pub(super) async fn work(parts: Arc<Parts>) {
    let (stop, mut owner) = (parts.base.tasks.stop.clone(), parts.owner.clone());
    loop {
        let became = stop.run_until_cancelled(owner.wait_for(|owner| *owner)).await;
        if !matches!(became, Some(Ok(_))) {
            return;
        }
        drop(became);
        let mut shift = Shift::new(Arc::clone(&parts), stop.child_token());
        shift.work(&mut owner).await;
        shift.end().await;
    }
}

/// The time in which this process delivers, and the jobs that run in it.
struct Shift {
    parts: Arc<Parts>,
    running: JoinSet<Result<(), EngineError>>,
    jobs: HashMap<Id, i64>,
    stop: CancellationToken,
}

impl Shift {
    fn new(parts: Arc<Parts>, stop: CancellationToken) -> Self {
        Self { parts, running: JoinSet::new(), jobs: HashMap::new(), stop }
    }

    async fn work(&mut self, owner: &mut watch::Receiver<bool>) {
        let (parts, stop) = (Arc::clone(&self.parts), self.stop.clone());
        let mut forget = tokio::time::interval(FORGET_EVERY);
        loop {
            if let Err(error) = self.begin().await {
                tracing::warn!(%error, "can't begin a job");
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = lost(owner) => return,
                () = parts.news.notified() => {}
                _ = forget.tick() => {
                    if let Err(error) = parts.base.inbox.forget_jobs().await {
                        tracing::warn!(%error, "can't forget old jobs");
                    }
                }
                Some(ended) = self.running.join_next_with_id() => self.ended(ended).await,
            }
        }
    }

    /// Begins jobs that wait, as long as there is room.
    async fn begin(&mut self) -> Result<(), EngineError> {
        let inbox = &self.parts.base.inbox;
        while self.running.len() < AT_ONCE
            && inbox.recent_jobs().await?.iter().any(|(_, state)| *state == JobState::Waiting)
            && let Some(job) = inbox.begin_job().await?
        {
            let id = job.id;
            let run = Run::new(Arc::clone(&self.parts), job, self.stop.clone());
            let task = self.running.spawn(go(run));
            self.jobs.insert(task.id(), id);
        }
        Ok(())
    }

    /// Stores how a job ended.
    async fn ended(&mut self, ended: Result<(Id, Result<(), EngineError>), JoinError>) {
        let (task, why) = match ended {
            Ok((task, Ok(()))) => (task, None),
            Ok((task, Err(error))) if was_ended(&error) => {
                self.jobs.remove(&task).into_iter().for_each(|id| self.parts.base.announce(Change::Job(id)));
                return;
            }
            Ok((task, Err(error))) => (task, Some(said(&error))),
            Err(error) => {
                tracing::error!(%error, "a job failed");
                self.parts.base.tasks.note_fault("a job");
                (error.id(), Some("an error in hookmitt; see its log".to_owned()))
            }
        };
        let Some(id) = self.jobs.remove(&task) else { return };
        if let Err(error) = self.parts.base.inbox.end_job(id, why).await {
            tracing::warn!(%error, "can't store that a job has ended");
        }
        self.parts.base.announce(Change::Job(id));
    }

    /// Waits for the steps that are being taken. If the engine stops, its jobs are stopped; if another process has
    /// taken over, that one does it.
    async fn end(mut self) {
        self.stop.cancel();
        while let Some(ended) = self.running.join_next_with_id().await {
            self.ended(ended).await;
        }
        if !self.parts.base.tasks.stop.is_cancelled() {
            return;
        }
        match self.parts.base.inbox.stop_jobs().await {
            Ok(stopped) => stopped.into_iter().for_each(|id| self.parts.base.announce(Change::Job(id))),
            Err(error) => tracing::warn!(%error, "can't store that jobs were stopped"),
        }
    }
}

/// Waits until this process no longer delivers.
async fn lost(owner: &mut watch::Receiver<bool>) {
    let _until = owner.wait_for(|owner| !*owner).await;
}

async fn go(mut run: Run) -> Result<(), EngineError> {
    let Job { id, kind, asked_by, .. } = &run.job;
    tracing::debug!(job = id, kind, "a job begins");
    acting(*asked_by, JobKind::go(&mut run)).await
}

/// Returns an error with its hint, to be shown with the job.
fn said(error: &EngineError) -> String {
    error.hint().map_or_else(|| error.to_string(), |hint| format!("{error}: {hint}"))
}
