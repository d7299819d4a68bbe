//! The path of every captured request, whether from the capture port, a tunnel, a channel or a program: it is judged,
//! stored, followed up (announced, explained, delivered) and answered.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::Either;
use hookmitt_catch::{Refusal, RefusedHead, Reply, Share};
use hookmitt_event::{Answer, Explain as _, HeaderLines, Slug, Timestamp, Verdict, Via};
use hookmitt_inbox::{Copied, InboxError, ListedItem, NewEvent, Refused, Sequence, Stored};
use hookmitt_verify::{Provider, provider};

use super::{
    answers::{Answers, AskedBy},
    refusals::Refusals,
    senders::{HeldSender, Senders},
};
use crate::{
    Change, EngineError,
    base::Base,
    confirmation::Confirmation,
    delivery::Bells,
    judging::{Answered, Arrival, Judged, Pages},
    settings::{ConfiguredSource, Settings},
    tasks::SeenThrough,
    verdicts::Verdicts,
};

/// A body of at least this size, in bytes, is hashed with `block_in_place`, so that other senders' answers don't wait.
const LARGE: usize = 256 * 1024;

/// Takes requests in.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) base: Arc<Base>,
    pub(crate) settings: Arc<Settings>,
    verdicts: Arc<Verdicts>,
    confirmation: Arc<Confirmation>,
    bells: Arc<Bells>,
    pub(crate) senders: Arc<Senders>,
    pub(crate) answers: Answers,
    pub(crate) pages: Pages,
    refusals: Refusals,
}

/// An event that is committed and followed up.
pub(crate) struct Kept {
    pub(crate) stored: Stored,
    pub(crate) answered: Answered,
    /// What was stored of its sender's answer with the event: the status, and how long after the request.
    planned: Option<(u16, Duration)>,
    /// The waiting sender, if the local server may answer it.
    pub(crate) held: Option<HeldSender>,
}

/// An event's place in a sequence that is stored in order: the sequence, and the number of the run within it.
pub(crate) type Turn<'a> = Option<(&'a Sequence, u64)>;

impl Capture {
    pub(crate) fn new(
        settings: Arc<Settings>,
        verdicts: Arc<Verdicts>,
        confirmation: Arc<Confirmation>,
        bells: Arc<Bells>,
        senders: Arc<Senders>,
    ) -> Arc<Self> {
        let (base, pages) = (Arc::clone(&settings.base), Pages::new(Arc::clone(&settings)));
        let (answers, refusals) = (Answers::new(Arc::clone(&base)), Refusals::new(Arc::clone(&base)));
        Arc::new(Self { base, settings, verdicts, confirmation, bells, senders, answers, pages, refusals })
    }

    /// Judges a request by the settings and secrets of its source.
    pub(crate) fn judge(&self, known: &ConfiguredSource, arrival: Arrival) -> Judged {
        if arrival.request.body.len() < LARGE {
            return known.judge(arrival);
        }
        tokio::task::block_in_place(|| known.judge(arrival))
    }

