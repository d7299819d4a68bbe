//! The bin, as people use it: events go there, come back, or are deleted for good.

use std::{sync::Arc, time::Duration};

use hookmitt_event::{EventId, TargetId};
use hookmitt_inbox::{TrashPage, TrashPlace};
use tokio::sync::{Notify, watch};

use crate::{Change, EngineError, base::Base, delivery::Bells, verdicts::Verdicts};

/// How long to wait before the log is cut again, whether somebody read it or more is deleted meanwhile.
const AGAIN: Duration = Duration::from_secs(1);

/// For how long the stop waits at most for what was just deleted. The next process that delivers does the rest.
const AT_STOP: Duration = Duration::from_secs(5);

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
        let _tidied = TidiedLater(&self.untidy);
        let is_gone = self.base.inbox.delete_for_good(id).await?;
        if is_gone {
            self.base.announce(Change::Many(1));
        }
        Ok(is_gone)
    }

    /// Has the background give back what events left that were deleted for good.
    pub(crate) fn tidy_up(&self) {
        self.untidy.notify_one();
    }

    /// Has the background give back what deleted events leave, until the engine stops: at once, but not more than once a
    /// second, so that deletes in a row share it. When this process begins to deliver it does so, too, because the one
    /// before may have been killed.
    pub(crate) fn keep_tidy(&self, owner: &watch::Receiver<bool>) {
        let (base, untidy, owner) = (Arc::clone(&self.base), Arc::clone(&self.untidy), owner.clone());
        self.base.tasks.keep_going("tidying up after deleting", move || {
            tidy(Arc::clone(&base), Arc::clone(&untidy), owner.clone())
        });
    }
}

/// Gives back what deleted events leave. At the stop it does so once more if something was just deleted, because a
/// command that deletes without an app ends at once.
async fn tidy(base: Arc<Base>, untidy: Arc<Notify>, mut owner: watch::Receiver<bool>) {
    let stop = base.tasks.stop.clone();
    let (mut is_untidy, mut delivers) = (false, false);
    loop {
        if !is_untidy {
            tokio::select! {
                biased;
                () = untidy.notified() => {}
                () = stop.cancelled() => return,
                _began = owner.wait_for(|owner| *owner), if !delivers => delivers = true,
            }
        }
        let is_last = stop.is_cancelled();
        let giving_back = base.inbox.give_back();
        let tidied = if is_last {
            tokio::time::timeout(AT_STOP, giving_back).await.ok()
        } else {
            stop.run_until_cancelled(giving_back).await
        };
        if is_last {
            return;
        }
        is_untidy = !matches!(tidied, Some(Ok(true)));
        let _until = stop.run_until_cancelled(tokio::time::sleep(AGAIN)).await;
    }
}

/// Has the background tidy up, even if the caller fails or gives up in the middle.
struct TidiedLater<'a>(&'a Notify);

impl Drop for TidiedLater<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}
