//! Retries failed, dead-letter and skipped deliveries as they are.

use std::{collections::HashSet, sync::Arc};

use hookmitt_event::{Delivery, DeliveryId, DeliveryState, EventId, Slug, TargetId};
use hookmitt_inbox::STOPPED;
use serde::Serialize;

use super::Replayed;
use crate::{Change, EngineError, base::Base, delivery::Bells, settings::Settings};

/// A delivery that a retry can't send, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct NotRetried {
    /// The event.
    #[schema(value_type = String, format = "uuid")]
    pub event_id: EventId,
    /// The delivery; null if the event has nothing to retry.
    #[schema(value_type = Option<String>)]
    pub delivery_id: Option<DeliveryId>,
    /// The state of the delivery, or of the event's deliveries; null if the event has none.
    pub status: Option<DeliveryState>,
    /// Why it is not sent, in words.
    pub why: String,
}

/// What came of a retry of several events.
#[derive(Clone, Debug, Default, Serialize, utoipa::ToSchema)]
pub struct Retried {
    /// The deliveries that are tried again.
    pub items: Vec<Replayed>,
    /// Those that can't be sent.
    pub skipped: Vec<NotRetried>,
}

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
    /// Fails if the event is unknown or deleted, or if nothing can be retried because the targets of failed deliveries
    /// are gone.
    pub async fn event(&self, id: EventId) -> Result<Vec<Replayed>, EngineError> {
        let again = self.base.inbox.retry(id).await?;
        if again.is_empty() {
            self.ensure_there(id).await?;
        }
        if again.is_empty() && self.is_stranded(id).await? {
            return Err(EngineError::NoTargets(
                "the target of the failed delivery was removed: the event".to_owned(),
            ));
        }
        Ok(self.begun(id, again))
    }

    /// Announces the deliveries of an event that are pending again, and wakes their couriers.
    fn begun(&self, id: EventId, again: Vec<(DeliveryId, TargetId)>) -> Vec<Replayed> {
        self.tell(id, again.iter().map(|(_, target)| *target));
        again.into_iter().map(|(delivery_id, _)| Replayed { event_id: id, delivery_id }).collect()
    }

    /// Announces an event whose deliveries to these targets are pending again, and wakes their couriers.
    pub(crate) fn tell(&self, id: EventId, targets: impl IntoIterator<Item = TargetId>) {
        self.base.announce(Change::Event(id));
        targets.into_iter().for_each(|target| self.bells.urge(target));
    }

    /// Says why nothing of an event with these deliveries can be retried; `None` stands for an event in the bin.
    pub(crate) fn why_nothing(&self, deliveries: Option<&[Delivery]>) -> String {
        let Some(deliveries) = deliveries else { return DELETED.to_owned() };
        let of_one = deliveries.iter().find_map(|delivery| self.why_not(delivery));
        of_one.unwrap_or_else(|| nothing_to_retry(&deliveries.iter().collect::<Vec<_>>()).1.to_owned())
    }

    /// Like [`event`](Self::event), for one delivery only. Returns `None` if the delivery can't be retried in its
    /// state.
    ///
    /// # Errors
    /// Fails if the delivery is unknown, its event deleted, or its target gone.
    pub async fn one(&self, id: DeliveryId) -> Result<Option<Replayed>, EngineError> {
        let Some(target) = self.base.inbox.retry_one(id).await? else {
            self.ensure_there(id.event).await?;
            if self.has_lost_target(&self.base.inbox.delivery(id).await?) {
                return Err(EngineError::NoTargets(format!("the delivery {id}")));
            }
            return Ok(None);
        };
        self.base.announce(Change::Event(id.event));
        self.bells.urge(target);
        Ok(Some(Replayed { event_id: id.event, delivery_id: id }))
    }

    /// Fails if an event is in the bin.
    async fn ensure_there(&self, id: EventId) -> Result<(), EngineError> {
        let event = self.base.inbox.listed(id).await?.event;
        if event.deleted_at.is_some() { Err(EngineError::Deleted(event.seq)) } else { Ok(()) }
    }

    /// Whether any failed delivery of an event has lost its target.
    async fn is_stranded(&self, id: EventId) -> Result<bool, EngineError> {
        let all = self.base.inbox.deliveries(id).await?;
        Ok(all.iter().any(|delivery| self.has_lost_target(delivery)))
    }

    fn has_lost_target(&self, delivery: &Delivery) -> bool {
        has_failed(delivery) && self.settings.target(delivery.target).is_err()
    }

    /// Retries what these events have to retry, and says of each event what can't be sent.
    ///
    /// # Errors
    /// Fails if an event is unknown. Those before it have been retried then.
    pub async fn events(&self, ids: &[EventId]) -> Result<Retried, EngineError> {
        let mut all = Retried::default();
        for id in ids {
            let again = self.base.inbox.retry(*id).await?;
            all.skipped.extend(self.left_out(*id, &again, |_| true).await?);
            all.items.extend(self.begun(*id, again));
        }
        Ok(all)
    }

    /// Retries all dead letters, of one source or of all, and, with `also_failed`, everything that failed for good.
    ///
    /// # Errors
    /// Fails if the source is unknown.
    pub async fn dead(&self, source: Option<&Slug>, also_failed: bool) -> Result<Retried, EngineError> {
        let row = source.map(|slug| self.settings.source(slug)).transpose()?.map(|known| known.source.row);
        let (mut all, mut done) = (Retried::default(), HashSet::new());
        let failed = also_failed.then_some(DeliveryState::Failed);
        for state in [DeliveryState::DeadLetter].into_iter().chain(failed) {
            let mut after = 0;
            loop {
                let ended = self.base.inbox.ended_as(row, state, after, 100).await?;
                let Some((last, _)) = ended.last() else { break };
                after = *last;
                for (_, id) in ended {
                    // An event that is retried may fail again while others are looked for.
                    if done.insert(id) {
                        let again = self.base.inbox.retry_failed(id).await?;
                        all.skipped.extend(self.left_out(id, &again, has_failed).await?);
                        all.items.extend(self.begun(id, again));
                    }
                }
            }
        }
        Ok(all)
    }

    /// Returns the deliveries of an event that were asked for and can't be sent. If there is nothing at all to retry,
    /// says so of the event.
    async fn left_out(
        &self,
        event_id: EventId,
        again: &[(DeliveryId, TargetId)],
        asked: impl Fn(&Delivery) -> bool,
    ) -> Result<Vec<NotRetried>, EngineError> {
        let all = self.base.inbox.deliveries(event_id).await?;
        let taken = |delivery: &Delivery| again.iter().any(|(id, _)| *id == delivery.id);
        if again.is_empty()
            && let Err(error) = self.ensure_there(event_id).await
        {
            let EngineError::Deleted(_) = error else { return Err(error) };
            let why = DELETED.to_owned();
            return Ok(vec![NotRetried { event_id, delivery_id: None, status: None, why }]);
        }
        let left: Vec<_> = all.iter().filter(|delivery| !taken(delivery)).collect();
        let left_out = left.iter().filter(|delivery| asked(delivery)).filter_map(|delivery| {
            let why = self.why_not(delivery)?;
            Some(NotRetried { event_id, delivery_id: Some(delivery.id), status: Some(delivery.state), why })
        });
        let mut left_out: Vec<_> = left_out.collect();
        if left_out.is_empty() && again.is_empty() {
            let (status, why) = nothing_to_retry(&left);
            left_out.push(NotRetried { event_id, delivery_id: None, status, why: why.to_owned() });
        }
        Ok(left_out)
    }

    /// Returns why a delivery that a retry left as it was can't be sent, or `None` if nobody expects it to be.
    fn why_not(&self, delivery: &Delivery) -> Option<String> {
        let is_skipped = delivery.state == DeliveryState::Skipped;
        if delivery.last_error.as_deref() == Some(STOPPED) || !(is_skipped || has_failed(delivery)) {
            return None;
        }
        match self.settings.target(delivery.target) {
            Err(_) => Some("its target was removed".to_owned()),
            Ok(_) => delivery.last_error.clone().filter(|_| is_skipped),
        }
    }
}

/// Why an event in the bin isn't retried.
const DELETED: &str = "it is deleted: `hookmitt delete --undo` restores it";

fn has_failed(delivery: &Delivery) -> bool {
    matches!(delivery.state, DeliveryState::Failed | DeliveryState::DeadLetter)
}

/// Returns why an event with these deliveries has nothing to retry, and their state.
fn nothing_to_retry(deliveries: &[&Delivery]) -> (Option<DeliveryState>, &'static str) {
    let is = |state| deliveries.iter().any(|delivery| delivery.state == state);
    if deliveries.is_empty() {
        (None, "it hasn't been sent to a target yet: `hookmitt replay` sends it")
    } else if is(DeliveryState::Processing) {
        (Some(DeliveryState::Processing), "it is being sent")
    } else if is(DeliveryState::Pending) {
        (Some(DeliveryState::Pending), "it waits to be sent")
    } else {
        (Some(DeliveryState::Completed), "it didn't fail: `hookmitt replay` sends it again")
    }
}
