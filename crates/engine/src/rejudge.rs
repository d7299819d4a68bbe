//! Judges stored events anew, after a secret or a setting of their source changed.

use std::sync::Arc;

use hookmitt_event::{DedupeKey, Event, EventId, Slug, Timestamp, Verdict, Via};
use hookmitt_inbox::{KeyClaim, Rejudged};
use hookmitt_verify::{Evidence, Judgement, Provider};
use serde::Deserialize;

use crate::{
    Change, Engine, EngineError,
    config::Known,
    explain::Surroundings,
    judged::{key_hash, single_use},
    tunnels::rewritten,
};

/// How many events are judged between two commits; small, so that capture never waits long for the writer.
const BATCH: u32 = 64;

/// What an event is judged by instead of what is known of it. Nothing, by default.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JudgeBy {
    /// The moment at which timestamps are judged, in Unix seconds; else when it was received.
    pub at: Option<i64>,
    /// The URL that the provider called.
    pub url: Option<String>,
    /// The catalogue id of the provider.
    pub provider: Option<String>,
    /// The signature scheme.
    pub scheme: Option<String>,
    /// Settings that are not in the request, in place of the source's own of the same names.
    pub params: Vec<(String, String)>,
}

impl Engine {
    /// Judges every event of a source anew, oldest first, each as of the time when it was received.
    ///
    /// # Errors
    /// Whatever the inbox says.
    pub async fn rejudge(&self, source: &Slug) -> Result<(), EngineError> {
        let mut after = 0;
        loop {
            let Ok(known) = self.known(source) else { return Ok(()) };
            let ids = self.inbox.ids_after(known.source.row, after, BATCH).await?;
            let Some((last, _)) = ids.last() else { return Ok(()) };
            after = *last;
            let mut verdicts = Vec::with_capacity(ids.len());
            for (_, id) in &ids {
                let event = self.inbox.event(*id).await?;
                verdicts.push(rejudged(&known, &event));
            }
            let changed: Vec<_> = verdicts.iter().map(|rejudged| (rejudged.id, rejudged.verdict)).collect();
            if !self.keep_verdicts(verdicts).await?.is_empty() {
                after = 0; // From now on only that provider's scheme counts. A provider is found once, so this ends.
            }
            for (id, verdict) in changed {
                self.live.announce(Change::Event(id));
                if verdict == Verdict::Invalid {
                    self.explaining.add(id);
                }
            }
        }
    }

    /// Judges an event anew right after its commit: what it was judged by is otherwise by now.
    pub(crate) fn judge_again(&self, id: EventId, source: &Slug) {
        if self.pending.add(id) {
            return;
        }
        let Some(engine) = self.this.upgrade() else { return };
        let (source, stop) = (source.clone(), self.stop.clone());
        self.tasks.spawn(async move {
            if let Some(Err(error)) = stop.run_until_cancelled(engine.rejudge(&source)).await {
                tracing::warn!(%error, "what came while a secret was set could not be judged");
            }
        });
    }

