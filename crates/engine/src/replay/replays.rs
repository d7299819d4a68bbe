//! Delivers stored events again.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use hookmitt_event::{
    Delivery, DeliveryId, DeliveryState, Event, EventId, Target, TargetId, TargetKind, Timestamp, Via,
};
use hookmitt_forward::{TargetUrl, answers};
use hookmitt_inbox::Route;
use serde::Serialize;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{
    edit::Edit,
    resign::{Edited, edited},
};
use crate::{
    Change, EngineError, TargetChange, Targets,
    base::Base,
    capture::Capture,
    delivery::Bells,
    judging::{Arrival, Page},
    settings::Settings,
};

/// A delivery that a replay or a retry started.
#[derive(Clone, Copy, Debug, Serialize, utoipa::ToSchema)]
pub struct Replayed {
    /// The event that is delivered: the one that was named, or its edited copy.
    #[schema(value_type = String, format = "uuid")]
    pub event_id: EventId,
    /// Its delivery.
    #[schema(value_type = String)]
    pub delivery_id: DeliveryId,
}

/// What a replay started.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// The deliveries.
    pub items: Vec<Replayed>,
    /// Which secret signed, in words; `None` if the request was not signed again.
    pub secret: Option<String>,
    /// Whether the edit leaves a signature in the request that no longer fits.
    pub spoilt: bool,
}

/// How many deliveries were stopped.
#[derive(Clone, Copy, Debug, Default, Serialize, utoipa::ToSchema)]
pub struct StoppedCount {
    /// How many waited and are not sent any more.
    pub stopped: usize,
    /// How many of these were never sent.
    pub unsent: usize,
}

/// The outcome of a delivery's first attempt, as `replay` and `send` print it.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct AttemptLine {
    /// The event; null if a sample for our own capture port was not stored.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub event_id: Option<EventId>,
    /// The delivery; null if a sample went straight to our own capture port.
    #[schema(value_type = Option<String>)]
    pub delivery_id: Option<DeliveryId>,
    /// The state of the delivery.
    pub status: DeliveryState,
    /// The HTTP status of the answer.
    pub response_status: Option<u16>,
    /// What went wrong.
    pub error: Option<String>,
}

impl From<&Delivery> for AttemptLine {
    fn from(delivery: &Delivery) -> Self {
        let last = delivery.attempts.last();
        Self {
            event_id: Some(delivery.id.event),
            delivery_id: Some(delivery.id),
            status: delivery.state,
            response_status: last.and_then(|last| last.response.as_ref()).map(|head| head.status),
            error: delivery.last_error.clone().filter(|_| delivery.state != DeliveryState::Completed),
        }
    }
}

/// How long a first attempt is waited for beyond its target's timeout.
const WAIT_MARGIN: Duration = Duration::from_secs(5);

/// Delivers stored events again.
#[derive(Clone, Debug)]
pub struct Replays {
    base: Arc<Base>,
    settings: Arc<Settings>,
    capture: Arc<Capture>,
    targets: Targets,
    bells: Arc<Bells>,
}

impl Replays {
    pub(crate) fn new(
        settings: Arc<Settings>,
        capture: Arc<Capture>,
        targets: Targets,
        bells: Arc<Bells>,
    ) -> Self {
        Self { base: Arc::clone(&settings.base), settings, capture, targets, bells }
    }

    /// Delivers a stored event again, as it was or edited. An edited event is stored as a new one with the original as
    /// its parent.
    ///
    /// # Errors
    /// Fails if the event is unknown, there is no target, the edit can't be made, or the request can't be signed.
    pub async fn replay(&self, id: EventId, edit: Edit) -> Result<Replay, EngineError> {
        let times = edit.times()?;
        let event = self.base.inbox.event(id).await?;
        if event.deleted_at.is_some() {
            return Err(EngineError::Deleted(event.seq));
        }
        let to = self.replay_targets(&event, edit.to.as_deref()).await?;
        let targets: Vec<TargetId> = (0..times).flat_map(|_| to.iter().copied()).collect();
        if !edit.changes_request() {
            let added = self.base.inbox.add_replays(id, targets.clone()).await?;
            if added.is_empty() {
                return Err(EngineError::Deleted(event.seq));
            }
            self.base.announce(Change::Event(id));
            targets.into_iter().for_each(|target| self.bells.wake(target));
            let replayed = added.into_iter().map(|delivery_id| Replayed { event_id: id, delivery_id });
            return Ok(Replay { items: replayed.collect(), ..Replay::default() });
        }
        let mut replay = Replay::default();
        for mut edited in edited(&self.settings, &event, &edit, targets)? {
            replay.secret = edited.secret.take();
            replay.spoilt |= edited.spoilt;
            replay.items.extend(self.store_edited(&event, edited).await?);
        }
        Ok(replay)
    }

