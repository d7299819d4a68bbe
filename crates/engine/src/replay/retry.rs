//! What failed, died or was skipped, sent again as it stands.

use std::sync::Arc;

use hookmitt_event::{Delivery, DeliveryId, DeliveryState, EventId, Slug};

use super::Replayed;
use crate::{Change, EngineError, base::Base, delivery::Bells, settings::Settings};

/// Sends again what failed, died or was skipped.
#[derive(Clone, Debug)]
pub struct Retries {
    base: Arc<Base>,
    settings: Arc<Settings>,
    bells: Arc<Bells>,
}

impl Retries {
    pub(crate) fn new(settings: Arc<Settings>, bells: Arc<Bells>) -> Self {
        Self { base: Arc::clone(&settings.base), settings, bells }
    }

    /// Makes an event's failed, dead and skipped deliveries wait again.
    ///
    /// # Errors
    /// An unknown event.
    pub async fn event(&self, id: EventId) -> Result<Vec<Replayed>, EngineError> {
        let again = self.base.inbox.retry(id).await?;
        if again.is_empty() && self.is_stranded(id).await? {
            return Err(EngineError::NoTargets("what failed has lost its target: the event".to_owned()));
        }
        self.base.announce(Change::Event(id));
        again.iter().for_each(|(_, target)| self.bells.urge(*target));
        let replayed = again.into_iter().map(|(delivery_id, _)| Replayed { event_id: id, delivery_id });
        Ok(replayed.collect())
    }

    /// As [`event`](Self::event), one delivery alone. `None`: there is nothing to be taken up.
    ///
    /// # Errors
    /// An unknown delivery, or one whose target is gone.
    pub async fn one(&self, id: DeliveryId) -> Result<Option<Replayed>, EngineError> {
        let Some(target) = self.base.inbox.retry_one(id).await? else {
            if self.has_lost_target(&self.base.inbox.delivery(id).await?) {
                return Err(EngineError::NoTargets(format!("the delivery {id}")));
            }
            return Ok(None);
        };
        self.base.announce(Change::Event(id.event));
        self.bells.urge(target);
        Ok(Some(Replayed { event_id: id.event, delivery_id: id }))
    }

    /// Whether deliveries of an event failed at targets that are no more.
    async fn is_stranded(&self, id: EventId) -> Result<bool, EngineError> {
        let all = self.base.inbox.deliveries(id).await?;
        Ok(all.iter().any(|delivery| self.has_lost_target(delivery)))
    }

    fn has_lost_target(&self, delivery: &Delivery) -> bool {
        let failed = matches!(delivery.state, DeliveryState::Failed | DeliveryState::DeadLetter);
        failed && self.settings.target(delivery.target).is_err()
    }

    /// Makes every dead letter wait again, of one source or of all.
    ///
    /// # Errors
    /// An unknown source.
    pub async fn dead(&self, source: Option<&Slug>) -> Result<Vec<Replayed>, EngineError> {
        let row = source.map(|slug| self.settings.source(slug)).transpose()?.map(|known| known.source.row);
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let dead = self.base.inbox.dead_letters(row, after, 100).await?;
            let Some((last, _)) = dead.last() else { return Ok(all) };
            after = *last;
            for (_, id) in dead {
                match self.event(id).await {
                    Ok(again) => all.extend(again),
                    Err(EngineError::NoTargets(_)) => {} // the others can go on
                    Err(error) => return Err(error),
                }
            }
        }
    }
}
