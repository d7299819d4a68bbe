//! Syncs by itself: each source every hour, or as it is set, and soon after something may have been missed.

use std::time::Duration;

use hookmitt_event::{Actor, Slug};
use hookmitt_inbox::acting;
use tokio::sync::{broadcast::error::RecvError, watch};

use super::{
    asked::{AskedBy, SyncAsked},
    hurried::USUAL,
    people::Sync,
    set_up::lacks,
};
use crate::{Change, EngineError};

/// How often the schedule is looked at.
const LOOK: Duration = Duration::from_secs(20);

/// How many seconds pass at least, however much is missed.
const LEAST: u32 = 60;

/// Notes which sources may have missed something: a tunnel was cut, or a request was refused.
pub(super) async fn watch_for_gaps(sync: Sync) {
    let base = sync.syncing.base();
    let (stop, mut changes) = (base.tasks.stop.clone(), base.live.watch());
    loop {
        match stop.run_until_cancelled(changes.recv()).await {
            Some(Ok(Change::Gap(gap))) => {
                let through = sync.syncing.settings.sources_through(gap.tunnel_id).await.unwrap_or_default();
                through.iter().for_each(|known| sync.hurried.add(known.source.slug.clone()));
            }
            Some(Ok(Change::Refused(refused))) => {
                // A name that nobody knows, or a bad request, is no event of this source's provider.
                let is_ours = matches!(refused.status, 413 | 431 | 500..);
                let slug = refused.source.as_deref().filter(|_| is_ours).and_then(|name| name.parse().ok());
                slug.into_iter().for_each(|slug| sync.hurried.add(slug));
            }
            Some(Ok(_) | Err(RecvError::Lagged(_))) => {}
            Some(Err(RecvError::Closed)) | None => return,
        }
    }
}

/// Asks for syncs that are due, one at a time, whenever this process is the one that delivers.
pub(super) async fn work(sync: Sync, mut owner: watch::Receiver<bool>) {
    let stop = sync.syncing.base().tasks.stop.clone();
    let mut settings = sync.syncing.settings.reloads();
    let mut asked = None;
    loop {
        let wait = async {
            drop(owner.wait_for(|owner| *owner).await);
            // A key may have been set.
            let _passed = tokio::time::timeout(LOOK, settings.changed()).await;
        };
        if stop.run_until_cancelled(wait).await.is_none() {
            return;
        }
        match look(&sync, asked).await {
            Ok(now) => asked = now,
            Err(error) => tracing::warn!(%error, "can't see which sources are to be synced"),
        }
    }
}

/// Asks for the sync that is due, unless the last one still runs. Returns its job.
async fn look(sync: &Sync, last: Option<i64>) -> Result<Option<i64>, EngineError> {
    if let Some(last) = last
        && sync.jobs.one(last).await.is_ok_and(|job| job.state.is_open())
    {
        return Ok(Some(last));
    }
    for slug in sync.syncing.keys.places().await?.into_keys() {
        if is_due(sync, &slug).await? {
            sync.hurried.remove(&slug);
            let asked = SyncAsked {
                source: slug,
                since: None,
                until: None,
                dry_run: false,
                deliver: None,
                by: AskedBy::Schedule,
            };
            return Ok(Some(acting(Actor::Schedule, sync.add(asked)).await?.id));
        }
    }
    Ok(None)
}

/// Whether a source with a key is to be synced now.
async fn is_due(sync: &Sync, slug: &Slug) -> Result<bool, EngineError> {
    let Ok(known) = sync.syncing.settings.source(slug) else { return Ok(false) };
    let every = known.source.sync.every_s.unwrap_or(USUAL);
    if every == 0 || lacks(&known, true).is_some() {
        return Ok(false);
    }
    let Some(ago) = sync.syncing.base().inbox.synced(known.source.row).await?.began_ago else {
        return Ok(true);
    };
    let ago = ago / 1_000_000;
    if sync.hurried.has(slug) {
        return Ok(ago >= i64::from(LEAST));
    }
    Ok(ago >= i64::from(jittered(every.max(LEAST), known.source.row)))
}

/// Returns the seconds between two syncs of a source, so that those of several sources, and of several people at one
/// provider, don't come at once.
fn jittered(every: u32, row: i64) -> u32 {
    let spread = row.wrapping_mul(0x9E37_79B9).rem_euclid(100);
    every + u32::try_from(spread).unwrap_or(0) * (every / 1_000)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn sources_are_not_synced_all_at_once() {
        let spread: HashSet<u32> = (1..=20).map(|row| jittered(3_600, row)).collect();
        assert!(spread.len() > 10, "{spread:?}");
        assert!(spread.iter().all(|every| (3_600..=3_960).contains(every)), "{spread:?}");
    }
}