    /// Ends those of these deliveries that wait, as skipped. What is being sent goes on.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn stop(&self, ids: &[DeliveryId]) -> Result<StoppedCount, EngineError> {
        let stopped = self.base.inbox.stop(ids).await?;
        let events: BTreeSet<_> = stopped.iter().map(|stopped| stopped.delivery.event).collect();
        events.into_iter().for_each(|event| self.base.announce(Change::Event(event)));
        let targets: BTreeSet<_> = stopped.iter().map(|stopped| stopped.target).collect();
        targets.into_iter().for_each(|target| self.bells.wake(target)); // the order may let others pass now
        let unsent = stopped.iter().filter(|stopped| !stopped.tried).count();
        Ok(StoppedCount { stopped: stopped.len(), unsent })
    }

    async fn replay_targets(&self, event: &Event, to: Option<&str>) -> Result<Vec<TargetId>, EngineError> {
        if let Some(url) = to {
            return Ok(vec![self.once(url).await?]);
        }
        let targets = self.settings.now().targets_of(event.source.as_str());
        if targets.is_empty() {
            return Err(EngineError::NoTargets(format!("the source {}", event.source)));
        }
        Ok(targets.iter().map(|target| target.id).collect())
    }

    /// Adds a target for a URL that is used once, and returns its id.
    pub(crate) async fn once(&self, url: &str) -> Result<TargetId, EngineError> {
        let change = TargetChange {
            url: Some(url.to_owned()),
            order: Some(hookmitt_event::OrderMode::Parallel(8)),
            ..TargetChange::default()
        };
        Ok(self.targets.add(None, change, TargetKind::Once).await?.id)
    }

    async fn store_edited(&self, parent: &Event, edited: Edited) -> Result<Vec<Replayed>, EngineError> {
        let known = self.settings.source(&parent.source)?;
        let Edited { request, url, targets, signed_with, .. } = edited;
        let received_at = self.base.now();
        let arrival =
            Arrival { request, url, remote: None, received_at, via: Via::Edit, page: Page::default() };
        let mut event = known.judge(arrival).event;
        event.parent = Some(parent.id);
        // A copy that was made here must not own the dedupe key in place of the genuine event.
        (event.may_own, event.single_use) = (false, None);
        event.route = Route::To(targets);
        let stored = self.capture.store_unanswered(&known, event).await?;
        if let Some(with) = signed_with {
            self.base.inbox.set_signed_with(stored.id, with).await?;
        }
        let replayed = (1..=stored.deliveries).map(|number| Replayed {
            event_id: stored.id,
            delivery_id: DeliveryId { event: stored.id, number },
        });
        Ok(replayed.collect())
    }

    /// Waits for a delivery's first attempt and returns its outcome. Returns early with the reason if there is none yet
    /// because nobody answers at the target, or because the target is paused; waits at most 5 seconds beyond the
    /// target's timeout.
    ///
    /// # Errors
    /// Fails if the delivery is unknown.
    pub async fn outcome(&self, id: DeliveryId) -> Result<AttemptLine, EngineError> {
        let changes = self.base.live.watch();
        let first = self.base.inbox.delivery(id).await?;
        let target = self.settings.target(first.target).ok();
        if self.is_still_down(target.as_deref()).await {
            return Ok(self.line(&first));
        }
        self.bells.urge(first.target);
        let limit = target.as_ref().map_or(Duration::ZERO, |target| target.timeout) + WAIT_MARGIN;
        let was_down = target.and_then(|target| target.down_since);
        match tokio::time::timeout(limit, self.first_attempt(id, was_down, changes)).await {
            Ok(tried) => Ok(self.line(&tried?)),
            Err(_) => Ok(self.line(&self.base.inbox.delivery(id).await?)),
        }
    }

    /// Waits until the delivery was tried, and returns it. An error from before, when the target was already down,
    /// doesn't count.
    async fn first_attempt(
        &self,
        id: DeliveryId,
        was_down: Option<Timestamp>,
        mut changes: Receiver<Change>,
    ) -> Result<Delivery, EngineError> {
        loop {
            let delivery = self.base.inbox.delivery(id).await?;
            let down = self.settings.target(delivery.target).ok().and_then(|target| target.down_since);
            let outdated = was_down.is_some() && down == was_down && delivery.attempts.is_empty();
            if self.is_tried(&delivery) && !outdated {
                return Ok(delivery);
            }
            loop {
                match changes.recv().await {
                    Ok(Change::Delivery(changed)) if changed != id => {}
                    Ok(Change::Event(_) | Change::Many(_) | Change::Refused(_)) => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => return Err(EngineError::Stopping),
                }
            }
        }
    }

    /// Checks whether a target that was down still is, because its courier may not have checked since.
    async fn is_still_down(&self, target: Option<&Target>) -> bool {
        let Some(target) = target.filter(|target| target.down_since.is_some()) else { return false };
        match TargetUrl::parse(&target.url) {
            Ok(url) => !answers(&url).await,
            Err(_) => true,
        }
    }

    fn line(&self, delivery: &Delivery) -> AttemptLine {
        let mut line = AttemptLine::from(delivery);
        if line.status == DeliveryState::Pending && line.error.is_none() && self.is_paused(delivery.target) {
            line.error = Some("the target is paused".to_owned());
        }
        line
    }

    fn is_paused(&self, target: TargetId) -> bool {
        self.settings.target(target).is_ok_and(|target| target.paused)
    }

    fn is_tried(&self, delivery: &Delivery) -> bool {
        let waits = matches!(delivery.state, DeliveryState::Pending | DeliveryState::Processing);
        let paused = self.is_paused(delivery.target);
        let explained = delivery.state == DeliveryState::Pending && delivery.last_error.is_some();
        !waits || !delivery.attempts.is_empty() || explained || paused
    }
}
