//! Stored events, delivered again.

use std::{sync::Arc, time::Duration};

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

/// A delivery that was asked for.
#[derive(Clone, Copy, Debug, Serialize, utoipa::ToSchema)]
pub struct Replayed {
    /// The event: the one that was named, or the edited copy of it.
    #[schema(value_type = String, format = "uuid")]
    pub event_id: EventId,
    /// Its delivery.
    #[schema(value_type = String)]
    pub delivery_id: DeliveryId,
}

/// What came of a delivery's first attempt, as `replay` and `send` print it.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct AttemptLine {
    /// The event.
    #[schema(value_type = Option<String>, format = "uuid")]
    pub event_id: Option<EventId>,
    /// The delivery; none where it went straight through our own capture port.
    #[schema(value_type = Option<String>)]
    pub delivery_id: Option<DeliveryId>,
    /// How far the delivery has come.
    pub status: DeliveryState,
    /// What was answered.
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

/// How long a first attempt is waited for beyond its own time limit.
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

    /// Delivers a stored event again: as it was, or edited as a new event whose parent it is. Answers the
    /// deliveries, and which secret signed.
    ///
    /// # Errors
    /// An unknown event, no target, an edit that can't be made, a signature that can't be.
    pub async fn replay(
        &self,
        id: EventId,
        edit: Edit,
    ) -> Result<(Vec<Replayed>, Option<String>), EngineError> {
        let times = edit.times()?;
        let event = self.base.inbox.event(id).await?;
        let to = self.replay_targets(&event, edit.to.as_deref()).await?;
        let targets: Vec<TargetId> = (0..times).flat_map(|_| to.iter().copied()).collect();
        if !edit.changes_request() {
            let added = self.base.inbox.add_replays(id, targets.clone()).await?;
            self.base.announce(Change::Event(id));
            targets.into_iter().for_each(|target| self.bells.wake(target));
            let replayed = added.into_iter().map(|delivery_id| Replayed { event_id: id, delivery_id });
            return Ok((replayed.collect(), None));
        }
        let (mut replayed, mut secret) = (Vec::new(), None);
        for mut edited in edited(&self.settings, &event, &edit, targets)? {
            secret = edited.secret.take();
            replayed.extend(self.store_edited(&event, edited).await?);
        }
        Ok((replayed, secret))
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

    /// A target that stands for a URL given once.
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
        // A copy of ours must not shadow the genuine event.
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

    /// Waits for a delivery's first attempt, or for why there is none yet: nobody answers there, or its target is
    /// paused.
    ///
    /// # Errors
    /// An unknown delivery.
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

    /// The delivery, once it was tried. What a target that was down had to say then doesn't count.
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
                    Ok(Change::Event(_) | Change::Refused(_)) => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => return Err(EngineError::Stopping),
                }
            }
        }
    }

    /// Looks for itself whether a target that was down still is: the courier may not have looked since.
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
