//! Judges stored events again, and explains them.

use std::sync::Arc;

use hookmitt_event::{Attempt, DedupeKey, Delivery, Event, EventId, Explanation, Slug, Verdict};
use hookmitt_inbox::Rejudged;
use hookmitt_verify::{Evidence, Judgement};
use tokio::sync::{mpsc, watch};

use super::{
    explain::{Surroundings, explained},
    explaining::Explaining,
    pending::Pending,
    rejudge::{JudgeBy, rejudged, verified},
    urls,
};
use crate::{
    Change, EngineError,
    base::Base,
    confirmation::Confirmation,
    delivery::Bells,
    judging::key_hash,
    settings::{ConfiguredSource, Settings},
};

/// From how many answers of the local server its framework is guessed.
const ANSWERS: usize = 8;

/// How many events are judged between two commits; few, so that capture never waits long for the writer.
pub(super) const BATCH: u32 = 64;

/// A new verdict that differs from the stored one, and the event's source.
pub(super) type Changed = (Arc<ConfiguredSource>, Rejudged);

/// The verdicts on stored events: judges again, explains and verifies.
#[derive(Debug)]
pub struct Verdicts {
    pub(super) base: Arc<Base>,
    pub(super) settings: Arc<Settings>,
    confirmation: Arc<Confirmation>,
    bells: Arc<Bells>,
    pending: Pending,
    pub(super) explaining: Explaining,
}

impl Verdicts {
    /// Also returns the queue of events that have to be judged again right after their commit.
    pub(crate) fn new(
        settings: Arc<Settings>,
        confirmation: Arc<Confirmation>,
        bells: Arc<Bells>,
    ) -> (Self, mpsc::Receiver<EventId>) {
        let (pending, stored) = Pending::new();
        let (base, explaining) = (Arc::clone(&settings.base), Explaining::default());
        (Self { base, settings, confirmation, bells, pending, explaining }, stored)
    }