    /// An event has set the provider of its source: the others there are judged by it.
    pub(crate) fn provider_is_found(&self, event: EventId) {
        let Some(engine) = self.this.upgrade() else { return };
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            let judged = stop.run_until_cancelled(async {
                engine.reload().await?;
                let slug = engine.inbox.event(event).await?.source;
                engine.rejudge(&slug).await
            });
            if let Some(Err(error)) = judged.await {
                tracing::warn!(%error, "a source's events could not be judged by the provider that its first valid event has set");
            }
        });
    }

    /// Stores new verdicts, and sees off what waited for them. Answers the events that set the provider of their source.
    pub(crate) async fn keep_verdicts(&self, verdicts: Vec<Rejudged>) -> Result<Vec<EventId>, EngineError> {
        let (targets, set_provider) = self.inbox.rejudge(verdicts).await?;
        targets.into_iter().for_each(|target| self.couriers.wake(target));
        if !set_provider.is_empty() {
            self.reload().await?;
        }
        Ok(set_provider)
    }

    /// Has events give up, beside what else goes on, the dedupe keys that earlier versions gave them though they prove
    /// nothing. Done once for an inbox; what a stop or a crash leaves undone is done at the next start.
    pub(crate) fn settle_old_keys(self: &Arc<Self>) {
        let (engine, stop) = (Arc::clone(self), self.stop.clone());
        self.tasks.spawn(async move {
            if let Some(Err(error)) = stop.run_until_cancelled(settle_old_keys(&engine)).await {
                tracing::warn!(%error, "old dedupe keys could not be settled; the next start goes on");
            }
        });
    }

    /// Judges one event with its source's secrets, and with what `by` says instead of what is known; keeps nothing.
    ///
    /// # Errors
    /// An unknown event, provider or scheme.
    pub async fn verify(
        &self,
        id: EventId,
        by: JudgeBy,
    ) -> Result<(Event, Judgement, Evidence), EngineError> {
        let event = self.inbox.event(id).await?;
        let known = self.known(&event.source)?;
        let around = self.surroundings(&event).await?;
        let task = tokio::task::spawn_blocking(move || {
            let found = verified(&known, &event, &by, &around)?;
            Ok((event, found.0, found.1))
        });
        task.await.map_err(|_| EngineError::Stopping)?
    }

    /// What of an event's body its valid signature leaves open, in a sentence.
    pub fn uncovered(&self, event: &Event) -> Option<String> {
        let known = self.known(&event.source).ok().filter(|_| event.verdict == Verdict::Valid)?;
        hookmitt_verify::uncovered(&known.inquiry(&event.request, &event.url, event.received_at))
    }

    /// A source by its name.
    pub(crate) fn known(&self, slug: &Slug) -> Result<Arc<Known>, EngineError> {
        let known = self.config().sources.get(slug.as_str()).cloned();
        Ok(known.ok_or_else(|| hookmitt_inbox::InboxError::UnknownSource(slug.to_string()))?)
    }
}

async fn settle_old_keys(engine: &Engine) -> Result<(), EngineError> {
    loop {
        let config = engine.config();
        let proving = config.sources.values().filter(|known| known.can_prove());
        let sources = proving.map(|known| known.source.row).collect();
        let Some(unsettled) = engine.inbox.unsettled_keys(sources).await? else { return Ok(()) };
        let by_content = |key: &DedupeKey| matches!(key, DedupeKey::Content(_));
        let claim = |(id, key): &(EventId, DedupeKey)| (*id, key_hash(key), by_content(key));
        engine.inbox.settle_keys(unsettled.events.iter().map(claim).collect(), &unsettled).await?;
        for (id, _) in unsettled.events {
            engine.live.announce(Change::Event(id));
        }
    }
}

fn verified(
    known: &Known,
    event: &Event,
    by: &JudgeBy,
    around: &Surroundings,
) -> Result<(Judgement, Evidence), EngineError> {
    let at = by.at.map_or(event.received_at, Timestamp::from_seconds);
    let url = by.url.as_deref().unwrap_or(&event.url);
    let mut inquiry = known.inquiry(&event.request, url, at);
    if let Some(given) = &by.provider {
        let found = hookmitt_verify::provider(given);
        inquiry.provider = Some(found.ok_or_else(|| EngineError::UnknownProvider(given.clone()))?);
    }
    if let Some(scheme) = &by.scheme {
        let provider = of_scheme(scheme, inquiry.provider)?;
        inquiry.provider = inquiry.provider.filter(|_| by.provider.is_some()).or(Some(provider));
    }
    if by.provider.is_some() || by.scheme.is_some() {
        inquiry.generic = None;
    }
    inquiry.scheme = by.scheme.as_deref();
    let params = with_given(&known.params, &by.params);
    inquiry.params = &params;
    let mut judgement = hookmitt_verify::judge(&inquiry);
    known.want_key(&judgement);
    if judgement.verdict == Verdict::Invalid {
        judgement.causes = hookmitt_verify::explain(&inquiry, &around.context(None)).kept_causes();
        judgement.causes.splice(0..0, rewritten(event.forwarded.as_ref()));
    }
    let evidence = hookmitt_verify::evidence(&inquiry, &judgement);
    Ok((judgement, evidence))
}

