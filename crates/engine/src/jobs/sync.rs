//! Syncs a source with its provider.

use std::sync::Arc;

use hookmitt_event::JobResult;

use super::run::{Run, was_ended};
use crate::{
    EngineError,
    sync::{Progress, SyncAsked, Syncing},
};

pub(super) async fn go(run: &mut Run, asked: SyncAsked) -> Result<(), EngineError> {
    let syncing = Arc::clone(&run.parts.syncing);
    let _alone = run.unless_ended(syncing.alone(&asked.source)).await?;
    let report = run.unless_ended(syncing.begin(run.job.id, &asked)).await?;
    let before = run.job.result;
    let synced = goes(run, &syncing, &asked, &report, before).await;
    match &synced {
        Err(EngineError::Stopping) => {
            let stopped =
                EngineError::BadInput("hookmitt was stopped; `hookmitt sync` begins anew".to_owned());
            let _inbox_is_closed = syncing.end(&report, Some(&stopped)).await;
        }
        Err(error) if was_ended(error) => {
            let cancelled = EngineError::BadInput("it was cancelled".to_owned());
            syncing.end(&report, Some(&cancelled)).await?;
        }
        Err(error) => drop(syncing.end(&report, Some(error)).await?),
        Ok(()) => drop(syncing.end(&report, None).await?),
    }
    synced
}

async fn goes(
    run: &mut Run,
    syncing: &Syncing,
    asked: &SyncAsked,
    report: &hookmitt_inbox::SyncReport,
    before: JobResult,
) -> Result<(), EngineError> {
    let (told, mut tells) = tokio::sync::mpsc::channel(1);
    let work = syncing.run(asked, report, told);
    tokio::pin!(work);
    loop {
        let progress = tokio::select! {
            done = &mut work => {
                let done = done?;
                return run.note((done.done, done.total), result(before, done), true).await;
            }
            why = run.ended() => return Err(why),
            Some(progress) = tells.recv() => progress,
        };
        run.note((progress.done, progress.total), result(before, progress), false).await?;
    }
}

fn result(before: JobResult, progress: Progress) -> JobResult {
    JobResult { events: before.events + progress.added, deliveries: before.deliveries + progress.deliveries }
}