    /// Hands a judged request to the writer. The returned future resolves after the commit; if it is dropped, the event
    /// is still stored and followed up. `room` is dropped once the request is stored or could not be.
    ///
    /// # Errors
    /// Fails if the event has a turn and the inbox fails before the writer gets the event.
    pub(crate) async fn store<R: Send + 'static>(
        self: &Arc<Self>,
        known: &Arc<ConfiguredSource>,
        judged: Judged,
        turn: Turn<'_>,
        room: R,
        asked_by: AskedBy,
    ) -> Result<SeenThrough<Result<Kept, InboxError>>, InboxError> {
        let Judged { mut event, answered } = judged;
        let came_in = matches!(event.via, Via::Direct | Via::Tunnel);
        let is_set_up = came_in && event.facts.handshake.is_some();
        let verdict = event.verdict;
        // Registered before the event is stored, so that no answer is missed.
        let held = if asked_by.is_held() { self.senders.hold(known, &answered, event.id) } else { None };
        let at_once = held.is_none() && !may_fail(known, &answered);
        let planned = at_once.then(|| planned(&known.source.answer, &answered, event.provider.is_some()));
        event.planned = asked_by.planned(planned, known.source.answer.delay());
        let committed = match turn {
            Some((order, run)) => Either::Left(self.base.inbox.store_in_turn(event, order, run).await?),
            None => {
                let inbox = self.base.inbox.clone();
                Either::Right(async move { inbox.store(event).await })
            }
        };
        let (this, known) = (Arc::clone(self), Arc::clone(known));
        Ok(self.base.tasks.see_through(async move {
            let stored = committed.await;
            drop(room);
            let stored = stored?;
            this.see_off(&stored, verdict, &known, held.is_some());
            if is_set_up {
                this.confirmation.confirm_by_itself(&known, stored.id);
            }
            let answered = if stored.turned_away { Answered::OtherBody } else { answered };
            let planned = planned.zip(stored.answered_after);
            Ok(Kept { stored, answered, planned, held })
        }))
    }

    /// Stores an event whose sender gets no answer: one that was made or imported here, or that came through a channel.
    pub(crate) async fn store_unanswered(
        self: &Arc<Self>,
        known: &Arc<ConfiguredSource>,
        event: NewEvent,
    ) -> Result<Stored, InboxError> {
        let judged = Judged { event, answered: Answered::Usual };
        let kept = self.store(known, judged, None, (), AskedBy::Nobody).await?.await?;
        Ok(kept.stored)
    }

    /// Stores a copy of an event that never came, unless it is here by now, together with what `listed`, a report and its
    /// item, says of it.
    pub(crate) async fn store_copy(
        &self,
        known: &ConfiguredSource,
        event: NewEvent,
        listed: (i64, ListedItem),
        above: i64,
    ) -> Result<Copied, InboxError> {
        let verdict = event.verdict;
        let copied = self.base.inbox.store_copy(listed.0, listed.1, event, above).await?;
        if let Copied::Stored(stored) = &copied {
            self.see_off(stored, verdict, known, false);
        }
        Ok(copied)
    }

    /// Follows up a commit: announces the event, has it explained and wakes the couriers. The event was judged by
    /// `known`. `is_held` says that its sender waits for the local server.
    fn see_off(&self, stored: &Stored, verdict: Verdict, known: &ConfiguredSource, is_held: bool) {
        self.base.announce(Change::Stored(stored.seq));
        // If a secret was set meanwhile, its pass over the stored events may have missed this one.
        let is_outdated = self.settings.source(&known.source.slug).is_ok_and(|now| !now.judges_like(known));
        match verdict {
            _ if is_outdated => self.verdicts.judge_again(stored.id, &known.source.slug),
            Verdict::Invalid => self.verdicts.explain_soon(stored.id),
            Verdict::Pending => self.verdicts.judge_once_its_key_is_here(stored.id),
            _ => {}
        }
        for target in &stored.waiting {
            if is_held {
                self.bells.hurry(*target, stored.id);
            } else {
                self.bells.wake(*target);
            }
        }
        if stored.set_provider {
            self.verdicts.provider_is_found(stored.id);
        }
    }

    /// Takes in a request that came to one of our ports, and returns the answer. `beside` holds the header lines that
    /// were added on its way.
    pub(crate) async fn take_in(
        self: &Arc<Self>,
        known: &Arc<ConfiguredSource>,
        arrival: Arrival,
        beside: Option<HeaderLines>,
        from: (RefusedHead, SocketAddr),
        share: Share,
    ) -> Reply {
        let (received_at, since) = (arrival.received_at, Instant::now());
        let size = arrival.request.body.len() as u64;
        let mut judged = self.judge(known, arrival);
        judged.event.forwarded = beside.filter(|lines| !lines.is_empty());
        let provider = judged.event.provider.as_deref().and_then(provider);
        let kept = match self.store(known, judged, None, share, AskedBy::Port(since)).await {
            Ok(committed) => committed.await,
            Err(error) => Err(error),
        };
        match kept {
            Err(error) => self.refuse(error.into(), from, size, received_at),
            Ok(kept) => {
                let (id, planned) = (kept.stored.id, kept.planned);
                let reply = self.answer(known, kept, provider).await;
                self.answers.given(id, planned, reply.status, since.elapsed() + reply.delay);
                reply
            }
        }
    }

    async fn answer(
        &self,
        known: &ConfiguredSource,
        kept: Kept,
        provider: Option<&'static Provider>,
    ) -> Reply {
        let id = kept.stored.id.to_string();
        let limit = self.senders.at_the_port();
        let mut reply = match self.local_answer(kept.held, &kept.stored, limit).await {
            Some(reply) => return reply,
            None => self.special_answer(known, &kept.answered).await,
        }
        .unwrap_or_else(|| usual(&known.source.answer, &id, provider));
        reply.headers.push(("x-hookmitt-event-id".to_owned(), id.into_bytes()));
        reply.delay = known.source.answer.delay();
        reply
    }

    /// Returns what the local server answers within `limit`, if it may answer this sender.
    pub(crate) async fn local_answer(
        &self,
        held: Option<HeldSender>,
        stored: &Stored,
        limit: Duration,
    ) -> Option<Reply> {
        self.senders.local_answer(held?, stored, limit).await
    }

    /// Returns the answer if it differs from the one that the source's settings give to every event.
    pub(crate) async fn special_answer(
        &self,
        known: &ConfiguredSource,
        answered: &Answered,
    ) -> Option<Reply> {
        if may_fail(known, answered) && self.takes_failure(&known.source.slug).await {
            return Some(Reply::problem(500, "told-to-fail", "this source is set to fail", "try again"));
        }
        answered.reply()
    }

    async fn takes_failure(&self, slug: &Slug) -> bool {
        let taken = self.base.inbox.take_failure(slug.clone()).await.unwrap_or(false);
        if let Err(error) = self.settings.reload().await {
            tracing::warn!(%error, "the settings could not be reloaded");
        }
        taken
    }

    /// Returns the refused requests that are not stored yet, newest first.
    pub(crate) fn unwritten_refusals(&self) -> Vec<Refused> {
        self.refusals.unwritten()
    }

    /// Returns how many requests were refused since the start, by code.
    pub(crate) fn refusal_counts(&self) -> BTreeMap<&'static str, u64> {
        self.refusals.counts()
    }

    /// Stores refused requests in the background.
    pub(crate) fn keep_refusals(&self) {
        self.refusals.keep_writing();
    }

    /// Records and announces that a request was refused.
    pub(crate) fn note_refusal(&self, refusal: Refusal) {
        self.refusals.note(refusal);
    }

    /// Records that a request was not stored, and returns the answer; never a 2xx (promise 1).
    pub(crate) fn refuse(
        &self,
        error: EngineError,
        (head, remote): (RefusedHead, SocketAddr),
        size: u64,
        at: Timestamp,
    ) -> Reply {
        let status = match &error {
            EngineError::Inbox(InboxError::UnknownSource(_) | InboxError::TooManySources(_)) => 404,
            _ => 503,
        };
        let (code, message) = (error.code(), error.to_string());
        let hint = error.hint().unwrap_or_else(|| "try again in a moment".to_owned());
        self.note_refusal(Refusal {
            at,
            remote,
            head: Some(head),
            size: Some(size),
            status,
            code,
            message: message.clone(),
        });
        Reply::problem(status, code, &message, &hint)
    }
}

