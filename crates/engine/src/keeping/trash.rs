//! The bin, as people use it: events go there, come back, or are deleted for good.

use std::{sync::Arc, time::Duration};

use hookmitt_event::{EventId, Slug, TargetId, Timestamp};
use hookmitt_inbox::{Cleared, Emptied, TrashPage, TrashPlace};
use tokio::sync::Notify;

use crate::{Change, EngineError, base::Base, delivery::Bells, verdicts::Verdicts};

/// How long to wait before another try to truncate a log that somebody reads.
const AGAIN: Duration = Duration::from_secs(1);

/// Moves events to the bin, restores them, and deletes them for good.
#[derive(Clone, Debug)]
pub struct Trash {
    base: Arc<Base>,
    bells: Arc<Bells>,
    verdicts: Arc<Verdicts>,
    /// Told when the log still holds something that was deleted for good.
    untidy: Arc<Notify>,
}

impl Trash {
    pub(crate) fn new(base: Arc<Base>, bells: Arc<Bells>, verdicts: Arc<Verdicts>) -> Self {
        Self { base, bells, verdicts, untidy: Arc::default() }
    }

    /// Puts an event in the bin and ends its waiting deliveries, or restores both. Returns how many deliveries changed.
    ///
    /// # Errors
    /// Fails if the event is unknown.
    pub async fn set_deleted(&self, id: EventId, deleted: bool) -> Result<usize, EngineError> {
        let changed = self.base.inbox.set_deleted(id, deleted.then(|| self.base.now())).await?;
        self.tell(id, &changed);
        if !deleted {
            let source = self.base.inbox.listed(id).await?.event.source;
            self.verdicts.judge_again(id, &source);
        }
        Ok(changed.len())
    }

    /// Announces an event that went into the bin or out of it, and wakes the couriers of the deliveries that changed
    /// with it, because the order may let others pass now.
    pub(crate) fn tell(&self, id: EventId, changed: &[TargetId]) {
        self.base.announce(Change::Event(id));
        changed.iter().for_each(|target| self.bells.wake(*target));
    }

    /// Has a restored event judged again, after waiting for a place in the queue. Events in the bin are left out when a
    /// new secret or key has others judged again.
    pub(crate) async fn judge_in_turn(&self, id: EventId) {
        self.verdicts.judge_in_turn(id).await;
    }

    /// Returns a page of at most `limit` events of the bin, the last deleted first, after a place.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn page(&self, after: Option<TrashPlace>, limit: usize) -> Result<TrashPage, EngineError> {
        Ok(self.base.inbox.trash(after, limit).await?)
    }

    /// Deletes an event of the bin for good. Returns `false` if it stays because it is being sent.
    ///
    /// # Errors
    /// Fails if the event is unknown or not in the bin.
    pub async fn delete_for_good(&self, id: EventId) -> Result<bool, EngineError> {
        let unfinished = Unfinished(&self.untidy);
        let is_gone = self.base.inbox.delete_for_good(id).await?;
        if is_gone {
            self.base.announce(Change::Many(1));
        }
        self.tidy_up().await?;
        unfinished.done();
        Ok(is_gone)
    }

    /// Deletes for good what was deleted before a moment; without one, everything in the bin.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn empty(&self, before: Option<Timestamp>) -> Result<Emptied, EngineError> {
        let before = before.unwrap_or(Timestamp::from_micros(i64::MAX));
        let unfinished = Unfinished(&self.untidy);
        let emptied = self.base.inbox.empty_trash(before).await?;
        self.base.announce(Change::Many(emptied.gone));
        self.tidy_up().await?;
        unfinished.done();
        Ok(emptied)
    }

    /// Moves the events of a source, or those received before a moment, to the bin, but not those that are pinned.
    ///
    /// # Errors
    /// Fails if neither is given, or if the inbox fails.
    pub async fn clear(
        &self,
        source: Option<Slug>,
        until: Option<Timestamp>,
    ) -> Result<Cleared, EngineError> {
        if source.is_none() && until.is_none() {
            return Err(EngineError::BadInput("name a source, a time, or both".to_owned()));
        }
        let cleared = self.base.inbox.clear(source, until, self.base.now()).await?;
        cleared.targets.iter().for_each(|target| self.bells.wake(*target));
        if cleared.events > 0 {
            self.base.announce(Change::Many(cleared.events));
        }
        Ok(cleared)
    }

    /// Gives back what events left that were deleted for good. What somebody still reads is left to the background.
    pub(crate) async fn tidy_up(&self) -> Result<(), EngineError> {
        if !self.base.inbox.give_back().await? {
            self.untidy.notify_one();
        }
        Ok(())
    }

    /// Has the background try again to truncate the log, until the engine stops.
    pub(crate) fn keep_tidy(&self) {
        let (base, untidy) = (Arc::clone(&self.base), Arc::clone(&self.untidy));
        self.base.tasks.keep_going("tidying up after deleting", move || {
            let (base, untidy) = (Arc::clone(&base), Arc::clone(&untidy));
            async move {
                let tidying = async {
                    loop {
                        untidy.notified().await;
                        while !matches!(base.inbox.give_back().await, Ok(true)) {
                            tokio::time::sleep(AGAIN).await;
                        }
                    }
                };
                base.tasks.stop.run_until_cancelled(tidying).await.unwrap_or(())
            }
        });
    }
}

/// Leaves tidying up to the background if the caller fails or gives up in the middle.
struct Unfinished<'a>(&'a Notify);

impl Unfinished<'_> {
    fn done(self) {
        std::mem::forget(self);
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}
