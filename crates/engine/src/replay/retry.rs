//! Retries failed, dead-letter and skipped deliveries as they are.

use std::sync::Arc;

use hookmitt_event::{Delivery, DeliveryId, DeliveryState, EventId, Slug};

use super::Replayed;
use crate::{Change, EngineError, base::Base, delivery::Bells, settings::Settings};

/// Retries failed, dead-letter and skipped deliveries.
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

    /// Makes an event's failed, dead-letter and skipped deliveries pending again, and returns them.
    ///
    /// # Errors
    /// Fails if the event is unknown, or if nothing can be retried because the targets of failed deliveries are gone.
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

    /// Like [`event`](Self::event), for one delivery only. Returns `None` if the delivery can't be retried in its
    /// state.
    ///
    /// # Errors
    /// Fails if the delivery is unknown, or if its target is gone.
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

    /// Whether any failed delivery of an event has lost its target.
    async fn is_stranded(&self, id: EventId) -> Result<bool, EngineError> {
        let all = self.base.inbox.deliveries(id).await?;
        Ok(all.iter().any(|delivery| self.has_lost_target(delivery)))
    }

    fn has_lost_target(&self, delivery: &Delivery) -> bool {
        let failed = matches!(delivery.state, DeliveryState::Failed | DeliveryState::DeadLetter);
        failed && self.settings.target(delivery.target).is_err()
    }

    /// Retries every event that has a dead letter, of one source or of all.
    ///
    /// # Errors
    /// Fails if the source is unknown.
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
                    Err(EngineError::NoTargets(_)) => {} // the other events can still be retried
                    Err(error) => return Err(error),
                }
            }
        }
    }
}
