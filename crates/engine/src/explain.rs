//! Verdicts explained: on demand, and for new events that are invalid after they are stored, one at a time.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::{Duration, Instant},
};

use hookmitt_event::{Cause, CauseState, Event, EventId, ExplainedCause, Explanation, Request, Verdict};
use hookmitt_verify::{Context, Secret, explain};
use tokio::sync::Notify;

use crate::{Change, Engine, EngineError, config::Known, tunnels::rewritten, urls};

/// What waits to be explained. What waits too long is explained when somebody looks.
#[derive(Debug, Default)]
pub(crate) struct Explaining {
    waiting: Mutex<VecDeque<EventId>>,
    bell: Notify,
}

/// How many may wait: a flood of forgeries is not worth the work.
const MOST: usize = 256;
/// The rest after each, at least: what is explained must never hold up what is caught.
const REST: Duration = Duration::from_millis(20);

impl Explaining {
    pub(crate) fn add(&self, id: EventId) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() == MOST {
            waiting.pop_front();
        }
        waiting.push_back(id);
        self.bell.notify_one();
    }

    /// The newest first: that is the one that somebody looks at.
    fn take(&self) -> Option<EventId> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_back()
    }

    async fn next(&self) -> EventId {
        loop {
            let rung = self.bell.notified();
            if let Some(id) = self.take() {
                return id;
            }
            rung.await;
        }
    }
}

/// What may have to do with an event.
pub(crate) struct Surroundings {
    secrets: Vec<Secret>,
    requests: Vec<Request>,
    urls: Vec<String>,
    url_note: &'static str,
}

impl Surroundings {
    pub(crate) fn context<'a>(&'a self, chosen: Option<&'a str>) -> Context<'a> {
        Context {
            secrets: &self.secrets,
            requests: &self.requests,
            urls: &self.urls,
            url_note: self.url_note,
            chosen,
            ..Context::default()
        }
    }
}

impl Engine {
    /// Why an event's verdict is what it is, with its source's secrets as they are now. `secret` names the one whose
    /// signature is shown as the expected one.
    ///
    /// # Errors
    /// An unknown event; a secret that its source doesn't have.
    pub async fn explanation(&self, id: EventId, secret: Option<String>) -> Result<Explanation, EngineError> {
        let event = self.inbox.event(id).await?;
        let known = self.known(&event.source)?;
        if let Some(label) = &secret
            && !known.secrets.iter().any(|held| held.label == *label)
        {
            return Err(EngineError::BadInput(format!("{} has no secret {label:?}", event.source)));
        }
        let around = self.surroundings(&event).await?;
        let task = tokio::task::spawn_blocking(move || explained(&known, &event, &around, secret.as_deref()));
        task.await.map_err(|_| EngineError::Stopping)
    }

    /// What may have to do with an event.
    pub(crate) async fn surroundings(&self, event: &Event) -> Result<Surroundings, EngineError> {
        let config = self.config();
        let others = config.sources.values().filter(|known| known.source.slug != event.source);
        let secrets = others.flat_map(|known| {
            known.secrets.iter().cloned().map(|mut secret| {
                secret.label = format!("{}/{}", known.source.slug, secret.label);
                secret
            })
        });
        let secrets = secrets.collect();
        let requests = self.inbox.nearby(event.id).await?;
        let public_url =
            config.sources.get(event.source.as_str()).and_then(|known| known.source.public_url.as_deref());
        let url_note = urls::who_says(event, public_url);
        Ok(Surroundings { secrets, requests, urls: urls::called(event, &self.capture_urls()), url_note })
    }

    /// Explains, until the stop, what is found invalid.
    pub(crate) fn explain_invalid(self: &Arc<Self>) {
        let (engine, stop) = (Arc::downgrade(self), self.stop.clone());
        let explaining = Arc::clone(&self.explaining);
        self.keep_going("explaining what is invalid", move || {
            let (engine, stop, explaining) = (engine.clone(), stop.clone(), Arc::clone(&explaining));
            async move {
                let _stopped = stop.run_until_cancelled(explain_all(&engine, &explaining)).await;
            }
        });
    }
}

async fn explain_all(engine: &Weak<Engine>, explaining: &Explaining) {
    loop {
        let id = explaining.next().await;
        let began = Instant::now();
        if let Err(error) = explain_one(engine, id).await {
            tracing::warn!(%error, "an invalid event could not be explained");
        }
        tokio::time::sleep(began.elapsed().max(REST)).await;
    }
}

async fn explain_one(engine: &Weak<Engine>, id: EventId) -> Result<(), EngineError> {
    let Some(engine) = engine.upgrade() else { return Ok(()) };
    let (explanation, stored) = loop {
        let config = engine.config();
        let explanation = engine.explanation(id, None).await?;
        let stored = engine.inbox.event(id).await?;
        // What was found by settings that are others now would be written over what those said.
        if Arc::ptr_eq(&config, &engine.config()) {
            break (explanation, stored);
        }
    };
    if explanation.verdict != Verdict::Invalid {
        return Ok(()); // judged anew meanwhile
    }
    let causes = explanation.kept_causes();
    if stored.causes != causes && engine.inbox.set_causes(id, Verdict::Invalid, causes).await? {
        engine.live.announce(Change::Event(id));
    }
    Ok(())
}

fn explained(known: &Known, event: &Event, around: &Surroundings, chosen: Option<&str>) -> Explanation {
    let began = Instant::now();
    let inquiry = known.inquiry(&event.request, &event.url, event.received_at);
    let mut explanation = explain(&inquiry, &around.context(chosen));
    let fits = explanation.secrets.iter().any(|secret| secret.fits);
    let own = known.own_causes(&event.request, explanation.verdict, fits);
    explanation.causes.extend(own.into_iter().map(likely));
    if explanation.verdict == Verdict::Invalid {
        explanation.causes.splice(0..0, rewritten(event.forwarded.as_ref()).map(likely));
    }
    explanation.took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    explanation
}

fn likely(cause: Cause) -> ExplainedCause {
    ExplainedCause {
        title: cause.title.unwrap_or_else(|| cause.code.replace('_', " ")),
        state: CauseState::Likely,
        evidence: String::new(),
        code: cause.code,
        message: cause.message,
        fix: cause.fix,
    }
}