/// Whether the source was told to fail some requests, and this may be one of them.
fn may_fail(known: &ConfiguredSource, answered: &Answered) -> bool {
    let set_aside = matches!(answered, Answered::Rejected(_) | Answered::OtherBody);
    !set_aside && known.source.answer.fail_next > 0
}

/// Returns the status of an answer that waits for nobody.
fn planned(settings: &Answer, answered: &Answered, known_provider: bool) -> u16 {
    answered.reply().map_or_else(|| usual_status(settings, known_provider), |reply| reply.status)
}

fn usual_status(settings: &Answer, known_provider: bool) -> u16 {
    settings.status.unwrap_or(if known_provider { 200 } else { 202 })
}

/// Returns the answer that a source's settings ask for, with defaults for what they leave open.
fn usual(settings: &Answer, id: &str, provider: Option<&Provider>) -> Reply {
    let status = usual_status(settings, provider.is_some());
    let mut reply = match &settings.body {
        Some(body) => Reply::json(status, body.clone()),
        None if provider.is_some_and(|provider| provider.empty_answer) => Reply::json(status, String::new()),
        None => Reply::json(status, format!(r#"{{"received":true,"id":"{id}"}}"#)),
    };
    if settings.headers.has("content-type") || reply.body.is_empty() {
        reply.headers.clear();
    }
    let set = settings.headers.iter().map(|line| (line.name.to_owned(), line.value.to_vec()));
    reply.headers.extend(set);
    reply
}
