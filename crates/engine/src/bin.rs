//! Puts events into the bin and takes them out again, and tells everybody whom that concerns.

use std::sync::Arc;

use hookmitt_event::{EventId, TargetId};

use crate::{Change, EngineError, base::Base, delivery::Bells, verdicts::Verdicts};

/// The bin.
#[derive(Clone, Debug)]
pub struct Bin {
    base: Arc<Base>,
    bells: Arc<Bells>,
    verdicts: Arc<Verdicts>,
}

impl Bin {
    pub(crate) const fn new(base: Arc<Base>, bells: Arc<Bells>, verdicts: Arc<Verdicts>) -> Self {
        Self { base, bells, verdicts }
    }

    /// Puts an event into the bin and ends its waiting deliveries, or restores both. Returns how many deliveries
    /// changed.
    ///
    /// # Errors
    /// Fails if the event is unknown.
    pub async fn set(&self, id: EventId, deleted: bool) -> Result<usize, EngineError> {
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
}