    /// Judges every event of a source again, oldest first, each as of the time when it was received.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn rejudge(&self, source: &Slug) -> Result<(), EngineError> {
        let (mut after, mut arrivals) = (0, self.settings.keys.arrivals());
        loop {
            let Ok(known) = self.settings.source(source) else { return Ok(()) };
            let ids = self.base.inbox.ids_after(known.source.row, after, BATCH).await?;
            let Some((last, _)) = ids.last() else { return Ok(()) };
            after = *last;
            let mut verdicts = Vec::with_capacity(ids.len());
            for (_, id) in &ids {
                let event = self.base.inbox.event(*id).await?;
                verdicts.push(rejudged(&known, &event));
            }
            if has_come(&mut arrivals) {
                after = 0; // An event that was looked at before may have to be judged before these.
                continue;
            }
            let changed: Vec<_> = verdicts.iter().map(|rejudged| (rejudged.id, rejudged.verdict)).collect();
            if !self.keep_verdicts(verdicts).await?.is_empty() {
                after = 0; // Only the new provider's scheme counts now. A provider is set once, so this ends.
            }
            for (id, verdict) in changed {
                self.base.announce(Change::Event(id));
                if verdict == Verdict::Invalid {
                    self.explaining.add(id);
                }
            }
        }
    }

    /// Has a new invalid event explained in the background.
    pub(crate) fn explain_soon(&self, id: EventId) {
        self.explaining.add(id);
    }

    /// Queues a new event that waits for a published key, which may have come before its commit. If there is no room,
    /// the event is judged later.
    pub(crate) fn judge_once_its_key_is_here(&self, id: EventId) {
        let _has_room = self.pending.add(id);
    }

    /// Queues an event to be judged again, after waiting for room or until the stop.
    pub(crate) async fn judge_in_turn(&self, id: EventId) {
        self.base.tasks.stop.run_until_cancelled(self.pending.add_in_turn(id)).await;
    }

    /// Judges an event again right after its commit, because what it was judged by has changed meanwhile. If the queue
    /// is full, judges every event of the source again.
    pub(crate) fn judge_again(self: &Arc<Self>, id: EventId, source: &Slug) {
        if self.pending.add(id) {
            return;
        }
        let (this, source) = (Arc::clone(self), source.clone());
        let failed = "events that arrived while a secret was being set could not be verified";
        self.base.tasks.spawn_until_stop(failed, async move { this.rejudge(&source).await });
    }

    /// Judges the events of a source again, because one of them has set the source's provider.
    pub(crate) fn provider_is_found(self: &Arc<Self>, event: EventId) {
        let this = Arc::clone(self);
        let failed =
            "a source's events could not be verified with the provider that its first valid event set";
        self.base.tasks.spawn_until_stop(failed, async move {
            this.settings.reload().await?;
            let slug = this.base.inbox.event(event).await?.source;
            this.rejudge(&slug).await
        });
    }

    /// Stores new verdicts, and wakes the couriers of what waited for them. Returns the events that set the provider of
    /// their source.
    async fn keep_verdicts(&self, verdicts: Vec<Rejudged>) -> Result<Vec<EventId>, EngineError> {
        let (targets, set_provider) = self.base.inbox.rejudge(verdicts).await?;
        targets.into_iter().for_each(|target| self.bells.wake(target));
        if !set_provider.is_empty() {
            self.settings.reload().await?;
        }
        Ok(set_provider)
    }

    /// Takes away, in the background, the dedupe keys that earlier versions gave to events that prove nothing. Done
    /// once for an inbox; the next start goes on with what a stop or a crash left undone.
    pub(crate) fn settle_old_keys(self: &Arc<Self>) {
        let this = Arc::clone(self);
        let failed = "old dedupe keys could not be settled; the next start continues";
        self.base.tasks.spawn_until_stop(failed, async move { this.settle_keys().await });
    }

    async fn settle_keys(&self) -> Result<(), EngineError> {
        loop {
            let config = self.settings.now();
            let proving = config.sources.values().filter(|known| known.can_prove());
            let sources = proving.map(|known| known.source.row).collect();
            let Some(unsettled) = self.base.inbox.unsettled_keys(sources).await? else { return Ok(()) };
            let by_content = |key: &DedupeKey| matches!(key, DedupeKey::Content(_));
            let claim = |(id, key): &(EventId, DedupeKey)| (*id, key_hash(key), by_content(key));
            self.base.inbox.settle_keys(unsettled.events.iter().map(claim).collect(), &unsettled).await?;
            for (id, _) in unsettled.events {
                self.base.announce(Change::Event(id));
            }
        }
    }

    /// Judges one event with its source's secrets, and with the values in `by` instead of the known ones. Stores
    /// nothing.
    ///
    /// # Errors
    /// Fails if the event, the provider or the scheme is unknown.
    pub async fn verify(
        &self,
        id: EventId,
        by: JudgeBy,
    ) -> Result<(Event, Judgement, Evidence), EngineError> {
        let event = self.base.inbox.event(id).await?;
        let known = self.settings.source(&event.source)?;
        let around = self.surroundings(&event).await?;
        let task = tokio::task::spawn_blocking(move || {
            let found = verified(&known, &event, &by, &around)?;
            Ok((event, found.0, found.1))
        });
        task.await.map_err(|_| EngineError::Stopping)?
    }

    /// Returns a sentence on what of an event's body its valid signature doesn't cover, if anything.
    pub fn uncovered(&self, event: &Event) -> Option<String> {
        let known = self.settings.source(&event.source).ok().filter(|_| event.verdict == Verdict::Valid)?;
        hookmitt_verify::uncovered(&known.inquiry(&event.request, &event.url, event.received_at))
    }

    /// Explains why an event's verdict is what it is, with its source's present secrets. `secret` names the one whose
    /// signature is shown as the expected one.
    ///
    /// # Errors
    /// Fails if the event is unknown, or if its source doesn't have that secret.
    pub async fn explanation(&self, id: EventId, secret: Option<String>) -> Result<Explanation, EngineError> {
        let event = self.base.inbox.event(id).await?;
        let known = self.settings.source(&event.source)?;
        if let Some(label) = &secret
            && !known.secrets.iter().any(|held| held.label == *label)
        {
            return Err(EngineError::BadInput(format!("{} has no secret {label:?}", event.source)));
        }
        let around = self.surroundings(&event).await?;
        let task = tokio::task::spawn_blocking(move || explained(&known, &event, &around, secret.as_deref()));
        task.await.map_err(|_| EngineError::Stopping)
    }

    /// Collects what else may explain an event's verdict.
    async fn surroundings(&self, event: &Event) -> Result<Surroundings, EngineError> {
        let config = self.settings.now();
        let others = config.sources.values().filter(|known| known.source.slug != event.source);
        let secrets = others.flat_map(|known| {
            known.secrets.iter().cloned().map(|mut secret| {
                secret.label = format!("{}/{}", known.source.slug, secret.label);
                secret
            })
        });
        let secrets = secrets.collect();
        let requests = self.base.inbox.nearby(event.id).await?;
        let deliveries = self.base.inbox.deliveries(event.id).await?;
        let tried = deliveries.iter().rev().find(|delivery| !delivery.attempts.is_empty());
        let refused = tried.and_then(Delivery::refused_by_app).and_then(Attempt::refusing_status);
        let attempts = deliveries.into_iter().flat_map(|delivery| delivery.attempts).rev();
        let answers = attempts.filter_map(|attempt| Some(attempt.response?.headers)).take(ANSWERS).collect();
        let public_url =
            config.sources.get(event.source.as_str()).and_then(|known| known.source.public_url.as_deref());
        let url_note = urls::who_says(event, public_url);
        Ok(Surroundings {
            secrets,
            requests,
            urls: urls::called(event, &self.settings.own.capture_urls()),
            url_note,
            answers,
            refused,
        })
    }

    /// Whether the published key of an event that is pending in the inbox is here by now; `None` if it isn't pending.
    pub(super) async fn waits_no_longer(&self, id: EventId) -> Result<Option<bool>, EngineError> {
        let event = self.base.inbox.event(id).await?;
        let Ok(known) = self.settings.source(&event.source) else { return Ok(None) }; // source removed meanwhile
        let is_pending = event.verdict == Verdict::Pending;
        Ok(is_pending.then(|| rejudged(&known, &event).verdict != Verdict::Pending))
    }

    /// Judges events again, and returns the verdicts and causes that changed, each with the event's source.
    pub(super) async fn judged_anew(&self, ids: &[EventId]) -> Result<Vec<Changed>, EngineError> {
        let mut changed = Vec::new();
        for &id in ids {
            let event = self.base.inbox.event(id).await?;
            let Ok(known) = self.settings.source(&event.source) else { continue }; // source removed meanwhile
            let now = rejudged(&known, &event);
            if now.verdict != event.verdict || now.causes != event.causes {
                changed.push((known, now));
            }
        }
        Ok(changed)
    }

    /// Stores what changed, in this order.
    pub(super) async fn keep(self: &Arc<Self>, changed: Vec<Changed>) -> Result<(), EngineError> {
        if !changed.is_empty() {
            let verdicts = changed.iter().map(|(_, now)| now.clone()).collect();
            for event in self.keep_verdicts(verdicts).await? {
                self.provider_is_found(event);
            }
        }
        for (known, now) in changed {
            self.base.announce(Change::Event(now.id));
            match now.verdict {
                Verdict::Valid => self.confirmation.confirm_by_itself(&known, now.id),
                Verdict::Invalid => self.explaining.add(now.id),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether a key has come since this was asked last, or since the receiver was made.
pub(super) fn has_come(arrivals: &mut watch::Receiver<u64>) -> bool {
    let has_come = arrivals.has_changed().unwrap_or(false);
    arrivals.mark_unchanged();
    has_come
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use zeroize::Zeroizing;

    use super::*;
    use crate::begun::{engine, post, source};

    #[tokio::test(flavor = "multi_thread")]
    async fn a_secret_that_is_set_while_an_event_is_being_stored_judges_it() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let before = source(&engine, "hub").await;
        let signed = post(
            [
                ("X-GitHub-Event", "ping"),
                (
                    "X-Hub-Signature-256",
                    "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
                ),
            ],
            b"Hello, World!",
        );
        let event = before.judge(signed).event;
        assert_eq!(event.verdict, Verdict::NoSecret);
        let value = Zeroizing::new(b"It's a Secret to Everybody".to_vec());
        engine.secrets.set(before.source.slug.clone(), "default".to_owned(), value).await.unwrap();
        let id = engine.capture.store_unanswered(&before, event).await.unwrap().id; // commits last
        let judged = async {
            while engine.base.inbox.event(id).await.unwrap().verdict != Verdict::Valid {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), judged).await.expect("it is judged by the secret");
        engine.stop().await;
    }
}