/// The provider whose scheme that is: the one that is known, where it has it.
fn of_scheme(id: &str, known: Option<&'static Provider>) -> Result<&'static Provider, EngineError> {
    let mut all = known.into_iter().chain(hookmitt_verify::providers());
    let found = all.find(|provider| provider.scheme(id).is_some());
    found.ok_or_else(|| EngineError::UnknownScheme(id.to_owned()))
}

/// The source's parameters, less those that were given another value for.
fn with_given(own: &[(String, String)], given: &[(String, String)]) -> Vec<(String, String)> {
    let kept = own.iter().filter(|(name, _)| given.iter().all(|(other, _)| other != name));
    kept.chain(given).cloned().collect()
}

/// The new verdict of an event. What was proved once stays so: a secret that was replaced, or that this process can't
/// read, is no proof against it. Where the signature holds, settings such as the tolerance count anew.
pub(crate) fn rejudged(known: &Known, event: &Event) -> Rejudged {
    let mut judgement = known.verdict_on(&event.request, &event.url, event.received_at);
    if judgement.verdict == Verdict::Invalid {
        judgement.causes.splice(0..0, rewritten(event.forwarded.as_ref()));
    }
    // Where an old verdict is kept, nothing new is known of the event: it keeps its dedupe key, or goes on without.
    let unproved = event.verdict == Verdict::Valid && judgement.secret_label.is_none();
    let is_kept = unproved || judgement.verdict == Verdict::NoSecret && event.verdict != Verdict::NoSecret;
    if is_kept {
        (judgement.verdict, judgement.causes) = (event.verdict, event.causes.clone());
    }
    let may_own = known.may_own(judgement.verdict, event.browser);
    let counts = !event.browser && event.via != Via::BackupSync;
    let single_use = judgement.single_use.as_ref().filter(|_| counts).map(|id| single_use(id, &event.sha256));
    let claim =
        |key: &DedupeKey, by_content| KeyClaim { hash: key_hash(key), may_own, by_content, single_use };
    let settles = event.parent.is_none() && !(is_kept && event.verdict == Verdict::Valid);
    let key = event.dedupe_key.as_ref().filter(|_| settles).and_then(|key| match key {
        DedupeKey::Id(_) => Some(claim(key, false)),
        // Means the same event for minutes only: none but an event that waited for its verdict settles it this late.
        DedupeKey::Content(_) => (event.verdict == Verdict::Pending).then(|| claim(key, true)),
    });
    let held = known.held_back(&judgement);
    let (id, was, verdict) = (event.id, event.verdict, judgement.verdict);
    let finds = known.finds_provider(verdict, event.via, event.browser);
    let provider = known.provider_of(&event.request).filter(|_| finds);
    let finds_provider = provider.map(|provider| provider.id.clone());
    Rejudged { id, was, verdict, causes: judgement.causes, key, held, finds_provider }
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
        let arrival = before.judge(signed).arrival;
        assert_eq!(arrival.verdict, Verdict::NoSecret);
        let value = Zeroizing::new(b"It's a Secret to Everybody".to_vec());
        engine.set_secret(before.source.slug.clone(), "default".to_owned(), value).await.unwrap();
        let id = engine.store(arrival, &before).await.unwrap().id; // its commit comes after that
        let judged = async {
            while engine.inbox.event(id).await.unwrap().verdict != Verdict::Valid {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), judged).await.expect("it is judged by the secret");
        engine.stop().await;
    }
}
